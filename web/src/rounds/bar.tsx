/** The progress of an adaptive study: a band for each round, its runs by state, and the rounds that run now. */
import { useDeferredValue, useMemo, useRef } from 'react';
import type { BatchStatusResponse } from '../../../src/contract/types.ts';
import type { RunTable } from '../data/run-table.ts';
import { useTableVersion } from '../data/use-batch.ts';
import { Failure } from '../parts/common.tsx';
import { endedOf } from '../parts/progress.ts';
import { BAR_ORDER, StatusBar } from '../parts/status.tsx';
import { count } from '../parts/time.tsx';
import { hrefOf } from '../router.ts';
import { bandsOf, nameOf, whereOfRounds, type Band } from './bands.ts';
import { useEdges } from './use-edges.ts';

/** The most bands that have their names below them. */
const NAMED = 12;

/** More bands than this have no gaps, so that a phone has room for them. */
const DENSE = 100;

interface Props {
  progress: BatchStatusResponse;
  table: RunTable;
  isOk: boolean;
}

export function RoundBar({ progress, table, isOk }: Props) {
  const { batch } = progress;
  const { rounds = 0 } = batch;
  const { edges, step, error } = useEdges(batch);
  const version = useDeferredValue(useTableVersion(table));
  const bands = useMemo(() => bandsOf(edges, table.status, rounds, step), [edges, rounds, step, table, version]);
  // Before the states of the runs were read once, only the sums of the whole study are known.
  const wasRead = useRef(false);
  wasRead.current ||= table.isLoaded;
  const isNamed = bands.length <= NAMED;
  return (
    <div className="rounds">
      <Failure what="The rounds could not be read." detail={error} />
      {wasRead.current && edges.length > 0 ? (
        <div
          className={`round-bar${isOk ? ' ok' : ''}${bands.length > DENSE ? ' dense' : ''}`}
          role="group"
          aria-label="Runs by round and state"
        >
          {bands.map((it) => (
            <a
              key={it.from}
              className={isNow(it) ? 'band now' : 'band'}
              href={hrefOf(['batches', batch.id, 'runs'], { where: whereOfRounds(it) })}
              style={{ flexGrow: it.runs }}
              title={titleOf(it)}
              aria-label={`${titleOf(it)}: show these runs`}
            >
              <span className="fill">
                {BAR_ORDER.filter((status) => it.counts[status] > 0).map((status) => (
                  <i key={status} className={`s-${status}`} style={{ flexGrow: it.counts[status] }} />
                ))}
              </span>
              {isNamed && <span className="name clip">{it.key ?? it.from}</span>}
            </a>
          ))}
        </div>
      ) : (
        <StatusBar batchId={batch.id} counts={progress.jobs_by_status} isOk={isOk} large />
      )}
      <div className="row spread small soft">
        <span>{sentenceOf(wasRead.current ? bands : [], rounds)}</span>
        <span>
          {count(endedOf(progress))} of {count(batch.total_jobs)} runs ended; budget {count(batch.budget ?? 0)}
          {batch.closed === true && ', closed'}
        </span>
      </div>
    </div>
  );
}

/** True for rounds with runs that runners have. */
const isNow = ({ counts }: Band): boolean => counts.Claimed + counts.Running > 0;

const titleOf = (it: Band): string =>
  `${nameOf(it)}: ${BAR_ORDER.filter((status) => it.counts[status] > 0)
    .map((status) => `${count(it.counts[status])} ${status}`)
    .join(', ')}`;

/** The number of rounds, and how far those are that run now. */
function sentenceOf(bands: readonly Band[], rounds: number): string {
  if (rounds === 0) return 'No round was appended yet';
  const total = rounds === 1 ? '1 round' : `${count(rounds)} rounds`;
  const open = bands.filter(({ isOpen }) => isOpen);
  const [first] = open;
  if (first === undefined) return bands.length === 0 ? total : `${total}, all ended`;
  const it = open.find(isNow) ?? first;
  const left = it.counts.Pending + it.counts.Claimed + it.counts.Running;
  const ended = `${count(it.runs - left)} of ${count(it.runs)} runs ended`;
  return `${total}. ${nameOf(it)} ${isNow(it) ? 'now' : 'next'}: ${ended}${open.length === 1 ? '' : '; other rounds have open runs too'}`;
}

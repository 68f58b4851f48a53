/** The table of studies: verdict, failures, progress and end of each. */
import { useState } from 'react';
import type { Batch, BatchStatusResponse, Finding } from '../../../src/contract/types.ts';
import { post, useRequest } from '../data/api.ts';
import { useRefresh, useStudyVersion } from '../data/use-refresh.ts';
import { Act, Failure } from '../parts/common.tsx';
import { State, StatusBar } from '../parts/status.tsx';
import { clock, count, duration, minutes, rate, Time } from '../parts/time.tsx';
import { GRAVEST_FIRST } from '../plots/requirement-plot.ts';
import { changeQuery, hrefOf } from '../router.ts';
import { endedOf, isOpen, percent, shareOf, stateOf } from '../parts/progress.ts';
import { WaitingSince } from '../rounds/waiting.tsx';
import { CancelBatch } from '../study/cancel-study.tsx';
import { TickedBar } from './ticked-bar.tsx';
import { verdictWord } from '../../../src/analysis/requirements/sentence.ts';

/** Rows whose verdicts and findings are read: more are not on a screen. */
const READ = 40;

type Key = 'name' | 'owner' | 'state' | 'failed' | 'progress' | 'ended' | 'submitted';

const COLUMNS: readonly { key?: Key; name: string; right?: boolean; hidden?: boolean }[] = [
  { key: 'name', name: 'Study' },
  { key: 'owner', name: 'Owner' },
  { key: 'state', name: 'State' },
  { name: 'Verdict' },
  { key: 'progress', name: 'Runs' },
  { key: 'failed', name: 'Failed', right: true },
  { key: 'ended', name: 'Ends, took', right: true },
  { key: 'submitted', name: 'Submitted' },
  { name: 'Actions', hidden: true },
];

const failedShare = (it: BatchStatusResponse): number => {
  const ended = endedOf(it);
  return ended === 0 ? 0 : (it.jobs_by_status.Failed + it.jobs_by_status.Timeout) / ended;
};

const VALUES: Readonly<Record<Key, (it: BatchStatusResponse) => string | number>> = {
  name: ({ batch }) => batch.name.toLowerCase(),
  owner: ({ batch }) => batch.owner?.toLowerCase() ?? '',
  state: ({ batch }) => stateOf(batch),
  failed: failedShare,
  progress: shareOf,
  ended: ({ batch }) => (batch.ended_at === undefined ? Infinity : Date.parse(batch.ended_at)),
  submitted: ({ batch }) => Date.parse(batch.created_at),
};

/** The studies in the order of a column, `-` before it: descending; newest first without one. */
export function sorted(studies: readonly BatchStatusResponse[], sort: string): readonly BatchStatusResponse[] {
  const key = sort.replace(/^-/, '') as Key;
  if (!Object.hasOwn(VALUES, key)) return studies;
  const sign = sort.startsWith('-') ? -1 : 1;
  const of = VALUES[key];
  return [...studies].sort((a, b) => {
    const [x, y] = [of(a), of(b)];
    return x === y ? 0 : x < y ? -sign : sign;
  });
}

export function StudyTable({ studies, sort }: { studies: readonly BatchStatusResponse[]; sort: string }) {
  const [asked, setAsked] = useState<Batch>();
  const [failure, setFailure] = useState<string>();
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const tick = (id: string): void => {
    const next = new Set(ticked);
    if (!next.delete(id)) next.add(id);
    setTicked(next);
  };
  const hasOwners = studies.some(({ batch }) => batch.owner !== undefined);
  const cancel = (batch: Batch, reason: string | undefined): void => {
    setFailure(undefined);
    post(`/batches/${batch.id}/cancel`, JSON.stringify(reason === undefined ? {} : { reason })).catch((error: Error) =>
      setFailure(error.message),
    );
  };
  return (
    <>
      <Failure what="The study was not cancelled." detail={failure} />
      <TickedBar
        studies={studies.map(({ batch }) => batch).filter(({ id }) => ticked.has(id))}
        onClear={() => setTicked(new Set())}
      />
      <div className="scroll" tabIndex={0} role="region" aria-label="Table of studies">
        <table className="cards">
          <thead>
            <tr>
              {COLUMNS.filter(({ key }) => key !== 'owner' || hasOwners).map((it) => (
                <Heading key={it.name} column={it} sort={sort} />
              ))}
            </tr>
          </thead>
          <tbody>
            {studies.map((it, at) => (
              <StudyRow
                key={it.batch.id}
                progress={it}
                isRead={at < READ}
                hasOwners={hasOwners}
                isTicked={ticked.has(it.batch.id)}
                onTick={tick}
                onCancel={setAsked}
              />
            ))}
          </tbody>
        </table>
      </div>
      {asked !== undefined && (
        <CancelBatch batch={asked} onAnswer={(reason) => cancel(asked, reason)} onClose={() => setAsked(undefined)} />
      )}
    </>
  );
}

function Heading({ column, sort }: { column: (typeof COLUMNS)[number]; sort: string }) {
  const { key, name, right = false, hidden = false } = column;
  if (hidden) {
    return (
      <th>
        <span className="visually-hidden">{name}</span>
      </th>
    );
  }
  const isSorted = key !== undefined && sort.replace(/^-/, '') === key;
  const isDown = isSorted && sort.startsWith('-');
  return (
    <th
      className={right ? 'right' : undefined}
      aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : undefined}
    >
      {key === undefined ? (
        name
      ) : (
        <button
          type="button"
          className="quiet sort"
          onClick={() => changeQuery({ sort: isSorted ? (isDown ? undefined : `-${key}`) : key })}
        >
          {name} {isSorted && <span aria-hidden="true">{isDown ? '▼' : '▲'}</span>}
        </button>
      )}
    </th>
  );
}

interface RowProps {
  progress: BatchStatusResponse;
  isRead: boolean;
  /** True when any study of the table has an owner. */
  hasOwners: boolean;
  isTicked: boolean;
  onTick: (batchId: string) => void;
  onCancel: (batch: Batch) => void;
}

function StudyRow({ progress, isRead, hasOwners, isTicked, onTick, onCancel }: RowProps) {
  const { batch, jobs_by_status: counts } = progress;
  const isActive = isOpen(batch);
  const failed = counts.Failed + counts.Timeout;
  return (
    <tr>
      <td className="study-name">
        <div className="row">
          <input
            type="checkbox"
            aria-label={`Tick ${batch.name} to compare it`}
            checked={isTicked}
            onChange={() => onTick(batch.id)}
          />
          <a href={hrefOf(['batches', batch.id])}>
            <strong>{batch.name === '' ? '(no name)' : batch.name}</strong>
          </a>
        </div>
        <div className="row small">
          <span className="soft mono">{batch.id.slice(0, 13)}</span>
          {Object.entries(batch.labels ?? {}).map(([key, value]) => (
            <a key={key} href={hrefOf(['batches'], { label: `${key}=${value}` })}>
              {key}={value}
            </a>
          ))}
        </div>
      </td>
      {hasOwners && <td data-label="Owner">{batch.owner ?? <span className="soft">–</span>}</td>}
      <td data-label="State">
        <State status={stateOf(batch)} />
        {batch.waiting_for_rows === true && (
          <div className="small">
            <WaitingSince batch={batch} />
          </div>
        )}
        {isRead && isActive && <Findings batch={batch} />}
      </td>
      <td data-label="Verdict">{isRead && <Verdict progress={progress} />}</td>
      <td className="wide">
        <StatusBar batchId={batch.id} counts={counts} />
        <div className="small soft nowrap">
          {count(endedOf(progress))} of {count(batch.total_jobs)} (
          {batch.budget === undefined ? percent(shareOf(progress)) : `budget ${count(batch.budget)}`})
          {batch.reused_jobs !== undefined && `, ${count(batch.reused_jobs)} reused`}
          {isActive && progress.throughput_jobs_per_minute > 0 && `, ${rate(progress.throughput_jobs_per_minute)}`}
        </div>
      </td>
      <td className="right nowrap" data-label="Failed">
        {failed === 0 ? (
          <span className="soft">0</span>
        ) : (
          <a className="bad" href={hrefOf(['batches', batch.id, 'runs'], { status: 'Failed,Timeout' })}>
            {percent(failedShare(progress))}
            <div className="small">{count(failed)} runs</div>
          </a>
        )}
      </td>
      <td className="right nowrap" data-label="Ends, took">
        <Ends progress={progress} />
      </td>
      <td data-label="Submitted">
        <Time at={batch.created_at} />
      </td>
      <td className="right">
        {isActive && (
          <Act className="quiet danger" onClick={() => onCancel(batch)}>
            Cancel<span className="visually-hidden"> {batch.name}</span>
          </Act>
        )}
      </td>
    </tr>
  );
}

function Ends({ progress: { batch, estimated_completion_time_mins: mins } }: { progress: BatchStatusResponse }) {
  if (isOpen(batch))
    return mins === undefined || batch.waiting_for_rows === true ? (
      <span className="soft">–</span>
    ) : (
      <>in {minutes(mins)}</>
    );
  const { started_at: from, ended_at: to } = batch;
  if (to === undefined) return <span className="soft">–</span>;
  return (
    <>
      {clock(Date.parse(to))}
      <div className="small soft">
        {from === undefined ? 'never started' : `took ${duration(Date.parse(to) - Date.parse(from))}`}
      </div>
    </>
  );
}

/** How grave findings are that a row shows. */
const GRAVE: readonly Finding['severity'][] = ['doubtful', 'blocked', 'warning'];

function Findings({ batch }: { batch: Batch }) {
  const round = useRefresh(true);
  const { data = [] } = useRequest<Finding[]>(`/batches/${batch.id}/findings`, round);
  const grave = data.filter((it) => GRAVE.includes(it.severity));
  const first = grave[0];
  if (first === undefined) return null;
  return (
    <a
      className={first.severity === 'warning' ? 'pill warn' : 'pill bad-pill'}
      href={hrefOf(['batches', batch.id])}
      title={grave.map((it) => it.message).join('\n')}
    >
      {first.severity === 'blocked' ? 'blocked' : `${grave.length} finding${grave.length === 1 ? '' : 's'}`}
    </a>
  );
}

function Verdict({ progress: { batch } }: { progress: BatchStatusResponse }) {
  const { data } = useRequest<BatchStatusResponse>(`/batches/${batch.id}`, useStudyVersion(batch));
  const requirements = data?.requirements ?? [];
  const worst = GRAVEST_FIRST.find((verdict) => requirements.some((it) => it.verdict === verdict));
  if (worst === undefined) return <span className="soft">–</span>;
  const some = requirements.filter((it) => it.verdict === worst);
  return (
    <span className={`pill v-${worst}`} title={requirements.map((it) => it.sentence).join('\n')}>
      <span className="word">{verdictWord(worst)}</span>
      {requirements.length > 1 && ` ${some.length} of ${requirements.length}`}
    </span>
  );
}

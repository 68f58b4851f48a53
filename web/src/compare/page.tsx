/** Two studies compared: what changed in the configuration, which runs flipped, how the outputs moved. */
import './compare.css';
import { lazy, Suspense } from 'react';
import type { Batch, StudyComparison } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { useRequest } from '../data/api.ts';
import { useAnswer } from '../data/use-answer.ts';
import { useBatch, type BatchView } from '../data/use-batch.ts';
import { Empty, Failure, Panel, Waiting } from '../parts/common.tsx';
import { Stat } from '../parts/stat.tsx';
import { Table } from '../parts/table.tsx';
import { brief, count } from '../parts/time.tsx';
import { changeQuery, hrefOf } from '../router.ts';
import { ComparedHistories } from './histories.tsx';
import { PairedOutputs, UnpairedOutputs, type Paired, type Unpaired } from './outputs.tsx';
import type { Side } from './side.ts';
import { ComparedVerdicts } from './verdicts.tsx';

// The library of its plots is read with them.
const ComparedPlots = lazy(() => import('./plots.tsx'));

interface PageProps extends Side {
  query: URLSearchParams;
}

/** This study is the one before; the other one is after. */
export function Compare({ progress, submission, table, query }: PageProps) {
  const { batch } = progress;
  const listed = useRequest<Batch[]>('/batches');
  const others = (listed.data ?? []).filter((it) => it.id !== batch.id).toReversed();
  const asked = query.get('with') ?? '';
  const failing = query.get('failing') ?? '';
  const related = others.filter((it) => it.parent?.batch_id === batch.id || batch.parent?.batch_id === it.id);
  const other = others.find((it) => it.id === asked);
  return (
    <>
      <section className="panel" aria-label="Choice of the other study">
        <header>
          <label className="row grow">
            <span>
              Compare <strong>{batch.name}</strong> (before) with
            </span>
            <select value={asked} onChange={(event) => changeQuery({ with: event.target.value })}>
              <option value="">a study …</option>
              {[...new Set([...related, ...others])].map((it) => (
                <option key={it.id} value={it.id}>
                  {it.name} ({it.id.slice(0, 13)})
                </option>
              ))}
            </select>
            <span>(after)</span>
          </label>
          <label className="row small">
            A run fails when
            <input
              aria-label="Condition of failure"
              placeholder="it failed"
              defaultValue={failing}
              key={failing}
              onBlur={(event) => changeQuery({ failing: event.target.value.trim() })}
              onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
            />
          </label>
        </header>
        {asked === '' && (
          <Empty title="Choose the study to compare with.">
            <p>
              Studies with the same runs, as after a rerun with another version, are compared run by run: small changes
              show in few runs. Others are compared as distributions.
            </p>
          </Empty>
        )}
      </section>
      {asked !== '' && (
        <Comparison
          key={asked}
          before={{ progress, submission, table }}
          other={other}
          asked={asked}
          failing={failing}
          query={query}
        />
      )}
    </>
  );
}

interface ComparisonProps {
  before: Side;
  other: Batch | undefined;
  asked: string;
  failing: string;
  query: URLSearchParams;
}

function Comparison({ before, other, asked, failing, query }: ComparisonProps) {
  const parameters = new URLSearchParams({ with: asked, ...(failing === '' ? {} : { failing }) });
  const { data, error } = useAnswer<StudyComparison>(before.progress, `compare?${parameters}`);
  const after = useBatch(asked, 'values');
  if (error !== undefined) return <Failure what="The studies could not be compared." detail={error.message} />;
  if (data === undefined) return <Waiting what="Comparing the studies" />;
  return (
    <>
      <section className="panel" aria-label="Comparison">
        <div className="body stack tight">
          <p>
            <strong>{data.sentence}</strong>
          </p>
          {data.warnings.map((it) => (
            <p key={it.code} className="small soft">
              {it.message}
            </p>
          ))}
        </div>
      </section>
      {after.progress !== undefined && <ComparedVerdicts before={before.progress} after={after.progress} />}
      {data.paired ? (
        <Flips data={data} before={before.progress.batch.id} after={other?.id ?? asked} />
      ) : (
        <Passing data={data} />
      )}
      {isRead(after) && (
        <Suspense fallback={<Waiting />}>
          <ComparedPlots data={data} before={before} after={after} query={query} />
        </Suspense>
      )}
      {data.paired ? <PairedOutputs data={data} after={asked} /> : <UnpairedOutputs data={data} />}
      {other !== undefined && (
        <ComparedHistories names={data.histories} before={before.progress} after={{ batch: other }} />
      )}
      <Changes data={data} />
    </>
  );
}

/** True once the study, its submission and the list of its runs are there. */
const isRead = (it: BatchView): it is BatchView & Side =>
  it.progress !== undefined && it.submission !== undefined && it.table !== undefined;

function Flips({
  data: { flips, pairs, identical_runs: identical },
  before,
  after,
}: {
  data: Paired;
  before: string;
  after: string;
}) {
  const all = flips.passed_both + flips.failed_both + flips.broke.length + flips.mended.length;
  return (
    <>
      <dl className="stats">
        <Stat name="Runs in both" value={count(pairs)} />
        <Stat name="Identical to the bit" value={count(identical)} />
        <Stat name="Broke" value={count(flips.broke.length)} note=" passed before, not after" />
        <Stat name="Mended" value={count(flips.mended.length)} note=" passed after, not before" />
        <Stat name="Passed in both" value={count(flips.passed_both)} note={` of ${count(all)}`} />
        <Stat name="McNemar's p" value={brief(flips.mcnemar_p)} note=" chance alone would give so many" />
      </dl>
      {flips.broke.length + flips.mended.length > 0 && (
        <Panel title="Runs whose outcome changed">
          <div className="stack tight">
            <RunLinks label="Broke" runs={flips.broke} before={before} after={after} />
            <RunLinks label="Mended" runs={flips.mended} before={before} after={after} />
          </div>
        </Panel>
      )}
    </>
  );
}

const LINKS = 40;

function RunLinks({
  label,
  runs,
  before,
  after,
}: {
  label: string;
  runs: readonly number[];
  before: string;
  after: string;
}) {
  if (runs.length === 0) return null;
  return (
    <p className="inline">
      <strong>{label}</strong> (before, after):{' '}
      {runs.slice(0, LINKS).map((run) => (
        <span key={run} className="nowrap">
          <a href={hrefOf(['jobs', jobId(before, run)])}>#{run}</a>{' '}
          <a href={hrefOf(['jobs', jobId(after, run)])}>→</a>{' '}
        </span>
      ))}
      {runs.length > LINKS && <span className="soft">and {count(runs.length - LINKS)} more</span>}
    </p>
  );
}

function Passing({ data: { passing } }: { data: Unpaired }) {
  if (passing === null) return null;
  const [low, high] = passing.newcombe;
  return (
    <dl className="stats">
      <Stat name="Passing before" value={`${Number((100 * passing.before).toPrecision(3))} %`} />
      <Stat name="Passing after" value={`${Number((100 * passing.after).toPrecision(3))} %`} />
      <Stat
        name="Difference"
        value={`${brief(100 * passing.difference)} points`}
        note={` 95 %: ${brief(100 * low)} to ${brief(100 * high)}`}
      />
    </dl>
  );
}

function Changes({ data }: { data: StudyComparison }) {
  const { configuration_changes: changes, configuration_changes_omitted: omitted } = data;
  const text = (value: unknown): string =>
    value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
  return (
    <Panel
      title={`Configuration: ${changes.length + omitted} change${changes.length + omitted === 1 ? '' : 's'}`}
      flush
    >
      {changes.length === 0 ? (
        <Empty title="The configurations are the same." />
      ) : (
        <Table label="Changes of the configuration" columns={['Member', 'Before', 'After']}>
          {changes.slice(0, 100).map((it) => (
            <tr key={it.pointer}>
              <td className="mono">{it.pointer}</td>
              <td className="message mono">{text(it.before)}</td>
              <td className="message mono">{text(it.after)}</td>
            </tr>
          ))}
        </Table>
      )}
      {changes.length + omitted > 100 && <p className="table-note small soft">The first 100 are listed.</p>}
    </Panel>
  );
}

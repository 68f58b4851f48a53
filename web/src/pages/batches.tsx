/** The list of studies: outcome, rate and remaining time of each. */
import { useMemo, useState } from 'react';
import { BATCH_STATUSES } from '../../../src/contract/enums.ts';
import type { Batch, BatchesData, BatchStatusResponse, DataMessage } from '../../../src/contract/types.ts';
import { post, useRequest } from '../data/api.ts';
import { useTopic } from '../data/live.ts';
import { Ask, Command, Empty, Failure, Waiting } from '../parts/common.tsx';
import { State, StatusBar } from '../parts/status.tsx';
import { ACTIONS, StatusFilter, Table } from '../parts/table.tsx';
import { count, minutes, rate, Time } from '../parts/time.tsx';
import { changeQuery, hrefOf } from '../router.ts';

/** Undefined: deleted after this page was opened. */
type Progress = Map<string, BatchStatusResponse | undefined>;

function merge(before: Progress | undefined, { data }: DataMessage<BatchesData>): Progress {
  const next = new Map(before);
  const { batches, deleted = [] } = data;
  for (const it of batches) next.set(it.batch.id, it);
  for (const id of deleted) next.set(id, undefined);
  return next;
}

/** The counters of a study without a message from the feed. */
function asListed(batch: Batch): BatchStatusResponse {
  const { completed_jobs: Completed, failed_jobs: Failed, total_jobs, status } = batch;
  const rest = total_jobs - Completed - Failed;
  const over = status !== 'Pending' && status !== 'Running';
  const counts = {
    Pending: over ? 0 : rest,
    Claimed: 0,
    Running: 0,
    Completed,
    Failed,
    Timeout: 0,
    Cancelled: over ? rest : 0,
  };
  return { batch, jobs_by_status: counts, throughput_jobs_per_minute: 0 };
}

const SHOWN_AT_ONCE = 200;

/** True when the study has the label, written `key=value`. */
const hasLabel = ({ labels = {} }: Batch, label: string): boolean =>
  Object.entries(labels).some(([key, value]) => `${key}=${value}` === label);

export function BatchesPage({ query }: { query: URLSearchParams }) {
  const listed = useRequest<Batch[]>('/batches');
  const live = useTopic('batches', merge);
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const search = query.get('search') ?? '';
  const status = query.get('status') ?? '';
  const label = query.get('label') ?? '';
  const all = useMemo(() => {
    const known = new Map((listed.data ?? []).map((it) => [it.id, asListed(it)]));
    for (const [id, it] of live.data ?? []) {
      if (it === undefined) known.delete(id);
      else known.set(id, it);
    }
    // Newest first: ids sort in the order of creation.
    return [...known.values()].sort((a, b) => (a.batch.id < b.batch.id ? 1 : -1));
  }, [listed.data, live.data]);
  const wanted = all.filter(
    ({ batch }) =>
      (status === '' || batch.status === status) &&
      (label === '' || hasLabel(batch, label)) &&
      (search === '' || batch.name.toLowerCase().includes(search.toLowerCase()) || batch.id.startsWith(search)),
  );
  return (
    <>
      <div className="head">
        <h1 className="grow">Batches</h1>
        <a className="button primary" href={hrefOf(['submit'])}>
          Submit a study
        </a>
      </div>
      <Failure what="The batches could not be read." detail={listed.error?.message} />
      <section className="panel" aria-label="Batches">
        <header>
          <label className="grow row">
            <span className="visually-hidden">Search by name or id</span>
            <input
              type="search"
              placeholder="Search by name or id"
              value={search}
              onChange={(event) => changeQuery({ search: event.target.value })}
            />
          </label>
          {label !== '' && (
            <button type="button" onClick={() => changeQuery({ label: '' })}>
              {label} <span aria-hidden="true">×</span>
              <span className="visually-hidden">Remove the filter</span>
            </button>
          )}
          <StatusFilter label="Only batches that are" statuses={BATCH_STATUSES} current={status} />
        </header>
        {listed.data === undefined && listed.error === undefined && <Waiting what="Reading the batches" />}
        {listed.data !== undefined && all.length === 0 && <NoBatches />}
        {all.length > 0 && wanted.length === 0 && (
          <Empty title="No batch matches.">Clear the search or choose another state.</Empty>
        )}
        {wanted.length > 0 && <BatchTable batches={wanted.slice(0, shown)} />}
        {wanted.length > shown && (
          <div className="empty">
            <button type="button" onClick={() => setShown(shown + SHOWN_AT_ONCE)}>
              Show more ({count(wanted.length - shown)} left)
            </button>
          </div>
        )}
      </section>
    </>
  );
}

function NoBatches() {
  return (
    <Empty title="No study has been submitted yet.">
      <p>Start a runner on each machine with free cores, then submit a study file:</p>
      <Command text={`simbatch runner --endpoint ${window.location.origin}`} />
      <Command text="simbatch submit study.yaml" />
      <p>
        Or <a href={hrefOf(['submit'])}>fill in the form</a>.
      </p>
    </Empty>
  );
}

const COLUMNS = [
  'Name',
  'State',
  'Runs',
  { name: 'Rate', right: true },
  { name: 'Time left', right: true },
  'Submitted',
  ACTIONS,
];

function BatchTable({ batches }: { batches: BatchStatusResponse[] }) {
  const [asked, setAsked] = useState<Batch>();
  const [failure, setFailure] = useState<string>();
  const cancel = (batch: Batch, reason: string | undefined): void => {
    setFailure(undefined);
    post(`/batches/${batch.id}/cancel`, JSON.stringify(reason === undefined ? {} : { reason })).catch((error: Error) =>
      setFailure(error.message),
    );
  };
  return (
    <>
      <Failure what="The batch was not cancelled." detail={failure} />
      <Table label="Table of batches" className="batches" columns={COLUMNS}>
        {batches.map((it) => (
          <BatchRow key={it.batch.id} progress={it} onCancel={setAsked} />
        ))}
      </Table>
      {asked !== undefined && (
        <CancelBatch batch={asked} onAnswer={(reason) => cancel(asked, reason)} onClose={() => setAsked(undefined)} />
      )}
    </>
  );
}

function BatchRow({ progress, onCancel }: { progress: BatchStatusResponse; onCancel: (batch: Batch) => void }) {
  const { batch, jobs_by_status: counts } = progress;
  const isOpen = batch.status === 'Pending' || batch.status === 'Running';
  const ended = batch.total_jobs - counts.Pending - counts.Claimed - counts.Running;
  return (
    <tr>
      <td>
        <a href={hrefOf(['batches', batch.id])}>
          <strong>{batch.name === '' ? '(no name)' : batch.name}</strong>
        </a>
        <div className="small soft mono">{batch.id.slice(0, 13)}</div>
        {batch.labels !== undefined && (
          <div className="row small">
            {Object.entries(batch.labels).map(([key, value]) => (
              <a key={key} href={hrefOf(['batches'], { label: `${key}=${value}` })}>
                {key}={value}
              </a>
            ))}
          </div>
        )}
      </td>
      <td>
        <State status={batch.status} />
        {batch.paused === true && <div className="small soft">paused</div>}
      </td>
      <td className="wide">
        <StatusBar batchId={batch.id} counts={counts} />
        <div className="small soft nowrap">
          {count(ended)} of {count(batch.total_jobs)}
          {batch.failed_jobs > 0 && <span className="bad"> · {count(batch.failed_jobs)} failed</span>}
        </div>
      </td>
      <td className="right nowrap">
        {isOpen ? rate(progress.throughput_jobs_per_minute) : <span className="soft">–</span>}
      </td>
      <td className="right nowrap">
        {isOpen ? minutes(progress.estimated_completion_time_mins) : <span className="soft">–</span>}
      </td>
      <td>
        <Time at={batch.created_at} />
      </td>
      <td className="right">
        {isOpen && (
          <button type="button" className="quiet danger" onClick={() => onCancel(batch)}>
            Cancel<span className="visually-hidden"> {batch.name}</span>
          </button>
        )}
      </td>
    </tr>
  );
}

export function CancelBatch({
  batch,
  onAnswer,
  onClose,
}: {
  batch: Batch;
  onAnswer: (reason: string | undefined) => void;
  onClose: () => void;
}) {
  return (
    <Ask
      title={`Cancel “${batch.name}”?`}
      reason="Why (optional)"
      action="Cancel the batch"
      danger
      onAnswer={onAnswer}
      onClose={onClose}
    >
      <p>
        Runs that have not ended become Cancelled and running simulations are killed. This cannot be undone; results so
        far are kept.
      </p>
    </Ask>
  );
}

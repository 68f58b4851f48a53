/** The list of studies: outcome, rate and remaining time of each. */
import { useMemo, useState } from 'react';
import { BATCH_STATUSES } from '../../../src/contract/enums.ts';
import type { Batch, BatchesData, BatchStatusResponse, DataMessage } from '../../../src/contract/types.ts';
import { useRequest } from '../data/api.ts';
import { useTopic } from '../data/live.ts';
import { Command, Empty, Failure, Waiting } from '../parts/common.tsx';
import { here } from '../parts/here.ts';
import { StatusFilter } from '../parts/table.tsx';
import { count } from '../parts/time.tsx';
import { changeQuery, hrefOf } from '../router.ts';
import { sorted, StudyTable } from './study-table.tsx';

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
  const sort = query.get('sort') ?? '';
  const ordered = sorted(wanted, sort);
  return (
    <>
      <div className="head">
        <h1 className="grow">Studies</h1>
        <a className="button primary" href={hrefOf(['submit'])}>
          Submit a study
        </a>
      </div>
      <Failure what="The studies could not be read." detail={listed.error?.message} />
      <section className="panel" aria-label="Studies">
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
          <StatusFilter label="Only studies that are" statuses={BATCH_STATUSES} current={status} />
        </header>
        {listed.data === undefined && listed.error === undefined && <Waiting what="Reading the studies" />}
        {listed.data !== undefined && all.length === 0 && <NoBatches />}
        {all.length > 0 && wanted.length === 0 && (
          <Empty title="No study matches.">Clear the search or choose another state.</Empty>
        )}
        {wanted.length > 0 && <StudyTable studies={ordered.slice(0, shown)} sort={sort} />}
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
      <Command text={`simbatch runner ${here()}`} />
      <Command text={`simbatch submit study.yaml ${here()}`} />
      <p>
        Or <a href={hrefOf(['submit'])}>fill in the form</a>.
      </p>
    </Empty>
  );
}

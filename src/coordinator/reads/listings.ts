/**
 * Listings of jobs, batches and results: consistent as of one instant, in creation order and then run order, in chunks and
 * constant memory. Untouched runs are derived between the recorded ones.
 */
import { hasLabels } from '../../domain/study/labels.ts';
import type { RunSelection } from '../../domain/runs/run-selection.ts';
import { batchIdOf, jobId, runIdOf } from '../../domain/ids.ts';
import { JOB_STATUSES } from '../../contract/enums.ts';
import type { Batch, Job, JobStatus, Uuid } from '../../contract/types.ts';
import type { BatchListQuery, JobFilter } from '../../contract/queries.ts';
import { allOf, idOf, keys, ofBatch, type KeyRange } from '../kernel/storage/keys.ts';
import { jobsByStatus, toBatch, toJob } from '../kernel/records/to-resource.ts';
import { decodeBatch, decodeJob, derivedJob, type BatchState, type JobState } from '../kernel/actors/actor-kinds.ts';
import type { StoreView } from '../kernel/storage/store.ts';
import { isEmpty } from './resources.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { StoreReader } from '../kernel/records/lookup.ts';

export interface ListingParts extends StoreReader {
  share: EventLoopShare;
}

/** `after`: the position of the last item seen, as an earlier listing returned it. Without `limit` the listing is complete. */
export interface PageRequest {
  limit?: number;
  after?: string;
}

/** A listing as of one instant. `chunks` must be iterated to its end or returned from, which frees its store view. */
export interface Listing<T> {
  /** The number of matching items on all pages, if it is known without reading them. */
  total: number | undefined;
  chunks: AsyncIterable<readonly T[]>;
  /** The position of the last item, once `chunks` has been read and more items follow; else undefined. */
  next(): string | undefined;
}

/** Items of one chunk. */
export const CHUNK = 100;
/** Batches that are read at a time. */
const BATCH_CHUNK = 200;

/** Turns a stream of chunks into a listing: cut at the limit, with the view released at the end. */
export function listing<T>(
  snapshot: StoreView,
  source: AsyncIterable<readonly T[]>,
  page: PageRequest,
  positionOf: (item: T) => string,
  total: number | undefined,
): Listing<T> {
  let next: string | undefined;
  async function* chunks(): AsyncIterable<readonly T[]> {
    let left = page.limit ?? Infinity;
    let last: T | undefined;
    try {
      for await (const chunk of source) {
        if (chunk.length > left) {
          const rest = chunk.slice(0, left);
          if (rest.length > 0) yield rest;
          const end = rest.at(-1) ?? last;
          next = end === undefined ? undefined : positionOf(end);
          return;
        }
        left -= chunk.length;
        last = chunk.at(-1);
        if (chunk.length > 0) yield chunk;
      }
    } finally {
      await snapshot.close();
    }
  }
  return { total, chunks: freeing(snapshot, chunks()), next: () => next };
}

/** A generator that is returned from before its first step never reaches its `finally`. */
function freeing<T>(snapshot: StoreView, chunks: AsyncIterable<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = chunks[Symbol.asyncIterator]();
      return {
        next: () => iterator.next(),
        async return() {
          await iterator.return?.();
          await snapshot.close();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** Opens a listing on a new view, and releases the view when opening fails. */
export async function openListing<T>(
  parts: ListingParts,
  make: (snapshot: StoreView) => Promise<Listing<T>>,
): Promise<Listing<T>> {
  const snapshot = parts.store.snapshot();
  try {
    return await make(snapshot);
  } catch (error) {
    await snapshot.close();
    throw error;
  }
}

async function* allBatches(
  { share }: ListingParts,
  snapshot: StoreView,
  after: Uuid | undefined,
  inclusive: boolean,
): AsyncIterable<BatchState> {
  const range: KeyRange = allOf('batch');
  // A character that no id contains, so that the range begins after this id.
  if (after !== undefined) range.gte = keys.batch(after) + (inclusive ? '' : ' ');
  for await (const chunk of snapshot.entries(range, { chunkSize: BATCH_CHUNK })) {
    for await (const states of share.mapped(chunk, ([, record]) => decodeBatch(record))) yield* states;
  }
}

/** Yields batches from the newest on, or from the one before `before`; `chunkSize` batches are read at a time. */
async function* newestBatches(
  { share }: ListingParts,
  snapshot: StoreView,
  before: Uuid | undefined,
  chunkSize: number,
): AsyncIterable<BatchState> {
  const range: KeyRange = allOf('batch');
  if (before !== undefined) range.lt = keys.batch(before);
  for await (const chunk of snapshot.entries(range, { chunkSize, reverse: true })) {
    for await (const states of share.mapped(chunk, ([, record]) => decodeBatch(record))) yield* states;
  }
}

/** The batches that match. A page in the order `newest` has no total: counting reads every batch, and the page does not. */
export function batches(parts: ListingParts, filter: BatchListQuery, page: PageRequest = {}): Promise<Listing<Batch>> {
  const isNewest = filter.order === 'newest';
  const isLabelled = hasLabels(filter.label);
  const matches = ({ value, context }: BatchState): boolean =>
    (isEmpty(filter.status) || filter.status?.includes(value) === true) &&
    (isEmpty(filter.name) || filter.name?.includes(context.name) === true) &&
    (isEmpty(filter.owner) || (context.owner !== undefined && filter.owner?.includes(context.owner) === true)) &&
    isLabelled(context.labels);
  return openListing(parts, async (snapshot) => {
    let total: number | undefined;
    if (page.limit !== undefined && !isNewest) {
      total = 0;
      for await (const it of allBatches(parts, snapshot, undefined, true)) if (matches(it)) total += 1;
    }
    async function* chunks(): AsyncIterable<Batch[]> {
      // One more than the page shows that there is a next page.
      const isWhole = [filter.status, filter.name, filter.owner, filter.label].every((it) => isEmpty(it));
      const size = isWhole ? Math.min(BATCH_CHUNK, (page.limit ?? BATCH_CHUNK) + 1) : BATCH_CHUNK;
      const found = isNewest
        ? newestBatches(parts, snapshot, page.after, size)
        : allBatches(parts, snapshot, page.after, false);
      for await (const it of found) {
        if (matches(it)) yield [toBatch(it, (key) => snapshot.get(key))];
      }
    }
    return listing(snapshot, chunks(), page, (it) => it.id, total);
  });
}

async function* wantedBatches(
  parts: ListingParts,
  snapshot: StoreView,
  filter: JobFilter,
  after: Uuid | undefined,
): AsyncIterable<BatchState> {
  if (isEmpty(filter.batch_id)) {
    yield* allBatches(parts, snapshot, after, true);
    return;
  }
  for await (const batchId of parts.share.paced([...new Set(filter.batch_id)].sort())) {
    if (after !== undefined && batchId < after) continue;
    const record = snapshot.get(keys.batch(batchId));
    if (record !== undefined) yield decodeBatch(record);
  }
}

export function jobs(parts: ListingParts, filter: JobFilter, page: PageRequest = {}): Promise<Listing<Job>> {
  const statuses = new Set(isEmpty(filter.status) ? JOB_STATUSES : filter.status);
  return openListing(parts, async (snapshot) => {
    const isCounted = isEmpty(filter.runner_id) && isEmpty(filter.run_id);
    let total: number | undefined;
    if (page.limit !== undefined && isCounted) {
      total = 0;
      for await (const it of wantedBatches(parts, snapshot, filter, undefined)) total += countIn(it, statuses);
    }
    // A page needs its own size and one more item, which shows that there is a next page.
    const size = Math.min(CHUNK, (page.limit ?? CHUNK) + 1);
    async function* chunks(): AsyncIterable<Job[]> {
      const startBatch = page.after === undefined ? undefined : batchIdOf(page.after);
      for await (const batch of wantedBatches(parts, snapshot, filter, startBatch)) {
        if (countIn(batch, statuses) === 0) continue;
        const isStart = page.after !== undefined && batch.context.batchId === startBatch;
        const from = isStart ? runIdOf(page.after as string) + 1 : 0;
        // A batch may be deleted while its jobs are listed.
        const study = parts.studyCache.of(batch.context, { read: (key) => snapshot.get(key) });
        for await (const states of jobsOf(parts, snapshot, batch, study.selection, filter, statuses, from, size)) {
          yield* parts.share.mapped(states, (it) => toJob(it, study));
        }
      }
    }
    return listing(snapshot, chunks(), page, (it) => it.id, total);
  });
}

const countIn = (batch: BatchState, statuses: ReadonlySet<JobStatus>): number => {
  const counts = jobsByStatus(batch);
  let sum = 0;
  for (const status of statuses) sum += counts[status];
  return sum;
};

/** Yields the jobs of one batch from run `from` on that match, in chunks of at most `size`. */
async function* jobsOf(
  parts: ListingParts,
  snapshot: StoreView,
  batch: BatchState,
  selection: RunSelection,
  filter: JobFilter,
  statuses: ReadonlySet<JobStatus>,
  from: number,
  size: number,
): AsyncIterable<JobState[]> {
  const { batchId, cancelRequested } = batch.context;
  const runners = isEmpty(filter.runner_id) ? undefined : new Set(filter.runner_id);
  const matches = ({ value, context }: JobState): boolean =>
    statuses.has(value) && (runners === undefined || (context.runnerId !== undefined && runners.has(context.runnerId)));
  if (!isEmpty(filter.run_id)) {
    const states = namedRuns(parts, snapshot, batch, selection, filter.run_id ?? [], from);
    for await (const part of states) yield part.filter(matches);
    return;
  }
  // All untouched runs have the same state and no runner.
  const withUntouched = runners === undefined && statuses.has(cancelRequested ? 'Cancelled' : 'Pending');
  /** The place among the batch's runs of the first that was not listed. */
  let next = selection.indexFrom(from);
  if (next >= selection.count) return;
  function* untouchedBefore(end: number): Iterable<JobState[]> {
    for (; withUntouched && next < end; next += size) {
      const count = Math.min(size, end - next);
      yield Array.from({ length: count }, (_, at) => {
        const runId = selection.nth(next + at);
        return derivedJob(jobId(batchId, runId), runId, next + at, batch);
      });
    }
    next = end;
  }
  for await (const recorded of recordedJobs(parts, snapshot, batch, from, size)) {
    let chunk: JobState[] = [];
    for (const state of recorded) {
      const index = selection.indexFrom(state.context.runId);
      if (withUntouched && next < index) {
        if (chunk.length > 0) yield chunk;
        chunk = [];
        yield* untouchedBefore(index);
      }
      next = index + 1;
      if (matches(state)) chunk.push(state);
    }
    if (chunk.length > 0) yield chunk;
  }
  yield* untouchedBefore(selection.count);
}

function namedRuns(
  { share }: ListingParts,
  snapshot: StoreView,
  batch: BatchState,
  selection: RunSelection,
  runIds: readonly number[],
  from: number,
): AsyncIterable<JobState[]> {
  const { batchId } = batch.context;
  const wanted = [...new Set(runIds)]
    .filter((it) => it >= from && selection.indexOf(it) !== undefined)
    .sort((a, b) => a - b);
  return share.mapped(wanted, (runId) => {
    const id = jobId(batchId, runId);
    const record = snapshot.get(keys.job(id));
    return record === undefined
      ? derivedJob(id, runId, selection.indexFrom(runId), batch)
      : decodeJob(id, record, batch.context);
  });
}

async function* recordedJobs(
  { share }: ListingParts,
  snapshot: StoreView,
  batch: BatchState,
  from: number,
  chunkSize: number,
): AsyncIterable<JobState[]> {
  const { batchId } = batch.context;
  const range = { ...ofBatch('job', batchId), gte: keys.job(jobId(batchId, from)) };
  for await (const chunk of snapshot.entries(range, { chunkSize })) {
    yield* share.mapped(chunk, ([key, record]) => decodeJob(idOf(key), record, batch.context));
  }
}

/** Listings of results, in run order: those of a batch, or the latest of each run of a family. */
import { batchIdOf, jobId, runIdOf } from '../../domain/ids.ts';
import type { Batch, JobResult, StoredResult, Uuid } from '../../contract/types.ts';
import type { BatchState } from '../kernel/actors/actor-kinds.ts';
import { familyOf, mergeable, type FamilyMember, type ReadRecord } from '../kernel/records/family.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { toBatch } from '../kernel/records/to-resource.ts';
import { idOf, keys, ofBatch } from '../kernel/storage/keys.ts';
import type { Entry, StoreView } from '../kernel/storage/store.ts';
import { CHUNK, listing, type Listing, openListing, type PageRequest, type ListingParts } from './listings.ts';
import { resultFrom } from '../kernel/records/results.ts';

/** `family`: of each run of the batch's family the latest result, with its `batch_id`. */
export interface ResultsRequest extends PageRequest {
  family?: boolean;
}

/** @throws SimbatchError `unknown-batch`; `malformed-query` for a family of too many batches */
export async function batchResults(
  parts: ListingParts,
  batchId: Uuid,
  { family = false, ...page }: ResultsRequest = {},
): Promise<{ batch: Batch; results: Listing<JobResult> }> {
  let batch: Batch | undefined;
  const results = await openListing(parts, async (snapshot) => {
    const state = readBatch(snapshot, batchId);
    const read: ReadRecord = (key) => snapshot.get(key);
    batch = toBatch(state, read);
    if (!family) return ownResults(parts, snapshot, state, page);
    const members = mergeable(await familyOf(parts.share, read, state.context));
    const replicates = new Map(members.map((it) => [it.state.context.batchId, it.replicate]));
    const position = ({ job_id: id }: JobResult): string => `${replicates.get(batchIdOf(id)) ?? 0}.${runIdOf(id)}`;
    return listing(snapshot, familyResults(parts, snapshot, members, page), page, position, undefined);
  });
  return { batch: batch!, results };
}

function ownResults(
  parts: ListingParts,
  snapshot: StoreView,
  state: BatchState,
  page: PageRequest,
): Listing<JobResult> {
  const { batchId, completed, failed, timedOut } = state.context;
  const range = ofBatch('result', batchId);
  if (page.after !== undefined) range.gte = keys.result(page.after) + ' ';
  async function* chunks(): AsyncIterable<JobResult[]> {
    for await (const chunk of snapshot.entries(range, { chunkSize: chunkSize(page) })) {
      yield* parts.share.mapped(chunk, ([, record]) => resultFrom(parts, snapshot, JSON.parse(record) as StoredResult));
    }
  }
  return listing(snapshot, chunks(), page, (it) => it.job_id, completed + failed + timedOut);
}

const chunkSize = ({ limit = CHUNK }: PageRequest): number => Math.min(CHUNK, limit + 1);

/** `members`: by replicate, then by age. */
async function* familyResults(
  parts: ListingParts,
  snapshot: StoreView,
  members: readonly FamilyMember[],
  page: PageRequest,
): AsyncIterable<JobResult[]> {
  const [replicate = 0, runId = -1] = (page.after ?? '').split('.', 2).filter(Boolean).map(Number);
  const replicates = [...new Set(members.map((it) => it.replicate))].filter((it) => it >= replicate);
  const size = chunkSize(page);
  for (const each of replicates) {
    const from = each === replicate ? runId + 1 : 0;
    const group = members.filter((it) => it.replicate === each);
    const latest = latestOfRuns(group.map((it) => entriesFrom(snapshot, it.state.context.batchId, from, size)));
    for await (const entries of latest) {
      yield* parts.share.mapped(entries, ([, record]): JobResult => {
        const { job_id, ...result } = resultFrom(parts, snapshot, JSON.parse(record) as StoredResult);
        return { job_id, batch_id: batchIdOf(job_id), ...result };
      });
    }
  }
}

const entriesFrom = (snapshot: StoreView, batchId: Uuid, runId: number, size: number) =>
  snapshot.entries({ ...ofBatch('result', batchId), gte: keys.result(jobId(batchId, runId)) }, { chunkSize: size });

/** Merges entries in run order; of several of one run, the last source has the latest. */
async function* latestOfRuns(sources: readonly AsyncIterable<readonly Entry[]>[]): AsyncGenerator<Entry[]> {
  const readers = sources.map((it) => ({ chunks: it[Symbol.asyncIterator](), chunk: [] as readonly Entry[], at: 0 }));
  try {
    for (;;) {
      for (const reader of readers) {
        if (reader.at < reader.chunk.length || reader.at < 0) continue;
        const step = await reader.chunks.next();
        reader.chunk = step.done === true ? [] : step.value;
        reader.at = step.done === true ? -1 : 0;
      }
      const merged: Entry[] = [];
      // The readers advance together until a chunk is used up.
      while (readers.every((it) => it.at !== it.chunk.length)) {
        const runs = readers.map((it) => (it.at < 0 ? Infinity : runOf(it.chunk[it.at]!)));
        const run = Math.min(...runs);
        if (run === Infinity) break;
        let latest: Entry | undefined;
        for (const [place, reader] of readers.entries()) if (runs[place] === run) latest = reader.chunk[reader.at++];
        merged.push(latest!);
      }
      if (merged.length > 0) yield merged;
      if (readers.every((it) => it.at < 0)) return;
    }
  } finally {
    for (const { chunks } of readers) await chunks.return?.();
  }
}

const runOf = ([key]: Entry): number => runIdOf(idOf(key));

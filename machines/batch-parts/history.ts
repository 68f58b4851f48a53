/** The history of a batch: what happened to it as a whole, the latest entries; and the end of the wait for its canary runs. Pure. */
import type { BatchContext, BatchHistoryType, StoredBatchHistory } from '../../src/contract/types.ts';
import type { Deadline } from '../deadline.ts';
import { CANARY_PATIENCE_MS, LEAST_TO_DECIDE, hasFailedCanary, hasPassedCanary, releasedRuns } from './counts.ts';
import type { AmendEvent, BatchEvent, JobChange } from '../protocol.ts';

/** How many entries are kept. */
const MOST_ENTRIES = 100;
/** How many characters of amendments are kept, besides the latest one: a batch is stored whenever its runs change. */
const MOST_CHARS = 262_144;

/** The history with one more entry; the oldest are only counted. */
export function withEntry(
  { history }: BatchContext,
  type: BatchHistoryType | undefined,
  atMs: number,
  reason?: string,
  by?: string,
): StoredBatchHistory | undefined {
  if (type === undefined) return history;
  return added(history, { atMs, type, ...(reason !== undefined && { reason }), ...(by !== undefined && { by }) });
}

/** The history with an amendment. So many older entries are only counted that the amendments left are small. */
export function withAmendment(
  { history }: BatchContext,
  { before, after, now: atMs, by }: AmendEvent,
): StoredBatchHistory {
  const { entries, omitted } = added(history, {
    atMs,
    type: 'amended',
    before,
    after,
    ...(by !== undefined && { by }),
  });
  let chars = 0;
  const first = entries.findLastIndex((it) => {
    if (it.type === 'amended') chars += JSON.stringify(it).length;
    return chars > MOST_CHARS && it !== entries.at(-1);
  });
  return { entries: entries.slice(first + 1), omitted: omitted + first + 1 };
}

function added(
  { entries, omitted }: StoredBatchHistory = { entries: [], omitted: 0 },
  entry: StoredBatchHistory['entries'][number],
): StoredBatchHistory {
  const over = entries.length >= MOST_ENTRIES ? 1 : 0;
  return { entries: [...entries.slice(over), entry], omitted: omitted + over };
}

type Tally = (context: BatchContext, changes: readonly JobChange[]) => Partial<BatchContext>;

/** True while runs wait for the canary runs, none of which has failed. Most batches have none: this must cost nothing then. */
const waits = (c: BatchContext): boolean =>
  c.canaryRuns !== undefined && !c.cancelRequested && releasedRuns(c) < c.totalJobs && !hasFailedCanary(c);

/** True when enough canary runs are Completed with these changes. */
export function canaryPasses(c: BatchContext, changes: readonly JobChange[], tally: Tally): boolean {
  return waits(c) && hasPassedCanary({ ...c, ...tally(c, changes) });
}

/** True when so many canary runs end other than Completed with these changes that the others must wait. */
export function canaryFails(c: BatchContext, changes: readonly JobChange[], tally: Tally): boolean {
  return waits(c) && hasFailedCanary({ ...c, ...tally(c, changes) });
}

/** The time at which a few canary runs have taken long, while other runs wait for them. */
export function canaryDeadline(c: BatchContext): Deadline | undefined {
  if (c.canaryRuns === undefined || c.canaryRuns >= LEAST_TO_DECIDE || c.canaryLateAtMs !== undefined) return undefined;
  if (c.startedAtMs === undefined || !waits(c)) return undefined;
  return { kind: 'canary', atMs: c.startedAtMs + CANARY_PATIENCE_MS };
}

/** True when a run is claimed, or takes the result of another one. */
export const begins = (event: BatchEvent): event is Extract<BatchEvent, { type: 'JOBS_CHANGED' }> =>
  event.type === 'JOBS_CHANGED' &&
  event.changes.some((it) => it.type === 'job.claimed' || (it.type === 'job.ended' && it.reused === true));

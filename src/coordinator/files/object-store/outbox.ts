/**
 * Files of ended runs that their runners have still to send to the object store, counted for each study and runner in the turns
 * that end a run or complete an upload. A runner that never comes back leaves its count: the findings of the study name it.
 */
import { batchIdOf, runIdOf } from '../../../domain/ids.ts';
import type { OutboxPlace } from '../../../domain/findings/finding.ts';
import type { OutboxRecord, StoredResult, Uuid } from '../../../contract/types.ts';
import { keys, ofBatch } from '../../kernel/storage/keys.ts';
import { batchOrThrow, readRunner, type StoreReader } from '../../kernel/records/lookup.ts';
import type { StudyCache } from '../../kernel/records/study-cache.ts';
import type { Turn } from '../../kernel/turn/turn.ts';
import { uploads, type ObjectStorePart } from '../run-place.ts';

interface OutboxParts extends ObjectStorePart {
  studyCache: StudyCache;
}

/** Runs that a finding names. */
const MOST_EXAMPLES = 5;

/** The addresses of a result that are not in an object store. */
function localAddresses({ output_files, telemetry_data }: StoredResult): Set<string> {
  const all = new Set(telemetry_data == null ? output_files : [...output_files, telemetry_data]);
  for (const address of all) if (address.startsWith('s3://')) all.delete(address);
  return all;
}

/** The result of a run that has ended now: where its study uploads files, they are counted as files that wait on the runner. */
export function expectUpload(
  parts: OutboxParts,
  turn: Turn,
  { jobId, runnerId }: { jobId: Uuid; runnerId: string },
  result: StoredResult,
): StoredResult {
  if (parts.objectStore === undefined) return result;
  const { submission } = parts.studyCache.of(batchOrThrow(turn, batchIdOf(jobId)).context);
  const waiting = uploads(parts, submission.config) ? localAddresses(result) : new Set<string>();
  const [first] = waiting;
  if (first === undefined) return result;
  const counted = { ...result, upload: { files: 0, failed: [], waiting: waiting.size } };
  countWaiting(turn, { jobId, runnerId }, result, counted);
  return counted;
}

/** Counts the difference between two results of a run. Without one nothing is written, so that a repeat counts once. */
export function countWaiting(
  turn: Turn,
  { jobId, runnerId }: { jobId: Uuid; runnerId: string },
  before: StoredResult,
  after: StoredResult,
): void {
  const { waiting: was = 0, reason: reasonBefore } = before.upload ?? {};
  const { waiting: is = 0, reason } = after.upload ?? {};
  if (was === is && reasonBefore === reason) return;
  const batchId = batchIdOf(jobId);
  const key = keys.outbox(batchId, runnerId);
  const text = turn.read(key);
  const { hostname, allocation } = turn.state('runner', runnerId)?.context ?? {};
  const known: OutboxRecord =
    text === undefined
      ? {
          ...(hostname === undefined ? {} : { hostname }),
          ...(allocation === undefined ? {} : { allocation }),
          root: rootOf(after, batchId),
          files: 0,
          runs: 0,
          failing: 0,
          examples: [],
          atMs: 0,
        }
      : (JSON.parse(text) as OutboxRecord);
  const files = Math.max(0, known.files + is - was);
  const runs = Math.max(0, known.runs + Math.sign(is) - Math.sign(was));
  const runId = runIdOf(jobId);
  const failing = Math.max(0, known.failing + Number(reason !== undefined) - Number(reasonBefore !== undefined));
  const others = known.examples.filter((it) => it !== runId);
  const examples = is > 0 ? [...others, runId].slice(-MOST_EXAMPLES) : others;
  const { reason: latest = reason, ...counts } = known;
  const why = reason ?? latest;
  const record: OutboxRecord = {
    ...counts,
    files,
    runs,
    failing,
    examples,
    ...(failing === 0 || why === undefined ? {} : { reason: why }),
    atMs: turn.now,
  };
  turn.put(key, files === 0 || runs === 0 ? null : JSON.stringify(record));
}

/** The output root of the runner: the folder in which the folder of the study is. */
function rootOf(result: StoredResult, batchId: Uuid): string {
  const [address = ''] = localAddresses(result);
  const at = address.replaceAll('\\', '/').indexOf(`/${batchId}/`);
  return at < 0 ? address : address.slice(0, Math.max(1, at));
}

/** The places with files of a study that wait to be sent. */
export async function outboxOf(parts: StoreReader, batchId: Uuid, now: number): Promise<OutboxPlace[]> {
  const places: OutboxPlace[] = [];
  const view = parts.store.snapshot();
  try {
    for await (const chunk of view.entries(ofBatch('outbox', batchId))) {
      for (const [key, text] of chunk) {
        const { atMs, ...record } = JSON.parse(text) as OutboxRecord;
        const runnerId = key.slice(key.indexOf('/') + 1);
        places.push({ ...record, runnerId, isGone: isGone(parts, runnerId), idleMs: now - atMs });
      }
    }
  } finally {
    await view.close();
  }
  return places;
}

/** The runner sends no heartbeats, or is not in the pool any more. */
function isGone({ store }: StoreReader, runnerId: string): boolean {
  return store.get(keys.runner(runnerId)) === undefined || readRunner(store, runnerId).value === 'Offline';
}

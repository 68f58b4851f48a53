/**
 * Putting an export into an empty store, so that a coordinator goes on where it was taken. Refuses what does not agree with
 * itself: a coordinator must never start on books that do not balance.
 */
import { keys } from '../storage/keys.ts';
import { isTerminal, type JobRecord } from '../actors/actor-kinds.ts';
import type { Store } from '../storage/store.ts';
import { DivergenceLog } from './divergence.ts';
import { splitKey, type RecordName, type Snapshot, type SnapshotRecord } from './format.ts';
import { ConsistencyCheck } from './consistency-check.ts';
import { unusable } from './read.ts';

export interface ImportReport {
  batches: number;
  /** Jobs with a record of their own; the others follow from their batch. */
  jobs: number;
  results: number;
  runners: number;
}

/** How many records go to the store in one write. */
const GROUP = 2_000;

const KEY_OF: Readonly<Record<RecordName, (id: string) => string>> = {
  batch: keys.batch,
  submission: keys.submission,
  job: keys.job,
  result: keys.result,
  runner: keys.runner,
};

/**
 * Writes the records of an export or a recorded study to a store that holds nothing else.
 * @throws SimbatchError `snapshot-unusable`; the store then holds a part and must be thrown away
 */
export async function importSnapshot(snapshot: Snapshot, store: Store): Promise<ImportReport> {
  if (snapshot.kind === 'scenario') throw unusable('it is of a single machine; there is nothing to go on with');
  const findings = new DivergenceLog();
  const ledger = new ConsistencyCheck(findings);
  const counted: Record<RecordName, number> = { batch: 0, submission: 0, job: 0, result: 0, runner: 0 };
  let group = new Map<string, string>();
  for await (const record of snapshot.records) {
    ledger.add(record);
    for (const [key, value] of entriesOf(record)) group.set(key, value);
    counted[splitKey(record.key).name as RecordName] += 1;
    if (group.size >= GROUP) {
      await store.write(group);
      group = new Map();
    }
    refuseIfDivergent(findings);
  }
  ledger.finish();
  refuseIfDivergent(findings);
  await store.write(group);
  return { batches: counted.batch, jobs: counted.job, results: counted.result, runners: counted.runner };
}

function refuseIfDivergent({ report }: DivergenceLog): void {
  const [first] = report.partings;
  if (first !== undefined) throw unusable(`it does not agree with itself: ${first.where}: ${first.detail}`);
}

/** The record under its key, and what the store keeps beside it to find it again. */
function* entriesOf({ key, value }: SnapshotRecord): Iterable<[string, string]> {
  const { name, id } = splitKey(key);
  yield [KEY_OF[name as RecordName](id), JSON.stringify(value)];
  if (name === 'batch' && !isTerminal(value['value'] as string)) yield [keys.open(id), ''];
  if (name !== 'job') return;
  const job = value as unknown as JobRecord;
  const last = job.attempts.at(-1);
  if (job.value === 'Pending' && last !== undefined) {
    yield [keys.requeue(id), JSON.stringify({ lastRunner: last.runner, sinceMs: last.ended ?? 0 })];
  }
}

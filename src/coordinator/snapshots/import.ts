/**
 * Imports an export into an empty store, from which a coordinator continues. Refuses an inconsistent export: a coordinator
 * must never start on counters that do not match its records.
 */
import type { BatchContext, HistoryRecord, RecordName } from '../../contract/records/records.ts';
import type { JobRecord, RoundRecord } from '../../contract/types.ts';
import { FamilyIndex } from '../kernel/records/family.ts';
import { KeyGroups } from '../kernel/records/key-groups.ts';
import { decodeSubmission } from '../kernel/records/study-cache.ts';
import { keys } from '../kernel/storage/keys.ts';
import { isTerminal } from '../kernel/actors/actor-kinds.ts';
import type { Store } from '../kernel/storage/store.ts';
import { DivergenceLog } from './divergence.ts';
import { splitKey, type Snapshot, type SnapshotRecord } from './format.ts';
import { ConsistencyCheck } from './consistency-check.ts';
import { unusable } from './read.ts';

export interface ImportReport {
  batches: number;
  /** Jobs with their own record; the others are derived from their batch. */
  jobs: number;
  results: number;
  runners: number;
}

/** Records per write. */
const GROUP = 2_000;

const KEY_OF: Readonly<Record<RecordName, (id: string) => string>> = {
  batch: keys.batch,
  submission: keys.submission,
  round: (id) => `!round!${id}`,
  rows: (id) => `!rows!${id}`,
  job: keys.job,
  result: keys.result,
  history: (id) => `!history!${id}`,
  runner: keys.runner,
};

/**
 * Writes the records of an export or a recorded study to an empty store.
 * @throws SimbatchError `snapshot-unusable`; the store is then incomplete and must be removed
 */
export async function importSnapshot(snapshot: Snapshot, store: Store): Promise<ImportReport> {
  if (snapshot.kind === 'scenario') throw unusable('it records a single machine, which a coordinator cannot continue');
  const findings = new DivergenceLog();
  const check = new ConsistencyCheck(findings);
  const counted: Record<RecordName, number> = {
    batch: 0,
    submission: 0,
    round: 0,
    rows: 0,
    job: 0,
    result: 0,
    history: 0,
    runner: 0,
  };
  const families = new FamilyIndex();
  const groups = new KeyGroups();
  let group = new Map<string, string>();
  for await (const record of snapshot.records) {
    check.add(record);
    for (const [key, value] of entriesOf(record)) group.set(key, value);
    if (record.key.startsWith('batch/')) families.add(record.value as unknown as BatchContext);
    const { name, id } = splitKey(record.key);
    if (name === 'submission') groups.add(id, decodeSubmission(JSON.stringify(record.value)));
    counted[name as RecordName] += 1;
    if (group.size >= GROUP) {
      await store.write(group);
      group = new Map();
    }
    refuseIfDivergent(findings);
  }
  check.finish();
  refuseIfDivergent(findings);
  for (const [familyId, family] of families.records()) group.set(keys.family(familyId), family);
  for (const [name, members] of groups.records()) group.set(keys['key-group'](name), members);
  await store.write(group);
  return { batches: counted.batch, jobs: counted.job, results: counted.result, runners: counted.runner };
}

function refuseIfDivergent({ report }: DivergenceLog): void {
  const [first] = report.divergences;
  if (first !== undefined) throw unusable(`it is inconsistent: ${first.where}: ${first.detail}`);
}

/** The record under its key, with its index records. */
function* entriesOf({ key, value }: SnapshotRecord): Iterable<[string, string]> {
  const { name, id } = splitKey(key);
  const text = name === 'history' ? (value as unknown as HistoryRecord).values : JSON.stringify(value);
  yield [KEY_OF[name as RecordName](id), text];
  if (name === 'batch' && !isTerminal(value['value'] as string)) yield [keys.open(id), ''];
  if (name === 'round') {
    const { round, key: named } = value as unknown as RoundRecord;
    if (named !== null) yield [keys['round-key'](id.slice(0, id.indexOf('/')), named), String(round)];
  }
  if (name !== 'job') return;
  const job = value as unknown as JobRecord;
  const last = job.attempts.at(-1);
  if (job.value === 'Pending' && last !== undefined) {
    yield [keys.requeue(id), JSON.stringify({ lastRunner: last.runner, sinceMs: last.ended ?? 0 })];
  }
}

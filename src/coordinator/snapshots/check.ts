/** Checks the records and the head of a snapshot file: a valid one can be given to the machines and to the store. */
import type { RecordName } from '../../contract/records/records.ts';
import { ExportHead, RECORDS, ScenarioHead, StudyHead } from '../../contract/records/records.ts';
import { BATCH_ID_PATTERN, JOB_ID_PATTERN, RUNNER_ID_PATTERN } from '../../contract/patterns.ts';
import { schemaFaults } from '../../contract/validation/validate.ts';

/** The batch and the number of a round, and what follows. */
const ofRound = (rest: string): RegExp => new RegExp(`${BATCH_ID_PATTERN.replace('$', '')}/[0-9a-f]{8}${rest}$`);

/** For each record: the pattern of the id in its key, and the member that repeats the id. */
const IDS: Readonly<Record<RecordName, { pattern: RegExp; member?: string }>> = {
  batch: { pattern: new RegExp(BATCH_ID_PATTERN), member: 'batchId' },
  submission: { pattern: new RegExp(BATCH_ID_PATTERN) },
  round: { pattern: ofRound('') },
  rows: { pattern: ofRound('/[0-9]{1,6}') },
  job: { pattern: new RegExp(JOB_ID_PATTERN) },
  result: { pattern: new RegExp(JOB_ID_PATTERN), member: 'job_id' },
  history: { pattern: new RegExp(`${BATCH_ID_PATTERN.replace('$', '')}/[01][0-9a-f]/[0-9a-f]{8}$`) },
  runner: { pattern: new RegExp(RUNNER_ID_PATTERN), member: 'runnerId' },
};

const HEADS = { scenario: ScenarioHead, study: StudyHead, export: ExportHead };
const MAX_FAULTS = 10;

const faultsOf = (schema: Parameters<typeof schemaFaults>[0], value: unknown): string[] =>
  schemaFaults(schema, value, MAX_FAULTS).map(({ pointer, detail }) => `${pointer} ${detail}`.trim());

/** Returns the faults of a record; `id` is the id in its key. Whether records agree with each other, replay finds out. */
export function recordFaults(name: RecordName, id: string, value: Record<string, unknown>): string[] {
  const { pattern, member } = IDS[name];
  if (!pattern.test(id)) {
    const nouns = {
      batch: 'batch',
      submission: 'batch',
      round: 'round',
      rows: 'block of a round',
      job: 'job',
      result: 'job',
      history: 'history of a run',
    };
    const noun = { ...nouns, runner: 'runner' }[name];
    return [`its id is ${JSON.stringify(id).slice(0, 100)}; it must be the id of a ${noun}`];
  }
  const faults = faultsOf(RECORDS[name], value);
  if (faults.length > 0 || member === undefined || value[member] === id) return faults;
  return [`/${member} is ${JSON.stringify(value[member])}; it must be the id in the key`];
}

/** Returns the faults of a file of this kind, without its records. */
export const headFaults = (kind: keyof typeof HEADS, head: object): string[] => faultsOf(HEADS[kind], head);

/** The members of a job's record that tables show, read from its bytes. */
import type { AttemptRecord } from '../../../../contract/members/members.ts';
import type { JobStatus } from '../../../../contract/types.ts';
import type { RecordBytes } from './chunk.ts';
import { decimalAt } from '../../../../base/decimals/read.ts';
import { KIND, NamedLevel, RecordScanner } from './scanner.ts';
import { TextCache, unescaped } from './texts.ts';

/** The state of a run. */
export interface JobView {
  readonly value: JobStatus;
  readonly attempt: number;
  readonly runnerId: string | undefined;
  /** ms since the epoch. */
  readonly startedAtMs: number | undefined;
  readonly completedAtMs: number | undefined;
  readonly error: string | undefined;
  /** Why its last attempt failed; null for a run that completed, and where no reason was given. */
  readonly reason: string | null;
}

const SLOTS = { value: 0, attempt: 1, runnerId: 2, startedAtMs: 3, completedAtMs: 4, error: 5, attempts: 6 } as const;

const scanner = new RecordScanner(new NamedLevel(SLOTS), Object.keys(SLOTS).length);
const texts = new TextCache();

export function readJob(record: RecordBytes): JobView {
  scanner.read(record);
  const value = textAt(SLOTS.value) as JobStatus;
  return {
    value,
    attempt: numberAt(SLOTS.attempt) ?? 0,
    runnerId: textAt(SLOTS.runnerId),
    startedAtMs: numberAt(SLOTS.startedAtMs),
    completedAtMs: numberAt(SLOTS.completedAtMs),
    error: textAt(SLOTS.error),
    reason: value === 'Completed' ? null : lastReason(),
  };
}

function numberAt(slot: number): number | undefined {
  return scanner.kinds[slot] === KIND.number
    ? decimalAt(scanner.bytes, scanner.starts[slot]!, scanner.ends[slot]!)
    : undefined;
}

function textAt(slot: number): string | undefined {
  const { bytes, kinds, starts, ends } = scanner;
  if (kinds[slot] === KIND.text) return texts.of(bytes, starts[slot]! + 1, ends[slot]! - 1);
  return kinds[slot] === KIND.escaped ? unescaped(bytes, starts[slot]!, ends[slot]!) : undefined;
}

function lastReason(): string | null {
  if (scanner.kinds[SLOTS.attempts] !== KIND.other) return null;
  const attempts = JSON.parse(scanner.raw(SLOTS.attempts)) as AttemptRecord[];
  return attempts.at(-1)?.reason ?? null;
}

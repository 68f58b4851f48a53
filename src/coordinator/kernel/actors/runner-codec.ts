/**
 * The JSON encoding of a runner. Most that it holds are runs of one study that follow each other: the record has the first of such a sequence, and how
 * many there are, since every claim and every report writes it.
 */
import type { RunnerState } from '../../../../machines/kinds.ts';
import { mergeOf, namesOf } from '../../../contract/codegen/member-functions.ts';
import { HeldRuns, MOST_HELD_RUNS } from '../../../contract/records/held.ts';
import { RunnerRecord } from '../../../contract/records/records.ts';
import type { HeldAttempt, RunnerContext } from '../../../contract/types.ts';
import { batchIdOf, commonPrefix, jobId, runIdOf } from '../../../domain/ids.ts';

const { value: _value, ...members } = RunnerRecord.properties;
const toRecord = mergeOf<[RunnerState, RunnerContext], RunnerRecord>(['value'], namesOf(members));
const heldRuns = mergeOf<[HeldRuns], HeldRuns>(namesOf(HeldRuns.properties));

export function encodeRunner(state: RunnerState): string {
  const record = toRecord(state, state.context);
  record.held = sequences(state.context.held);
  return JSON.stringify(record);
}

export function decodeRunner(record: string): RunnerState {
  const { value, ...context } = JSON.parse(record) as RunnerRecord & RunnerContext;
  return { value, context: { ...context, held: context.held.flatMap(attempts) } };
}

/** The attempts, with the first of each sequence in place of all. */
function sequences(held: readonly HeldAttempt[]): HeldRuns[] {
  const found: HeldRuns[] = [];
  let first: HeldRuns | undefined;
  let study = '';
  let run = -1;
  for (const it of held) {
    const next = run + 1;
    run = runIdOf(it.jobId);
    const count: number = first?.runs ?? 1;
    const isNext = run === next && count < MOST_HELD_RUNS && it.jobId.startsWith(study);
    if (first !== undefined && isNext && isAlike(first, it)) first.runs = count + 1;
    else {
      found.push((first = heldRuns(it)));
      study = commonPrefix(it.jobId);
    }
  }
  return found;
}

/** Whether they have the same members apart from the run. */
const isAlike = (a: HeldAttempt, b: HeldAttempt): boolean =>
  a.attempt === b.attempt &&
  a.cpuMilli === b.cpuMilli &&
  a.memoryBytes === b.memoryBytes &&
  a.resources === b.resources &&
  a.missingSinceMs === b.missingSinceMs;

function attempts({ runs, ...first }: HeldRuns): HeldAttempt[] {
  const batch = batchIdOf(first.jobId);
  const run = runIdOf(first.jobId);
  return runs === undefined
    ? [first]
    : Array.from({ length: runs }, (_, at) => ({ ...first, jobId: jobId(batch, run + at) }));
}

/**
 * Projections of a turn: the records that its facts imply, and the indexes in memory (scheduler, deadlines, crowded runners) that the next turn
 * reads. Recovery builds the same indexes from the store.
 */
import type { Fact, JobClaimed, JobEnded } from '../../../machines/protocol.ts';
import type { CrowdedRunners } from './crowded-runners.ts';
import type { DeadlineQueue } from '../kernel/actors/deadline-queue.ts';
import { stateOf, type Activation } from '../kernel/actors/directory.ts';
import type { Scheduler } from './scheduler.ts';
import { keys } from '../kernel/storage/keys.ts';
import { reportedResult } from '../kernel/records/to-resource.ts';
import { isTerminal, type BatchState, type Kind, type RunnerState } from '../kernel/actors/actor-kinds.ts';
import type { Turn } from '../kernel/turn/turn.ts';

export interface Indexes {
  scheduler: Scheduler;
  deadlines: DeadlineQueue;
  crowded: CrowdedRunners;
}

/** The record of a requeued run. */
export interface RequeueRecord {
  lastRunner: string;
  sinceMs: number;
}

/** Adds the records that the facts of a turn imply. */
export function addFactRecords(facts: readonly Fact[], turn: Turn): void {
  for (const fact of facts) addFactRecord(fact, turn);
}

/** Updates the indexes after a completed turn. */
export function updateIndexes(indexes: Indexes, changed: readonly Activation[], facts: readonly Fact[]): void {
  // Batches first: the scheduler can only queue runs of a batch it has.
  for (const activation of changed) if (activation.kind === 'batch') updateIndex(indexes, activation);
  for (const fact of facts) updateQueue(indexes.scheduler, fact);
  for (const activation of changed) updateIndex(indexes, activation);
}

/** Updates the indexes from an actor's state. */
export function updateIndex<K extends Kind>(
  { scheduler, deadlines, crowded }: Indexes,
  activation: Activation<K>,
): void {
  const state = stateOf(activation);
  deadlines.set(activation, activation.table.stored.deadline(state));
  if (activation.kind === 'runner') crowded.update((state as RunnerState).context);
  if (activation.kind !== 'batch') return;
  const { value, context } = state as BatchState;
  if (isTerminal(value)) scheduler.remove(context.batchId);
  else scheduler.update(context);
}

function updateQueue(scheduler: Scheduler, fact: Fact): void {
  if (fact.type === 'job.requeued') {
    scheduler.requeue(fact.batchId, { runId: fact.runId, lastRunner: fact.runnerId, sinceMs: fact.now });
  } else if (leavesTheQueue(fact)) scheduler.unqueue(fact.batchId, fact.runId);
}

const leavesTheQueue = (fact: Fact): fact is JobClaimed | JobEnded =>
  (fact.type === 'job.claimed' && fact.requeued) ||
  (fact.type === 'job.ended' && fact.from === 'Pending' && fact.touched);

function addFactRecord(fact: Fact, turn: Turn): void {
  if (leavesTheQueue(fact)) turn.put(keys.requeue(fact.jobId), null);
  switch (fact.type) {
    case 'batch.opened':
      turn.put(keys.open(fact.batchId), '');
      break;
    case 'batch.ended':
      turn.put(keys.open(fact.batchId), null);
      break;
    case 'job.requeued': {
      const entry: RequeueRecord = { lastRunner: fact.runnerId, sinceMs: fact.now };
      turn.put(keys.requeue(fact.jobId), JSON.stringify(entry));
      break;
    }
    case 'job.ended':
      writeUnreportedResult(fact, turn);
      break;
    default:
  }
}

/** Writes the result of a job that the coordinator itself ended, by its time limit or its losses. */
function writeUnreportedResult({ jobId, to, error, startedAtMs, now }: JobEnded, turn: Turn): void {
  // Only a report completes a job, and it has put the result.
  if (to === 'Completed' || to === 'Cancelled' || turn.isPut(keys.result(jobId))) return;
  const result = reportedResult(jobId, undefined, error ?? to, now - (startedAtMs ?? now));
  turn.put(keys.result(jobId), JSON.stringify(result));
}

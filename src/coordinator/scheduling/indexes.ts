/** The indexes in memory (scheduler, deadlines, crowded runners) that the next turn reads. Recovery builds the same ones from the store. */
import type { Fact } from '../../../machines/protocol.ts';
import type { CrowdedRunners } from './crowded-runners.ts';
import type { DeadlineQueue } from '../kernel/actors/deadline-queue.ts';
import { stateOf, type Activation } from '../kernel/actors/directory.ts';
import type { Scheduler } from './scheduler.ts';
import { isTerminal, type BatchState, type Kind, type RunnerState } from '../kernel/actors/actor-kinds.ts';
import { leavesTheQueue } from '../kernel/turn/fact-records.ts';

export interface Indexes {
  scheduler: Scheduler;
  deadlines: DeadlineQueue;
  crowded: CrowdedRunners;
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

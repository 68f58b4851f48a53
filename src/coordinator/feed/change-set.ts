/**
 * The changes of a committed group, sorted by subject. Made once for each group; every topic of the feed selects its rows from
 * it.
 */
import type { BatchContext } from '../../../machines/batch.ts';
import type { JobContext } from '../../../machines/job-context.ts';
import type { MachineName } from '../../../machines/kinds.ts';
import type { Fact } from '../../../machines/protocol.ts';
import type { JobStatus, RoundEvent, Uuid } from '../../contract/types.ts';
import type { JobState } from '../kernel/actors/actor-kinds.ts';
import type { Commit } from '../kernel/turn/actor-transition.ts';
import type { ActorTransition } from '../kernel/turn/actor-transition.ts';
import type { CompletedRound } from '../rounds/round-progress.ts';

/** The changed jobs of one batch with their latest state; undefined: the state must be read from the store. */
export type ChangedJobs = ReadonlyMap<Uuid, JobState | undefined>;

export interface ChangeSet {
  /** Batches with a change of their own, of a job, or of the batches that came of them; not the deleted ones. */
  readonly batches: ReadonlySet<Uuid>;
  /** Changed jobs by batch. */
  readonly jobs: ReadonlyMap<Uuid, ChangedJobs>;
  /** Batches whose untouched runs were cancelled by number, without a fact each. */
  readonly cancelledBatches: ReadonlySet<Uuid>;
  readonly deletedBatches: ReadonlySet<Uuid>;
  /** Rounds that were appended, then those of which the last run has ended. */
  readonly rounds: readonly ChangedRound[];
  readonly runners: ReadonlySet<string>;
  readonly forgottenRunners: ReadonlySet<string>;
  /** Every event that an actor took, in order. */
  readonly transitions: readonly ActorTransition[];
  readonly facts: readonly Fact[];
}

export interface ChangedRound extends RoundEvent {
  batchId: Uuid;
}

/** `completed`: the rounds of which the group has ended the last run. */
export function changeSetOf({ facts, transitions }: Commit, completed: readonly CompletedRound[] = []): ChangeSet {
  const rounds: ChangedRound[] = [];
  const batches = new Set<Uuid>();
  const jobs = new Map<Uuid, Map<Uuid, JobState | undefined>>();
  const cancelledBatches = new Set<Uuid>();
  const deletedBatches = new Set<Uuid>();
  const forgottenRunners = new Set<string>();
  for (const fact of facts) {
    if (fact.type === 'runner.forgotten') forgottenRunners.add(fact.runnerId);
    if (!('batchId' in fact)) continue;
    if (fact.type === 'batch.deleted') deletedBatches.add(fact.batchId);
    else batches.add(fact.batchId);
    if (fact.type === 'batch.appended') {
      const { batchId, round, firstRunId, count } = fact;
      rounds.push({ event: 'round-appended', batchId, round, first_run_id: firstRunId, count });
    }
    if (fact.type === 'batch.cancelling') cancelledBatches.add(fact.batchId);
    if ('jobId' in fact) jobsOf(jobs, fact.batchId).set(fact.jobId, undefined);
  }
  const runners = new Set<string>();
  for (const { kind, id, event, to, context } of transitions) {
    if (kind === 'runner') runners.add(id);
    // A new batch is listed by the batch that it came of.
    const { parent } = context as Partial<BatchContext>;
    if (kind === 'batch' && event === undefined && parent !== undefined) batches.add(parent.batchId);
    if (kind !== 'job') continue;
    const job = context as JobContext;
    const changed = jobs.get(job.batchId);
    if (changed?.has(id) === true) changed.set(id, { value: to as JobStatus, context: job });
  }
  for (const { batchId, round, first, count } of completed)
    rounds.push({ event: 'round-complete', batchId, round, first_run_id: first, count });
  for (const id of deletedBatches) batches.delete(id);
  return { batches, jobs, cancelledBatches, deletedBatches, rounds, runners, forgottenRunners, transitions, facts };
}

function jobsOf(jobs: Map<Uuid, Map<Uuid, JobState | undefined>>, batchId: Uuid): Map<Uuid, JobState | undefined> {
  let changed = jobs.get(batchId);
  if (changed === undefined) jobs.set(batchId, (changed = new Map()));
  return changed;
}

/** The events that one actor took, in order. */
export const transitionsOf = ({ transitions }: ChangeSet, kind: MachineName, id: string): ActorTransition[] =>
  transitions.filter((it) => it.kind === kind && it.id === id);

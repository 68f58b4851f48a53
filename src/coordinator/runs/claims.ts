/** Claims: a runner asks for work and gets it at once, as soon as there is some, or nothing after its waiting time. */
import type { Abandoned } from '../../base/abandonment.ts';
import { freeCapacityOf, waitingOf } from '../../domain/scheduling.ts';
import type { Assignment, AttemptRef, ClaimRequest, ClaimResponse, Uuid } from '../../contract/types.ts';
import type { BatchContext } from '../../../machines/batch.ts';
import type { Core } from '../core.ts';
import type { RunAssignment } from '../scheduling/scheduler.ts';
import type { WorkRequest } from '../scheduling/work-request.ts';
import type { Study } from '../kernel/records/study-cache.ts';
import { toJob } from '../kernel/records/to-resource.ts';
import type { RunnerState } from '../kernel/actors/actor-kinds.ts';
import type { Turn } from '../kernel/turn/turn.ts';
import { uploads } from '../files/run-place.ts';
import { batchOrThrow, jobOrThrow } from '../studies/cancel.ts';
import { recordContact, runnerOrThrow } from '../pool/runners.ts';
import { reassign } from './waiting-runs.ts';

const NOTHING: ClaimResponse = { assignments: [], batches: {} };

/** Waits up to `wait_seconds` for work. After `abandoned` (the client has disconnected) nothing is claimed for it. */
export async function claim(
  core: Core,
  runnerId: string,
  request: ClaimRequest,
  abandoned?: Abandoned,
): Promise<ClaimResponse> {
  const { instance, max_jobs: maxJobs, ahead = 0, wait_seconds: waitSecs = 0, holding } = request;
  const { value, written } = core.turns.runNow('claim', (turn) => {
    // A claim without `slots_lost` reports no change.
    const { slotsLost } = runnerOrThrow(turn, runnerId).context;
    recordContact(turn, runnerId, slotsLost === undefined ? request : { slots_lost: slotsLost, ...request });
    turn.deliverFacts();
    core.longPolls.noteRequest(runnerId);
    const again = unacknowledged(turn, runnerId, holding ?? []).slice(0, maxJobs);
    const workRequest = workRequestOf(runnerOrThrow(turn, runnerId), maxJobs - again.length, ahead);
    const picks = workRequest === undefined ? [] : core.scheduler.plan([workRequest], turn.now);
    const assigned = apply(turn, picks);
    const moved = workRequest === undefined ? [] : reassign(core, turn, [workRequest]);
    return answer(core, turn, [...again, ...assigned, ...moved.map((it) => it.jobId)]);
  });
  await written;
  if (value.assignments.length > 0 || waitSecs === 0 || maxJobs === 0) return value;
  const answered = core.longPolls.wait({ runnerId, instance, maxJobs, ahead }, waitSecs * 1000, NOTHING, abandoned);
  // Work that arrived while the contact was being written did not find this poll.
  servePendingPolls(core).catch(() => {
    // The turn or the failed write has reported the error; pending polls keep waiting.
  });
  return answered;
}

/** Assigns available work to pending polls. Called when work or capacity may have become available. */
export async function servePendingPolls(core: Core): Promise<void> {
  if (core.longPolls.size === 0 || (!core.scheduler.hasWork && core.crowded.size === 0)) return;
  const { value, written } = core.turns.runNow('serve-waiting', (turn) => {
    const picks = core.scheduler.plan(pendingWorkRequests(core, turn, new Map()), turn.now);
    apply(turn, picks);
    turn.deliverFacts();
    const moved = reassign(core, turn, pendingWorkRequests(core, turn, jobsByRunner(picks)));
    turn.deliverFacts();
    return [...jobsByRunner([...withoutMoved(picks, moved), ...moved])].map(([runnerId, jobIds]) => ({
      runnerId,
      response: answer(core, turn, jobIds),
    }));
  });
  // Removed only now: after a rollback the polls must keep waiting.
  const served = value.map(({ runnerId, response }) => ({ waiter: core.longPolls.take(runnerId), response }));
  try {
    await written;
  } catch (error) {
    for (const { waiter } of served) waiter?.answer(NOTHING);
    throw error;
  }
  for (const { waiter, response } of served) waiter?.answer(response);
}

/** @param assigned jobs assigned in this turn, which count against the limits of the polls. */
function* pendingWorkRequests(
  core: Core,
  turn: Turn,
  assigned: ReadonlyMap<string, readonly Uuid[]>,
): Iterable<WorkRequest> {
  for (const waiter of core.longPolls.pending()) {
    const state = turn.state('runner', waiter.runnerId);
    if (state === undefined || state.context.instance !== waiter.instance) continue;
    const left = waiter.maxJobs - (assigned.get(waiter.runnerId)?.length ?? 0);
    const workRequest = workRequestOf(state, left, waiter.ahead);
    if (workRequest !== undefined) yield workRequest;
  }
}

/**
 * Returns a runner as a work request; undefined when it is drained, silent or full.
 * @param ahead how many runs may wait on it.
 */
export function workRequestOf(
  { value, context }: RunnerState,
  maxJobs: number,
  ahead: number,
): WorkRequest | undefined {
  if (value !== 'Idle' && value !== 'Busy') return undefined;
  const { capabilities, held, slotsLost, runnerId, endsAtMs } = context;
  const capacity = freeCapacityOf(capabilities, held, slotsLost);
  const moreAhead = ahead === 0 ? 0 : Math.max(0, ahead - waitingOf(capabilities, held).length);
  if (maxJobs <= 0 || (capacity.slots <= 0 && moreAhead === 0)) return undefined;
  return { runnerId, capabilities, capacity, maxJobs, ahead: moreAhead, endsAtMs };
}

/** Returns claimed jobs that the runner does not name: it never received the reply that assigned them. */
function unacknowledged(turn: Turn, runnerId: string, holding: readonly AttemptRef[]): Uuid[] {
  const named = new Set(holding.map((it) => it.job_id));
  const { held } = runnerOrThrow(turn, runnerId).context;
  return held.map((it) => it.jobId).filter((it) => !named.has(it) && turn.state('job', it)?.value === 'Claimed');
}

function apply(turn: Turn, picks: readonly RunAssignment[]): Uuid[] {
  for (const { runnerId, jobId, index } of picks) {
    const { now } = turn;
    const type = 'CLAIM';
    turn.send('job', jobId, index === undefined ? { type, runnerId, now } : { type, runnerId, index, now });
  }
  return picks.map((it) => it.jobId);
}

/** A run that would wait on one runner may be given to another in the same turn: it is the second one's alone. */
function withoutMoved(picks: readonly RunAssignment[], moved: readonly RunAssignment[]): readonly RunAssignment[] {
  if (moved.length === 0) return picks;
  const jobIds = new Set(moved.map((it) => it.jobId));
  return picks.filter((it) => !jobIds.has(it.jobId));
}

function jobsByRunner(picks: readonly RunAssignment[]): Map<string, Uuid[]> {
  const byRunner = new Map<string, Uuid[]>();
  for (const { runnerId, jobId } of picks) {
    const jobIds = byRunner.get(runnerId);
    if (jobIds === undefined) byRunner.set(runnerId, [jobId]);
    else jobIds.push(jobId);
  }
  return byRunner;
}

function answer(core: Core, turn: Turn, jobIds: readonly Uuid[]): ClaimResponse {
  const assignments: Assignment[] = [];
  const batches: ClaimResponse['batches'] = {};
  // Neighbours are mostly of one study.
  let latest: { batchId: Uuid; study: Study } | undefined;
  for (const jobId of jobIds) {
    const job = jobOrThrow(turn, jobId);
    const { batchId, attempt } = job.context;
    if (latest?.batchId !== batchId) {
      const { context } = batchOrThrow(turn, batchId);
      const study = core.studyCache.of(context);
      batches[batchId] ??= batchOf(core, context, study);
      latest = { batchId, study };
    }
    assignments.push({ job: toJob(job, latest.study), attempt });
  }
  return { assignments, batches };
}

function batchOf(core: Core, { priority = 0 }: BatchContext, study: Study): ClaimResponse['batches'][string] {
  const { config } = study.submission;
  return {
    config,
    ...(priority === 0 ? {} : { priority }),
    ...(uploads(core, config) ? { uploads: true } : {}),
  };
}

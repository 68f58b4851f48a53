/** Claims: a runner asks for work and gets it at once, as soon as there is some, or nothing after its waiting time. */
import type { Abandoned } from '../../base/abandonment.ts';
import type { Assignment, AttemptRef, ClaimRequest, ClaimResponse, Uuid } from '../../contract/types.ts';
import type { BatchContext } from '../../../machines/batch.ts';
import { isDamage } from '../../domain/errors.ts';
import { isByProgram } from '../../domain/extraction/submission.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import type { RunAssignment, Scheduler } from '../scheduling/scheduler.ts';
import { type WorkRequest, workRequestOf } from '../scheduling/work-request.ts';
import type { Study, StudyCache } from '../kernel/records/study-cache.ts';
import { toJob } from '../kernel/records/to-resource.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import { runnersToLook, takeOrClaim, takesResults, type ReuseParts } from '../reuse/take-results.ts';
import { uploads, type ObjectStorePart } from '../files/run-place.ts';
import { cancelUnreadable } from './lost-rows.ts';
import { reassign, type WaitingParts } from './waiting-runs.ts';
import type { LongPolls } from '../scheduling/long-polls.ts';
import { batchOrThrow, jobOrThrow, runnerOrThrow } from '../kernel/records/lookup.ts';
import { recordContact } from './contact.ts';

/** The parts of the assignment of runs. */
export interface ClaimParts extends WaitingParts, ObjectStorePart, ReuseParts {
  turns: Turns;
  scheduler: Scheduler;
  longPolls: LongPolls<ClaimResponse>;
  studyCache: StudyCache;
}

const NOTHING: ClaimResponse = { assignments: [], batches: {} };

/** Waits up to `wait_seconds` for work. After `abandoned` (the client has disconnected) nothing is claimed for it. */
export async function claim(
  parts: ClaimParts,
  runnerId: string,
  request: ClaimRequest,
  abandoned?: Abandoned,
): Promise<ClaimResponse> {
  const response = await workFor(parts, runnerId, request, abandoned);
  if (response.assignments.length === 0 && abandoned?.aborted !== true) parts.longPolls.noteEmptyAnswer(runnerId);
  return response;
}

async function workFor(
  parts: ClaimParts,
  runnerId: string,
  request: ClaimRequest,
  abandoned: Abandoned | undefined,
): Promise<ClaimResponse> {
  const { instance, max_jobs: maxJobs, ahead = 0, wait_seconds: waitSecs = 0, holding } = request;
  let mustLook = false;
  const { value, written } = parts.turns.runNow('claim', (turn) => {
    // A claim without `slots_lost` reports no change.
    const { slotsLost } = runnerOrThrow(turn, runnerId).context;
    recordContact(turn, runnerId, slotsLost === undefined ? request : { slots_lost: slotsLost, ...request });
    turn.deliverFacts();
    parts.longPolls.noteRequest(runnerId);
    const again = unacknowledged(turn, runnerId, holding ?? []).slice(0, maxJobs);
    const workRequest = workRequestOf(runnerOrThrow(turn, runnerId), maxJobs - again.length, ahead);
    if (workRequest === undefined) return answer(parts, turn, again);
    const picks = parts.scheduler.plan([workRequest], turn.now);
    mustLook = runnersToLook(parts.longPolls, turn, picks).size > 0;
    // Without other runs: the next claim comes at once, and is given all of them.
    if (mustLook) return answer(parts, turn, again);
    const claimed = assign(parts, turn, picks, (left) => {
      const further = workRequestOf(runnerOrThrow(turn, runnerId), maxJobs - again.length - left.length, ahead);
      return further === undefined ? [] : [further];
    });
    const moved = reassign(parts, turn, [workRequest]);
    return answer(parts, turn, [...again, ...[...claimed, ...moved].map((it) => it.jobId)]);
  });
  parts.taking.end(written);
  await written;
  if (mustLook || value.assignments.length > 0 || waitSecs === 0 || maxJobs === 0) return value;
  const answered = parts.longPolls.wait({ runnerId, instance, maxJobs, ahead }, waitSecs * 1000, NOTHING, abandoned);
  // Work that arrived while the contact was being written did not find this poll.
  servePendingPolls(parts).catch(() => {
    // The turn or the failed write has reported the error; pending polls keep waiting.
  });
  return answered;
}

/** Assigns available work to pending polls. Called when work or capacity may have become available. */
export async function servePendingPolls(parts: ClaimParts): Promise<void> {
  if (parts.longPolls.size === 0 || (!parts.scheduler.hasWork && parts.crowded.size === 0)) return;
  const { value, written } = parts.turns.runNow('serve-waiting', (turn) => {
    const { ready, looking } = planPending(parts, turn);
    const requests = (claimed: readonly RunAssignment[]): Iterable<WorkRequest> =>
      pendingWorkRequests(parts, turn, jobsByRunner(claimed), looking);
    const picks = assign(parts, turn, ready, requests);
    turn.deliverFacts();
    const moved = reassign(parts, turn, requests(picks));
    turn.deliverFacts();
    const answers = [...jobsByRunner([...withoutMoved(picks, moved), ...moved])].map(([runnerId, jobIds]) => ({
      runnerId,
      response: answer(parts, turn, jobIds),
    }));
    // A poll whose runs were cancelled instead keeps waiting.
    const served = answers.filter(({ response }) => response.assignments.length > 0);
    return [...served, ...[...looking].map((runnerId) => ({ runnerId, response: NOTHING }))];
  });
  parts.taking.end(written);
  // Removed only now: after a rollback the polls must keep waiting.
  const served = value.map(({ runnerId, response }) => ({ waiter: parts.longPolls.take(runnerId), response }));
  try {
    await written;
  } catch (error) {
    for (const { waiter } of served) waiter?.answer(NOTHING);
    throw error;
  }
  for (const { waiter, response } of served) waiter?.answer(response);
}

/** The runs for the polls of runners that need not look at their code first. Planned without the others: a run left out of a plan would be lost. */
function planPending(parts: ClaimParts, turn: Turn): { ready: RunAssignment[]; looking: ReadonlySet<string> } {
  const looking = new Set<string>();
  for (;;) {
    const ready = parts.scheduler.plan(pendingWorkRequests(parts, turn, new Map(), looking), turn.now);
    const more = runnersToLook(parts.longPolls, turn, ready);
    if (more.size === 0) return { ready, looking };
    for (const runnerId of more) looking.add(runnerId);
  }
}

/**
 * @param assigned jobs assigned in this turn, which count against the limits of the polls
 * @param except runners that get nothing in this turn
 */
function* pendingWorkRequests(
  parts: ClaimParts,
  turn: Turn,
  assigned: ReadonlyMap<string, readonly Uuid[]>,
  except?: ReadonlySet<string>,
): Iterable<WorkRequest> {
  for (const waiter of parts.longPolls.pending()) {
    if (except?.has(waiter.runnerId) === true) continue;
    const state = turn.state('runner', waiter.runnerId);
    if (state === undefined || state.context.instance !== waiter.instance) continue;
    const left = waiter.maxJobs - (assigned.get(waiter.runnerId)?.length ?? 0);
    const workRequest = workRequestOf(state, left, waiter.ahead);
    if (workRequest !== undefined) yield workRequest;
  }
}

/** Returns claimed jobs that the runner does not name: it never received the reply that assigned them. */
function unacknowledged(turn: Turn, runnerId: string, holding: readonly AttemptRef[]): Uuid[] {
  const named = new Set(holding.map((it) => it.job_id));
  const { held } = runnerOrThrow(turn, runnerId).context;
  return held.map((it) => it.jobId).filter((it) => !named.has(it) && turn.state('job', it)?.value === 'Claimed');
}

/**
 * Ends the assigned runs whose results are known, and claims the others. The capacity that such runs leave is given to other studies:
 * `more` returns the requests for it. Returns the claimed runs.
 */
function assign(
  parts: ClaimParts,
  turn: Turn,
  picks: readonly RunAssignment[],
  more: (claimed: readonly RunAssignment[]) => Iterable<WorkRequest>,
): readonly RunAssignment[] {
  const open = takeOrClaim(parts, turn, picks, (pick) => claimOne(parts, turn, pick));
  if (open.length === picks.length) return open;
  turn.deliverFacts();
  const except = new Set(picks.map((it) => batchIdOf(it.jobId)));
  const others = parts.scheduler.plan(more(open), turn.now, except);
  // The other studies may have known results, too: the next turn finds these.
  const claimed = others.filter((it) => !takesResults(turn, it) && claimOne(parts, turn, it));
  return [...open, ...claimed];
}

/** False for a run whose record is missing or damaged. It is set aside: it must not keep all others from the pool. */
function claimOne({ scheduler }: ClaimParts, turn: Turn, { runnerId, jobId, index }: RunAssignment): boolean {
  const { now } = turn;
  const type = 'CLAIM';
  try {
    turn.send('job', jobId, index === undefined ? { type, runnerId, now } : { type, runnerId, index, now });
    return true;
  } catch (error) {
    if (!isDamage(error)) throw error;
    scheduler.setAside(batchIdOf(jobId), runIdOf(jobId));
    return false;
  }
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

/** The study of a batch; undefined where its submission is missing or damaged. */
function studyOf({ studyCache }: ClaimParts, turn: Turn, batchId: Uuid): Study | undefined {
  try {
    return studyCache.of(batchOrThrow(turn, batchId).context);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** The answer with the runs that can be executed. Those without a row are cancelled, those without their submission given back. */
function answer(parts: ClaimParts, turn: Turn, jobIds: readonly Uuid[]): ClaimResponse {
  const assignments: Assignment[] = [];
  const batches: ClaimResponse['batches'] = {};
  // Neighbours are mostly of one study.
  let latest: { batchId: Uuid; study: Study | undefined } | undefined;
  for (const jobId of jobIds) {
    const job = jobOrThrow(turn, jobId);
    const { batchId, attempt, runnerId } = job.context;
    if (latest?.batchId !== batchId) latest = { batchId, study: studyOf(parts, turn, batchId) };
    const { study } = latest;
    if (study === undefined) {
      turn.send('job', jobId, { type: 'UNCLAIM', runnerId: runnerId!, attempt, now: turn.now });
      continue;
    }
    if (cancelUnreadable(turn, study, job.context)) continue;
    batches[batchId] ??= batchOf(parts, batchOrThrow(turn, batchId).context, study);
    const extraction = study.extraction === undefined ? {} : { extraction: true };
    assignments.push({ job: toJob(job, study), attempt, ...extraction });
  }
  return { assignments, batches };
}

function batchOf(parts: ClaimParts, { priority = 0 }: BatchContext, study: Study): ClaimResponse['batches'][string] {
  const { config } = study.submission;
  return {
    config,
    ...(priority === 0 ? {} : { priority }),
    // A run that the runner itself computes leaves no files.
    ...((study.extraction === undefined || isByProgram(config)) && uploads(parts, config) ? { uploads: true } : {}),
  };
}

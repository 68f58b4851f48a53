/** Claims: a runner asks for work and gets it at once, as soon as there is some, or nothing after its waiting time. */
import type { Abandoned } from '../../base/abandonment.ts';
import type { ClaimRequest, ClaimResponse, Uuid } from '../../contract/types.ts';
import { CLAIMED_AT_ONCE } from '../../domain/rules.ts';
import type { RunAssignment } from '../scheduling/scheduler.ts';
import { workRequestOf } from '../scheduling/work-request.ts';
import type { Turn } from '../kernel/turn/turn.ts';
import { runnersToLook } from '../reuse/take-results.ts';
import { runnerOrThrow, sameInstanceOrThrow } from '../kernel/records/lookup.ts';
import { answer, assign, type AssignParts } from './assign.ts';
import { recordContact } from './contact.ts';
import type { PendingPolls } from './pending-polls.ts';
import { reassign } from './waiting-runs.ts';

interface ClaimParts extends AssignParts {
  pendingPolls: PendingPolls;
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
  const { instance, max_jobs: maxJobs, ahead = 0, wait_seconds: waitSecs = 0 } = request;
  const { assignments, batches, mustLook } = await workNow(parts, runnerId, request);
  if (mustLook || assignments.length > 0 || waitSecs === 0 || maxJobs === 0) return { assignments, batches };
  const answered = parts.longPolls.wait({ runnerId, instance, maxJobs, ahead }, waitSecs * 1000, NOTHING, abandoned);
  // Work that arrived while the contact was being written did not find this poll.
  parts.pendingPolls.schedule();
  return answered;
}

interface Work extends ClaimResponse {
  /** The runner has to look at its code, and to claim again. */
  mustLook: boolean;
}

/** The runs that the runner can have at once, on the disk: claimed in turns of a limited number of runs. */
async function workNow(parts: ClaimParts, runnerId: string, request: ClaimRequest): Promise<Work> {
  const work: Work = { assignments: [], batches: {}, mustLook: false };
  /** The runs that the runner knows, or will know by the answer. */
  const named = new Set((request.holding ?? []).map((it) => it.job_id));
  for (;;) {
    const { value, written } = parts.turns.runNow('claim', (turn) => {
      if (work.assignments.length > 0) sameInstanceOrThrow(runnerOrThrow(turn, runnerId), request.instance);
      else noteContact(parts, turn, runnerId, request);
      const most = Math.min(CLAIMED_AT_ONCE, request.max_jobs - work.assignments.length);
      return claimSome(parts, turn, runnerId, request, { most, named });
    });
    parts.taking.end(written);
    await written;
    const { assignments, batches, mustLook } = value;
    work.assignments.push(...assignments);
    for (const { job } of assignments) named.add(job.id);
    Object.assign(work.batches, batches);
    work.mustLook ||= mustLook;
    const isLast = assignments.length < CLAIMED_AT_ONCE || work.assignments.length >= request.max_jobs;
    if (isLast || mustLook) return work;
  }
}

/** Once for a claim: a run that its answer will name is not missing. */
function noteContact(parts: ClaimParts, turn: Turn, runnerId: string, request: ClaimRequest): void {
  // A claim without `slots_lost` reports no change.
  const { slotsLost } = runnerOrThrow(turn, runnerId).context;
  recordContact(turn, runnerId, slotsLost === undefined ? request : { slots_lost: slotsLost, ...request });
  turn.deliverFacts();
  parts.longPolls.noteRequest(runnerId);
}

function claimSome(
  parts: ClaimParts,
  turn: Turn,
  runnerId: string,
  { ahead = 0, wait_seconds: waitSecs = 0 }: ClaimRequest,
  { most, named }: { most: number; named: ReadonlySet<Uuid> },
): Work {
  const again = unacknowledged(turn, runnerId, named).slice(0, most);
  const answered = (claimed: readonly RunAssignment[], mustLook: boolean): Work => ({
    ...answer(parts, turn, [...again, ...claimed.map((it) => it.jobId)]),
    mustLook,
  });
  const workRequest = workRequestOf(runnerOrThrow(turn, runnerId), most - again.length, ahead);
  const isAfterOthers = waitSecs > 0 && parts.pendingPolls.isGiving;
  if (workRequest === undefined || isAfterOthers) return answered([], false);
  const picks = parts.scheduler.plan([workRequest], turn.now);
  // Without other runs: the next claim comes at once, and is given all of them.
  if (runnersToLook(parts.longPolls, turn, picks).size > 0) return answered([], true);
  const claimed = assign(parts, turn, picks, (left) => {
    const further = workRequestOf(runnerOrThrow(turn, runnerId), most - again.length - left.length, ahead);
    return further === undefined ? [] : [further];
  });
  const moved = reassign(parts, turn, [workRequest]);
  return answered([...claimed, ...moved], false);
}

/** Returns claimed jobs that the runner does not name: it never received the reply that assigned them. */
function unacknowledged(turn: Turn, runnerId: string, named: ReadonlySet<Uuid>): Uuid[] {
  const { held } = runnerOrThrow(turn, runnerId).context;
  return held.map((it) => it.jobId).filter((it) => !named.has(it) && turn.state('job', it)?.value === 'Claimed');
}

/** Runs that wait on a runner for a slot: given to a runner that could start them, or taken back. No run that has started is. */
import { batchIdOf } from '../../domain/ids.ts';
import type { Uuid } from '../../contract/types.ts';
import type { WaitingRun, WaitingSources, CrowdedRunners } from '../scheduling/crowded-runners.ts';
import { isInTime } from '../scheduling/run-length.ts';
import type { RunAssignment, Scheduler } from '../scheduling/scheduler.ts';
import { type WorkRequest } from '../scheduling/work-request.ts';
import type { Turn } from '../kernel/turn/turn.ts';
import type { Statistics } from '../scheduling/statistics.ts';

export interface WaitingParts {
  crowded: CrowdedRunners;
  statistics: Statistics;
}

/** Parts that move runs to another runner. */
export interface MovingParts extends WaitingParts {
  scheduler: Pick<Scheduler, 'allows'>;
}

/** Assigns runs that wait on other runners to requests that can start them now. Returns the new assignments. */
export function reassign(parts: MovingParts, turn: Turn, requests: Iterable<WorkRequest>): RunAssignment[] {
  const moves = parts.crowded.reassign(requests, {
    ...waitingSources(parts, turn),
    isAllowed: (batch, capabilities) => parts.scheduler.allows(batch, capabilities),
  });
  for (const { run, to } of moves) {
    unclaim(turn, run);
    turn.send('job', run.jobId, { type: 'CLAIM', runnerId: to, now: turn.now });
  }
  return moves.map(({ run, to }) => ({ runnerId: to, jobId: run.jobId }));
}

/** Takes back the runs that wait on a runner, or those of one batch on all runners. */
export function takeBack(parts: WaitingParts, turn: Turn, which: { runnerId: string } | { batchId: Uuid }): void {
  const { crowded } = parts;
  if (crowded.size === 0) return;
  const sources = waitingSources(parts, turn);
  const runs = 'runnerId' in which ? crowded.waitingOn(which.runnerId, sources) : crowded.waiting(sources);
  for (const run of runs) if (!('batchId' in which) || batchIdOf(run.jobId) === which.batchId) unclaim(turn, run);
}

function unclaim(turn: Turn, { jobId, runnerId, attempt }: WaitingRun): void {
  turn.send('job', jobId, { type: 'UNCLAIM', runnerId, attempt, now: turn.now });
}

const waitingSources = ({ statistics }: WaitingParts, turn: Turn): WaitingSources => ({
  runner: (runnerId) => turn.state('runner', runnerId)?.context,
  isClaimed: (jobId) => turn.state('job', jobId)?.value === 'Claimed',
  batchOf: (jobId) => turn.state('batch', batchIdOf(jobId))?.context,
  isInTime: (batch, endsAtMs) => isInTime(statistics, batch, turn.now, endsAtMs),
});

/** The assignment of planned runs within a turn, and the answers of the claims that get them. */
import type { Assignment, ClaimResponse, Uuid } from '../../contract/types.ts';
import type { BatchContext } from '../../../machines/batch.ts';
import { isDamage } from '../../domain/errors.ts';
import { isByProgram } from '../../domain/extraction/submission.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { CLAIMED_AT_ONCE } from '../../domain/rules.ts';
import type { RunAssignment, Scheduler } from '../scheduling/scheduler.ts';
import type { WorkRequest } from '../scheduling/work-request.ts';
import type { Study, StudyCache } from '../kernel/records/study-cache.ts';
import { toJob } from '../kernel/records/to-resource.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import { takeOrClaim, takesResults, type ReuseParts } from '../reuse/take-results.ts';
import { uploads, type ObjectStorePart } from '../files/run-place.ts';
import { cancelUnreadable } from './lost-rows.ts';
import type { MovingParts } from './waiting-runs.ts';
import type { LongPolls } from '../scheduling/long-polls.ts';
import { batchOrThrow, jobOrThrow } from '../kernel/records/lookup.ts';

/** The parts of the assignment of runs. */
export interface AssignParts extends MovingParts, ObjectStorePart, ReuseParts {
  turns: Turns;
  scheduler: Scheduler;
  longPolls: LongPolls<ClaimResponse>;
  studyCache: StudyCache;
}

/**
 * Ends the assigned runs whose results are known, and claims the others. The capacity that such runs leave is given to other studies:
 * `more` returns the requests for it. Returns the claimed runs.
 */
export function assign(
  parts: AssignParts,
  turn: Turn,
  picks: readonly RunAssignment[],
  more: (claimed: readonly RunAssignment[]) => Iterable<WorkRequest>,
): readonly RunAssignment[] {
  const open = takeOrClaim(parts, turn, picks, (pick) => claimOne(parts, turn, pick));
  if (open.length === picks.length) return open;
  turn.deliverFacts();
  const except = new Set(picks.map((it) => batchIdOf(it.jobId)));
  const others = parts.scheduler.plan(more(open), turn.now, { except, most: CLAIMED_AT_ONCE });
  // The other studies may have known results, too: the next turn finds these.
  const claimed = others.filter((it) => !takesResults(turn, it) && claimOne(parts, turn, it));
  return [...open, ...claimed];
}

/** False for a run whose record is missing or damaged. It is set aside: it must not keep all others from the pool. */
function claimOne({ scheduler }: AssignParts, turn: Turn, { runnerId, jobId, index }: RunAssignment): boolean {
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
export function withoutMoved(
  picks: readonly RunAssignment[],
  moved: readonly RunAssignment[],
): readonly RunAssignment[] {
  if (moved.length === 0) return picks;
  const jobIds = new Set(moved.map((it) => it.jobId));
  return picks.filter((it) => !jobIds.has(it.jobId));
}

export function jobsByRunner(picks: readonly RunAssignment[]): Map<string, Uuid[]> {
  const byRunner = new Map<string, Uuid[]>();
  for (const { runnerId, jobId } of picks) {
    const jobIds = byRunner.get(runnerId);
    if (jobIds === undefined) byRunner.set(runnerId, [jobId]);
    else jobIds.push(jobId);
  }
  return byRunner;
}

/** The study of a batch; undefined where its submission is missing or damaged. */
function studyOf({ studyCache }: AssignParts, turn: Turn, batchId: Uuid): Study | undefined {
  try {
    return studyCache.of(batchOrThrow(turn, batchId).context);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** The answer with the runs that can be executed. Those without a row are cancelled, those without their submission given back. */
export function answer(parts: AssignParts, turn: Turn, jobIds: readonly Uuid[]): ClaimResponse {
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

function batchOf(parts: AssignParts, { priority = 0 }: BatchContext, study: Study): ClaimResponse['batches'][string] {
  const { config } = study.submission;
  return {
    config,
    ...(priority === 0 ? {} : { priority }),
    // A run that the runner itself computes leaves no files.
    ...((study.extraction === undefined || isByProgram(config)) && uploads(parts, config) ? { uploads: true } : {}),
  };
}

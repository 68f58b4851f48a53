/**
 * Evaluates points: the rows of a request that no round of the study has are appended as one round, and the answer has the results of all
 * its rows. The look-up and the append are one turn, so a point is executed once, however many clients ask for it and however often.
 */
import type { Abandoned } from '../../base/abandonment.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { AppendedRound, BatchContext, Uuid } from '../../contract/types.ts';
import { LIMITS } from '../../contract/limits.ts';
import { readEvaluationRequest, type EvaluationRequest } from '../../domain/adaptive/evaluation-request.ts';
import { hashesOf, packFresh, planOf, type PackedRows } from '../../domain/adaptive/point-plan.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { Directory } from '../kernel/actors/directory.ts';
import { batchOrThrow } from '../kernel/records/lookup.ts';
import type { StudyCache } from '../kernel/records/study-cache.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import type { KnownPoints, StudyPoints } from './known-points.ts';
import { failedPoints, pointResults, type EvaluationAnswer } from './point-results.ts';
import type { RunEnds } from './run-ends.ts';
import { appended, refuseIfClosed, refuseOwnRounds, storeRound } from './store-round.ts';

interface EvaluateParts {
  turns: Turns;
  directory: Directory;
  store: Store;
  studyCache: StudyCache;
  share: EventLoopShare;
  knownPoints: KnownPoints;
  runEnds: RunEnds;
}

/**
 * Returns the results of the rows once their runs have ended, or the progress after `waitMs`. A repeat appends nothing.
 * @throws SimbatchError `invalid-request` with all faults; `budget-exhausted`, `study-closed`, `not-external`
 */
export async function evaluate(
  parts: EvaluateParts,
  batchId: Uuid,
  body: unknown,
  { waitMs = 0, abandoned }: { waitMs?: number; abandoned?: Abandoned } = {},
): Promise<EvaluationAnswer> {
  const { share, turns } = parts;
  const pause = (): Promise<void> | undefined => share.slice();
  const { rows: design } = parts.studyCache.of(contextOf(parts, batchId));
  if (design === undefined || contextOf(parts, batchId).budget === undefined) {
    throw new SimbatchError(
      'not-external',
      `study ${batchId} has a fixed number of runs; points are for studies with sampling_method: adaptive`,
    );
  }
  refuseOwnRounds(batchId, design);
  const request = await readEvaluationRequest(body, design, pause);
  const hashes = await hashesOf(request.blocks, pause);
  const points = parts.knownPoints.of(batchId, design.names.length);
  for (;;) {
    await catchUp(parts, batchId, points);
    const failed = request.retryFailed ? await failedPoints(parts, batchId, points.index, hashes) : undefined;
    const plan = planOf(points.index, hashes, failed);
    const packed = plan.fresh.length === 0 ? undefined : await packFresh(design, request.blocks, plan, pause);
    const outcome = await turns.run('evaluate', (turn) => {
      const { context } = batchOrThrow(turn, batchId);
      if (!points.advance(context.rounds ?? 0) || !plan.isCurrent(points.index)) return undefined;
      return { round: packed === undefined ? null : append(turn, context, request, packed) };
    });
    // The study has got some of the points meanwhile, or more rows than one step adds to the index.
    if (outcome === undefined) continue;
    const { round } = outcome;
    const runs = plan.runsOf(round?.first_run_id ?? 0);
    return pointResults(parts, batchId, { runs, round, outputs: request.outputs, waitMs, abandoned });
  }
}

const contextOf = ({ directory }: EvaluateParts, batchId: Uuid): BatchContext =>
  batchOrThrow({ state: (kind, id) => directory.state(kind, id) }, batchId).context;

/** Adds all rounds to the index. */
async function catchUp(parts: EvaluateParts, batchId: Uuid, points: StudyPoints): Promise<void> {
  for (;;) {
    const { rounds = 0, totalJobs } = contextOf(parts, batchId);
    if (totalJobs > LIMITS.points) {
      throw new SimbatchError(
        'budget-exhausted',
        `the study has ${totalJobs} runs, and points are looked up among ${LIMITS.points} at most; close it and submit another`,
      );
    }
    if (points.advance(rounds)) return;
    await parts.share.slice();
  }
}

/** Stores the round of the new rows under its digest. */
function append(turn: Turn, context: BatchContext, request: EvaluationRequest, packed: PackedRows): AppendedRound {
  const { batchId, rounds = 0 } = context;
  refuseIfClosed(context, packed.count);
  // Failed points are executed again in a round with the digest of their first one.
  const isTaken = turn.read(keys['round-key'](batchId, packed.digest)) !== undefined;
  const key = isTaken ? `${packed.digest}/${rounds}` : packed.digest;
  const { label, note } = request;
  return { ...appended(storeRound(turn, batchId, { ...packed, key, label, note })), repeated: false };
}

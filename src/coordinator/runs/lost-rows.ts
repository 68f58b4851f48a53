/**
 * Runs of adaptive studies that cannot be executed, because damage to the data directory has lost their rows. They are cancelled when they
 * are claimed, so that they keep no other run from the pool.
 */
import type { JobContext } from '../../../machines/job-context.ts';
import { jobId } from '../../domain/ids.ts';
import type { Study } from '../kernel/records/study-cache.ts';
import type { Turn } from '../kernel/turn/turn.ts';

/** The most runs that are cancelled after a claimed one in the same turn: a few milliseconds. */
const MOST_AT_ONCE = 250;

/** Why the row of a run cannot be read; undefined where it can, and for a study that is not adaptive. */
function faultOf({ sampler }: Study, run: number): string | undefined {
  if (sampler.drawOf === undefined) return undefined;
  try {
    return sampler.drawOf(run) === undefined ? 'its row was lost by damage to the data directory' : undefined;
  } catch (error) {
    return `its row cannot be read: ${(error as Error).message}`;
  }
}

/**
 * Cancels a run whose row cannot be read, and the Pending ones after it of which the same is true: the next claims would meet them one by
 * one. Returns false for a run that can be executed.
 */
export function cancelUnreadable(turn: Turn, study: Study, { batchId, runId }: JobContext): boolean {
  const { now } = turn;
  const first = faultOf(study, runId);
  if (first === undefined) return false;
  turn.send('job', jobId(batchId, runId), { type: 'CANCEL', reason: first, now });
  const { selection } = study;
  let index = selection.indexFrom(runId) + 1;
  for (const end = Math.min(selection.count, index + MOST_AT_ONCE); index < end; index++) {
    const run = selection.nth(index);
    const id = jobId(batchId, run);
    const reason = faultOf(study, run);
    if (reason === undefined || turn.state('job', id)?.value !== 'Pending') break;
    turn.send('job', id, { type: 'CANCEL', reason, now });
  }
  return true;
}

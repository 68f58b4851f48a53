/** The start of a run of a study that pins its code: any other code is refused, and the run is Pending again. */
import { batchIdOf } from '../../domain/ids.ts';
import { shortCode } from '../../domain/code-name.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { isFunctions } from '../../domain/study/function-code.ts';
import type { Report } from '../../contract/types.ts';
import type { JobState } from '../kernel/actors/actor-kinds.ts';
import { batchOrThrow } from '../kernel/records/lookup.ts';
import type { Turn } from '../kernel/turn/turn.ts';

/**
 * Takes the run back from a runner that would execute another code than the pinned one.
 * @throws SimbatchError `code-differs`
 */
export function requirePinnedCode(
  turn: Turn,
  { value, context: c }: JobState,
  runnerId: string,
  { job_id: jobId, attempt, code }: Extract<Report, { type: 'start' }>,
): void {
  const batchId = batchIdOf(jobId);
  const { pinsCode, simulationName } = batchOrThrow(turn, batchId).context;
  // The code of a function comes with its study.
  if (pinsCode === undefined || isFunctions(simulationName)) return;
  if (value !== 'Claimed' || c.attempt !== attempt || c.runnerId !== runnerId) return;
  // An earlier start of the same request may have fixed the code.
  turn.deliverFacts();
  const { pinnedCode } = batchOrThrow(turn, batchId).context;
  if (code !== undefined && (pinnedCode === undefined || code.digest === pinnedCode)) return;
  turn.send('job', jobId, { type: 'UNCLAIM', runnerId, attempt, now: turn.now });
  const own = code === undefined ? 'does not know its code' : `has the code ${shortCode(code.digest)}`;
  const wanted = pinnedCode === undefined ? 'a known code' : `the code ${shortCode(pinnedCode)}`;
  throw new SimbatchError(
    'code-differs',
    `run ${jobId} is not started: its study pins ${wanted}, and runner "${runnerId}" ${own}; restore the code on the runner, or submit without policy.code`,
  );
}

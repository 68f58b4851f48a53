/** Whether an attempt is the current one of its job: only its runner gets addresses for it. */
import type { Uuid } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { JobState } from '../kernel/actors/actor-kinds.ts';

/**
 * @param refused what is refused otherwise, as a sentence
 * @throws SimbatchError `stale-attempt`
 */
export function requireCurrent(
  { value, context }: JobState,
  jobId: Uuid,
  runnerId: string,
  attempt: number,
  refused: string,
): void {
  const isActive = value === 'Claimed' || value === 'Running';
  if (isActive && context.attempt === attempt && context.runnerId === runnerId) return;
  const why = `attempt ${String(attempt)} by runner "${runnerId}" is not its current one; it is ${value}`;
  throw new SimbatchError('stale-attempt', `run ${jobId}: ${refused}: ${why}`);
}

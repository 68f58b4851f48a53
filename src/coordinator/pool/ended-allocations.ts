/** Runners whose allocations have ended, as their launchers report: their runs need not wait for the end of a lease. */
import type { EndedAllocation } from '../../contract/types.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';
import type { Turns } from '../kernel/turn/turn.ts';

export interface EndedParts {
  turns: Turns;
  directory: Pick<Directory, 'runners'>;
}

/**
 * Sends runners that hold runs, or whose runs counted as losses, the ends of their allocations; the machine of a runner decides what that means. A launcher repeats the
 * ends of the last minutes, so an end that arrives before its runner has missed a heartbeat is not lost.
 */
export async function endRunners({ turns, directory }: EndedParts, ended: readonly EndedAllocation[]): Promise<void> {
  if (ended.length === 0) return;
  const ends = new Map(ended.map((it) => [it.allocation, it]));
  const endOf = (allocation: string | undefined): EndedAllocation | undefined =>
    allocation === undefined ? undefined : ends.get(allocation);
  const runners = [...directory.runners.values()].flatMap((it) => {
    const { context } = stateOf(it);
    const isConcerned = context.held.length > 0 || context.lost !== undefined;
    const end = isConcerned ? endOf(context.allocation) : undefined;
    return end === undefined ? [] : [{ runnerId: context.runnerId, end }];
  });
  if (runners.length === 0) return;
  await turns.run('allocations-ended', (turn) => {
    for (const { runnerId, end } of runners)
      turn.trySend('runner', runnerId, {
        type: 'ALLOCATION_ENDED',
        kind: end.end,
        reason: end.reason,
        now: turn.now,
      });
    turn.deliverFacts();
  });
}

/**
 * The quarantine of runners: a runner on which attempts fail while they do not on others gets no new work for an hour, or
 * until it is resumed. Off unless the operator switches it on.
 */
import { failingRunners, LEVEL } from '../../analysis/groups/failing-runners.ts';
import type { FailingRunner } from '../../domain/findings/finding.ts';
import { fits, freeCapacityOf, supports, type ResourceRequest } from '../../domain/scheduling.ts';
import type { Uuid } from '../../contract/types.ts';
import { stateOf } from '../kernel/actors/directory.ts';
import type { Core } from '../core.ts';
import { takeBack } from './waiting-runs.ts';

export const QUARANTINE_MS = 3_600_000;

/** Quarantines the failing runners of the studies of which attempts have ended since the last call. */
export async function quarantineFailing(core: Core): Promise<void> {
  const { quarantine: level } = core.options;
  for (const { batchId, tally } of core.health.takeChanged()) {
    for (const found of failingRunners(tally.runners(), level === true ? LEVEL : Number(level)))
      await quarantine(core, batchId, found);
  }
}

async function quarantine(core: Core, batchId: Uuid, found: FailingRunner): Promise<void> {
  await core.turns.run('quarantine', (turn) => {
    const { runnerId, failed, finished, othersFailed, othersFinished } = found;
    const batch = turn.state('batch', batchId);
    if (batch === undefined || !isOtherAble(core, batch.context, runnerId)) return;
    const reason = `quarantine: ${failed} of its ${finished} attempts failed in batch ${batchId}, and ${othersFailed} of ${othersFinished} on other runners`;
    const event = { type: 'QUARANTINE', reason, untilMs: turn.now + QUARANTINE_MS, now: turn.now } as const;
    // A runner that takes no work now is silent or drained.
    if (!turn.accepts('runner', runnerId, event)) return;
    takeBack(core, turn, { runnerId });
    turn.send('runner', runnerId, event);
    turn.deliverFacts();
  });
}

/** True when another runner takes work of the study: the last one is never quarantined. */
function isOtherAble(core: Core, work: ResourceRequest & { simulationName: string }, notThis: string): boolean {
  for (const activation of core.directory.runners.values()) {
    const { value, context } = stateOf(activation);
    const takesWork = activation.id !== notThis && (value === 'Idle' || value === 'Busy');
    if (!takesWork || !supports(context.capabilities, work.simulationName)) continue;
    if (fits(work, freeCapacityOf(context.capabilities, []))) return true;
  }
  return false;
}

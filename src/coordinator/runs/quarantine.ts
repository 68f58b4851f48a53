/**
 * The quarantine of runners: a runner on which attempts fail while they do not on others gets no new work for an hour, or
 * until it is resumed. Off unless the operator switches it on.
 */
import type { BatchInput } from '../../../machines/batch.ts';
import { failingRunners, LEVEL } from '../../analysis/groups/failing-runners.ts';
import type { FailingRunner } from '../../domain/findings/finding.ts';
import { hasFeatures } from '../../domain/histories/feature.ts';
import { fits, freeCapacityOf, supports, type ResourceRequest } from '../../domain/scheduling.ts';
import type { Uuid } from '../../contract/types.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';
import { takeBack, type WaitingParts } from './waiting-runs.ts';
import type { Turns } from '../kernel/turn/turn.ts';
import type { StudyHealth } from './study-health.ts';

interface QuarantineParts extends WaitingParts {
  turns: Turns;
  directory: Directory;
  health: StudyHealth;
  /** The level of the test; true: that of the finding, false: no runner is quarantined. */
  quarantine: boolean | number;
}

export const QUARANTINE_MS = 3_600_000;

/** Quarantines the failing runners of the studies of which attempts have ended since the last call. */
export async function quarantineFailing(parts: QuarantineParts): Promise<void> {
  const { quarantine: level } = parts;
  if (level === false) return;
  for (const { batchId, tally } of parts.health.takeChanged()) {
    for (const found of failingRunners(tally.runners(), level === true ? LEVEL : level))
      await quarantine(parts, batchId, found);
  }
}

async function quarantine(parts: QuarantineParts, batchId: Uuid, found: FailingRunner): Promise<void> {
  await parts.turns.run('quarantine', (turn) => {
    const { runnerId, failed, finished, othersFailed, othersFinished } = found;
    const batch = turn.state('batch', batchId);
    if (batch === undefined || !isOtherAble(parts, batch.context, runnerId)) return;
    const reason = `quarantine: ${failed} of its ${finished} attempts failed in study ${batchId}, and ${othersFailed} of ${othersFinished} on other runners`;
    const event = { type: 'QUARANTINE', reason, untilMs: turn.now + QUARANTINE_MS, now: turn.now } as const;
    // A runner that takes no work now is silent or drained.
    if (!turn.accepts('runner', runnerId, event)) return;
    takeBack(parts, turn, { runnerId });
    turn.send('runner', runnerId, event);
    turn.deliverFacts();
  });
}

/** True when another runner takes work of the study: the last one is never quarantined. */
function isOtherAble(
  parts: QuarantineParts,
  work: ResourceRequest & Pick<BatchInput, 'simulationName' | 'needs'>,
  notThis: string,
): boolean {
  for (const activation of parts.directory.runners.values()) {
    const { value, context } = stateOf(activation);
    const takesWork = activation.id !== notThis && (value === 'Idle' || value === 'Busy');
    const { capabilities } = context;
    if (!takesWork || !supports(capabilities, work.simulationName) || !hasFeatures(capabilities, work.needs)) continue;
    if (fits(work, freeCapacityOf(capabilities, []))) return true;
  }
  return false;
}

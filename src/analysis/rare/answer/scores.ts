/** The score of a run of a study of rare events: larger is nearer to a violation, NaN where it is unknown. */
import type { UnknownRule } from '../../../contract/enums.ts';
import type { Requirement } from '../../../contract/types.ts';
import { scoreSign } from '../../../domain/study/rare-event/settings.ts';
import { CLASS_CODES } from '../../table/run-class.ts';

/** Returns the score of a run by its class, a place in `RUN_CLASSES`, and its output; undefined for an open run. */
export type ScoreOf = (code: number, value: number, isTelemetryLost: boolean) => number | undefined;

/** The scores under a requirement with an output and a condition. */
export function scoresUnder(requirement: Requirement, unknown: UnknownRule): ScoreOf {
  const sign = scoreSign(requirement);
  const terminated = requirement.terminated === 'unknown' ? Number.NaN : Infinity;
  const failed = unknown === 'violated' ? Infinity : Number.NaN;
  return (code, value, isTelemetryLost) => {
    if (code === CLASS_CODES.open) return undefined;
    if (code === CLASS_CODES.terminated) return terminated;
    if (code === CLASS_CODES.crashed || code === CLASS_CODES.timeout) return failed;
    if (code !== CLASS_CODES.ok || isTelemetryLost || !Number.isFinite(value)) return Number.NaN;
    return sign * value;
  };
}

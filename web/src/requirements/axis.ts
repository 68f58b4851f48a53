/** One axis of shares for the bars of all requirements of a study, so that they can be compared. Pure. */
import type { RequirementVerdict } from '../../../src/contract/types.ts';
import { ticksOf } from '../plots/ticks.ts';

type Judged = Pick<RequirementVerdict, 'lower' | 'upper' | 'probability' | 'estimate'>;

export interface ShareAxis {
  /** True where the axis is of log-odds: a share above 99 % is required. */
  isLogit: boolean;
  /** The place of a share on the axis, from 0 to 1. A share beyond an end is at the end. */
  placeOf(share: number): number;
  /** Shares that are labelled. */
  ticks: number[];
}

/** A required share above it makes the axis one of log-odds. */
const NEAR_ONE = 0.99;
const MOST_TICKS = 3;
const LOGIT_TICKS = [0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];

const logit = (share: number): number => Math.log(share / (1 - share));

/** The axis that shows the required shares, the estimates and the bounds; 0 and 1 are the ends of the one of log-odds. */
export function shareAxis(requirements: readonly Judged[]): ShareAxis {
  const shown = requirements.flatMap(({ lower, probability, estimate }) => [lower, probability, estimate ?? 1]);
  const least = Math.min(1, ...shown);
  const most = Math.max(0, ...requirements.map(({ probability }) => probability));
  if (most <= NEAR_ONE) {
    const from = Math.max(0, least - (1 - least) * 0.1 - 0.001);
    return {
      isLogit: false,
      placeOf: (share) => clamped((share - from) / (1 - from)),
      ticks: ticksOf({ from, to: 1, isLog: false }, MOST_TICKS),
    };
  }
  // A decade of odds beyond the strictest share: 1 itself has no place on this axis.
  const to = 1 - (1 - most) / 10;
  const from = Math.min(0.5, Math.max(0.001, least / 2));
  const [low, high] = [logit(from), logit(to)];
  const labelled = LOGIT_TICKS.filter((it) => it >= from && it <= to);
  const every = Math.ceil(labelled.length / (MOST_TICKS + 1));
  return {
    isLogit: true,
    placeOf: (share) => (share <= 0 ? 0 : share >= 1 ? 1 : clamped((logit(share) - low) / (high - low))),
    ticks: labelled.filter((_, at) => (labelled.length - 1 - at) % every === 0),
  };
}

const clamped = (place: number): number => Math.min(1, Math.max(0, place));

/** One attempt to confirm: draws from a proposal that was fixed before the first of them, and the bounds that follow from them. */
import { lowerByBetting, upperByBetting, type Draws } from './betting.ts';
import type { Point } from './component.ts';
import type { WeightedViolations } from './independent.ts';
import { NOMINAL_SHARE, type Proposal } from './proposal.ts';
import type { RareSettings } from '../../domain/study/rare-event/settings.ts';

/** The shares of the chance of being wrong of both attempts: whichever answers, the sum is the chance at most. */
export const ATTEMPT_SHARES = [0.8, 0.2];
/** The sizes of the bets, relative to the best one. */
const BETS = [0.5, 1, 2];

/** A draw of an attempt. */
export interface ConfirmingDraw {
  weight: number;
  isViolating: boolean;
  isUnknown: boolean;
  isNominal: boolean;
}

/** The bounds of an attempt: `upper` is null where none below the direct one is honest. */
export interface AttemptBounds {
  estimate: number;
  standardError: number | null;
  lower: number;
  upper: number | null;
}

/** Everything that is fixed before the first draw of an attempt. */
interface AttemptPlan {
  settings: RareSettings;
  /** Of the chance of being wrong. */
  share: number;
  proposal: Proposal;
  /** The violating points of the search. */
  found: readonly Point[];
  /** Larger weights are cut for the upper bound. */
  clip: number;
  betsBelow: readonly number[];
  betsAbove: readonly number[];
}

/** Plans an attempt. `number`: 0 or 1. `known`: the weighted violations so far. */
export function attemptOf(
  number: number,
  proposal: Proposal,
  known: WeightedViolations,
  found: readonly Point[],
  settings: RareSettings,
): Attempt {
  const share = ATTEMPT_SHARES[number]!;
  const weights = known.points.map((z) => proposal.weight(z));
  const ofFound = found.map((z) => proposal.weight(z));
  const mean = known.estimate;
  const bySearch = (mean * ofFound.reduce((sum, it) => sum + it, 0)) / ofFound.length;
  const second = known.weights.reduce((sum, v, at) => sum + v * weights[at]!, 0);
  const variance = Math.max(Math.max(second, bySearch) - mean * mean, 0.25 * mean * mean);
  const alpha = share * (1 - settings.confidence);
  const best = Math.sqrt((2 * Math.log(2 / alpha)) / (settings.confirmRuns * variance));
  const largest = [...weights, ...ofFound].reduce((most, it) => Math.max(most, it), 0);
  const clip = Math.min(Math.max(1 / best, 2 * largest), 1 / NOMINAL_SHARE);
  const betsBelow = BETS.map((it) => it * best);
  const betsAbove = BETS.map((it) => Math.min(it * best, 0.9 / clip));
  return new Attempt({ settings, share, proposal, found, clip, betsBelow, betsAbove }, []);
}

export class Attempt {
  readonly #plan: AttemptPlan;
  readonly draws: ConfirmingDraw[];

  constructor(plan: AttemptPlan, draws: readonly ConfirmingDraw[]) {
    this.#plan = plan;
    this.draws = [...draws];
  }

  /** The same attempt with its first `runs` draws, or all, to which others can be added without changing this one. */
  copy(runs = this.draws.length): Attempt {
    return new Attempt(this.#plan, this.draws.slice(0, runs));
  }

  get proposal(): Proposal {
    return this.#plan.proposal;
  }

  get clip(): number {
    return this.#plan.clip;
  }

  /** The chance of a wrong interval, of this attempt. */
  get alpha(): number {
    return this.#plan.share * (1 - this.#plan.settings.confidence);
  }

  /** The share of the found points that the confirmation hardly looks at. */
  get foundOutside(): number {
    return this.#plan.found.filter((z) => this.proposal.weight(z) > this.clip).length / this.#plan.found.length;
  }

  /** The draws that count: without the unknown ones, where the user states that they are unrelated. */
  counted(): ConfirmingDraw[] {
    return this.#plan.settings.unknown === 'unrelated' ? this.draws.filter((it) => !it.isUnknown) : this.draws;
  }

  /** Counts of the draws that count. */
  counts(): { runs: number; hits: number; unknown: number; outside: number; unknownOutside: number } {
    const counted = this.counted();
    const count = (holds: (draw: ConfirmingDraw) => boolean): number => counted.filter(holds).length;
    return {
      runs: counted.length,
      hits: count((it) => it.isViolating),
      unknown: count((it) => it.isUnknown),
      outside: count((it) => it.isViolating && it.weight > this.clip),
      unknownOutside: count((it) => it.isUnknown && it.weight > this.clip),
    };
  }

  /** The bounds with this chance of being wrong, on either side. Null without a draw. */
  bounds(error = this.alpha / 2): AttemptBounds | null {
    const counted = this.counted();
    if (counted.length === 0) return null;
    const low: Draws = {
      positive: counted.flatMap((it) => (it.isViolating ? [it.weight] : [])),
      count: counted.length,
    };
    const high: Draws = {
      positive: counted.flatMap((it) => (it.isViolating || it.isUnknown ? [Math.min(it.weight, this.clip)] : [])),
      count: counted.length,
    };
    const sum = low.positive.reduce((all, it) => all + it, 0);
    const estimate = sum / low.count;
    const squares =
      low.positive.reduce((all, it) => all + (it - estimate) ** 2, 0) +
      (low.count - low.positive.length) * estimate * estimate;
    const { outside, unknownOutside } = this.counts();
    return {
      estimate,
      standardError: low.count < 2 ? null : Math.sqrt(squares / (low.count - 1) / low.count),
      lower: lowerByBetting(low, this.#plan.betsBelow, error),
      upper: outside + unknownOutside > 0 ? null : upperByBetting(high, this.#plan.betsAbove, error),
    };
  }

  /** The share of the largest weight in the estimate; null without a violation. */
  get largestShare(): number | null {
    const weights = this.counted().flatMap((it) => (it.isViolating ? [it.weight] : []));
    const sum = weights.reduce((all, it) => all + it, 0);
    return sum > 0 ? weights.reduce((most, it) => Math.max(most, it), 0) / sum : null;
  }

  /** Bounds for a verdict on the requirement. */
  verdictBounds(): AttemptBounds | null {
    return this.bounds((1 - this.#plan.settings.required.confidence) * this.#plan.share);
  }

  /** True when the stop that the study asks for is reached. */
  get isSettled(): boolean {
    const { relativeHalfWidth, stopsWhenSettled, required } = this.#plan.settings;
    const isNarrow = ({ estimate, lower, upper }: AttemptBounds): boolean =>
      upper !== null && estimate > 0 && (upper - lower) / 2 <= relativeHalfWidth! * estimate;
    const bounds = relativeHalfWidth === undefined ? null : this.bounds();
    if (bounds !== null && isNarrow(bounds)) return true;
    const verdict = stopsWhenSettled ? this.verdictBounds() : null;
    const most = 1 - required.probability;
    return verdict !== null && (verdict.lower > most || (verdict.upper !== null && verdict.upper <= most));
  }
}

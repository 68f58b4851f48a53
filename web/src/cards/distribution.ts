/** An empirical distribution function with bounds: of chance, and of the runs without a value. Pure. */
import type { RequirementVerdict } from '../../../src/contract/types.ts';
import { limitsOf } from '../../../src/domain/study/condition.ts';
import { figure } from '../parts/time.tsx';

export interface Step {
  value: number;
  share: number;
  low: number;
  high: number;
}

/** The confidence of the band of a whole curve. */
export const BAND_CONFIDENCE = 0.95;

/** A step in words, for the pointer. */
export function stepText(name: string, { value, share, low, high }: Step): string {
  const percent = (it: number): string => (100 * it).toPrecision(3);
  return `${name} ${figure(value)}\n${percent(share)} % [${percent(low)} to ${percent(high)}]`;
}

/** The limits of the requirements on an output, each with the name of its requirement. */
export const limitsOn = (output: string, requirements: readonly RequirementVerdict[] = []) =>
  requirements.flatMap((it) =>
    it.output === output ? limitsOf(it.condition).map((value) => ({ value, name: it.name })) : [],
  );

export interface BoundedSteps {
  points: Step[];
  /** Runs that count, and those of them without a value. */
  n: number;
  missing: number;
  isBanded: boolean;
  /** True where some of the steps are left out. */
  isThinned: boolean;
}

const MOST = 400;

/**
 * Returns the steps of the values of these runs. A run without a value may be anywhere: it counts as above all for `low` and as below all for
 * `high`, and `share` is among the runs with a value. `confidence`: of the band of Dvoretzky, Kiefer and Wolfowitz with Massart's
 * constant for the whole curve; undefined: no band.
 */
export function boundedSteps(
  values: Float64Array,
  isCounted: (row: number) => boolean,
  confidence: number | undefined,
): BoundedSteps {
  let n = 0;
  const found: number[] = [];
  for (let row = 0; row < values.length; row += 1) {
    if (!isCounted(row)) continue;
    n += 1;
    if (Number.isFinite(values[row])) found.push(values[row]!);
  }
  const sorted = Float64Array.from(found).sort();
  const missing = n - sorted.length;
  const room = confidence === undefined || n === 0 ? 0 : Math.sqrt(Math.log(2 / (1 - confidence)) / (2 * n));
  const distinct: Step[] = [];
  for (let at = 0; at < sorted.length; at += 1) {
    if (sorted[at] === sorted[at + 1]) continue;
    distinct.push({
      value: sorted[at]!,
      share: (at + 1) / sorted.length,
      low: Math.max(0, (at + 1) / n - room),
      high: Math.min(1, (at + 1 + missing) / n + room),
    });
  }
  const last = distinct.length - 1;
  const points =
    distinct.length <= MOST
      ? distinct
      : Array.from({ length: MOST }, (_, at) => distinct[Math.round((at * last) / (MOST - 1))]!);
  return { points, n, missing, isBanded: room > 0, isThinned: points.length < distinct.length };
}

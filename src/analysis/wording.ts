/** Numbers and names as the sentences of an analysis write them. */

const MOST_NAMES = 5;

/** Returns at most five names as a list, and how many more there are. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).join(', ');
  return names.length > MOST_NAMES ? `${shown} and ${names.length - MOST_NAMES} more` : shown;
}

/** A share in [0, 1] in percent: whole ones, but neither 0 % nor 100 % of anything that is not. */
export function percent(share: number): string {
  if (share > 0 && share < 0.01) return '< 1 %';
  if (share < 1 && share > 0.99) return '> 99 %';
  return `${(100 * share).toFixed(0)} %`;
}

/**
 * The decimal number with the fewest digits in (low, high], so that a bound in words selects the same runs as the exact one.
 * `high` itself, in its shortest form, where it has the fewest.
 */
export function shortestAbove(low: number, high: number): number {
  for (let digits = 1; digits <= 17; digits++) {
    const rounded = Number(high.toPrecision(digits));
    if (rounded > low && rounded <= high) return rounded;
    // Rounding may have gone up; the next decimal below may still lie inside.
    const step = 10 ** (Math.floor(Math.log10(Math.abs(high))) + 1 - digits);
    const lower = Number((rounded - step).toPrecision(digits));
    if (lower > low && lower <= high) return lower;
  }
  return high;
}

/** The decimal number with the fewest digits in [low, high). */
export const shortestBelow = (low: number, high: number): number => -shortestAbove(-high, -low) + 0;

/** A probability in percent, with three digits of its distance from the nearer of 0 and 1: 99.73 %, 99.99954 %. */
export function shareInPercent(share: number): string {
  const distance = 100 * Math.min(share, 1 - share);
  if (!(distance > 0)) return `${100 * Math.round(share)} %`;
  const digits = Math.min(15, Math.max(0, 2 - Math.floor(Math.log10(distance))));
  return `${Number((100 * share).toFixed(digits))} %`;
}

/** The claim of a requirement about a run: `miss_m < 50`; of several requirements `near and slow in the same run`. */
export function requirementClaim({
  output,
  condition,
  all,
}: {
  output: string | null;
  condition: string | null;
  all?: readonly string[];
}): string {
  if (all === undefined) return `${output} ${condition}`;
  return `${all.slice(0, -1).join(', ')} and ${all.at(-1)} in the same run`;
}

/**
 * Bounds of a mean by betting: for each candidate mean the wealth of fair bets is a non-negative martingale, so that the bounds hold for every
 * number of draws at once (Ville 1939; Waudby-Smith and Ramdas, JRSS B 86 (2024) 1).
 */

/** The least mean that is looked at. */
const LEAST_MEAN = 1e-300;
const ROOT_STEPS = 200;

/** Draws that are not negative: those above 0, and how many there are. */
export interface Draws {
  /** The draws above 0. */
  positive: readonly number[];
  /** All draws. */
  count: number;
}

export const meanOf = ({ positive, count }: Draws): number =>
  count === 0 ? 0 : positive.reduce((sum, it) => sum + it, 0) / count;

/** Returns ln of the wealth of bets that the mean is above `m`. */
export function wealthAbove(draws: Draws, bets: readonly number[], m: number): number {
  return logMean(bets.map((bet) => logProduct(draws, Math.min(bet, 0.5 / m), m)));
}

/** Returns ln of the wealth of bets that the mean is below `m`. Each bet is below 1 / (the greatest draw). */
export function wealthBelow(draws: Draws, bets: readonly number[], m: number): number {
  return logMean(bets.map((bet) => logProduct(draws, -bet, m)));
}

function logProduct({ positive, count }: Draws, bet: number, m: number): number {
  let sum = (count - positive.length) * Math.log1p(-bet * m);
  for (const x of positive) sum += Math.log1p(bet * (x - m));
  return sum;
}

function logMean(logs: readonly number[]): number {
  const top = Math.max(...logs);
  return top + Math.log(logs.reduce((sum, it) => sum + Math.exp(it - top), 0) / logs.length);
}

/** The lower bound of the mean with the chance `error` of being wrong. */
export function lowerByBetting(draws: Draws, bets: readonly number[], error: number): number {
  const mean = meanOf(draws);
  const goal = -Math.log(error);
  if (mean === 0 || wealthAbove(draws, bets, LEAST_MEAN) < goal) return 0;
  return rootOf((m) => goal - wealthAbove(draws, bets, m), LEAST_MEAN, mean);
}

/** The upper bound of the mean with the chance `error` of being wrong. */
export function upperByBetting(draws: Draws, bets: readonly number[], error: number): number {
  const goal = -Math.log(error);
  if (wealthBelow(draws, bets, 1) < goal) return 1;
  return rootOf((m) => wealthBelow(draws, bets, m) - goal, Math.max(meanOf(draws), LEAST_MEAN), 1);
}

/** The place where an increasing function changes its sign, by bisection in the logarithm. */
function rootOf(f: (m: number) => number, least: number, greatest: number): number {
  let [low, high] = [Math.log(least), Math.log(greatest)];
  for (let step = 0; step < ROOT_STEPS; step++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (f(Math.exp(middle)) < 0) low = middle;
    else high = middle;
  }
  return Math.exp((low + high) / 2);
}

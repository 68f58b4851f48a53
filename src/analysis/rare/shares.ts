/**
 * The shares of the candidates of a proposal: those that minimise the sum of weight / q^2 over violating points, a convex problem, by
 * multiplicative steps (Silvey, Titterington and Torsney, Commun. Stat. 7 (1978) 1379). Most of the time of a fit is spent here.
 */
import { NOMINAL_SHARE } from './proposal.ts';

const FIT_STEPS = 200;
/** The power of the weights 1/q that the fit minimises: it punishes large weights, which make intervals wide. */
const POWER = 2;

/** `ratios`: of each candidate at each point. `weights`: of the points. */
export function bestShares(ratios: readonly Float64Array[], weights: readonly number[]): Float64Array {
  const shares = new Float64Array(ratios.length).fill(1 / ratios.length);
  const gains = new Float64Array(ratios.length);
  const q = new Float64Array(weights.length);
  for (let step = 0; step < FIT_STEPS; step++) {
    mixInto(q, ratios, shares);
    for (let i = 0; i < q.length; i++)
      q[i] = weights[i]! / (NOMINAL_SHARE + (1 - NOMINAL_SHARE) * q[i]!) ** (POWER + 1);
    gainsInto(gains, ratios, q);
    let total = 0;
    for (let j = 0; j < shares.length; j++) total += shares[j] = shares[j]! * gains[j]! ** (1 / (POWER + 1));
    for (let j = 0; j < shares.length; j++) shares[j]! /= total;
  }
  return shares;
}

/**
 * Writes the sum of share times ratio of all candidates at each point. Four candidates in one pass, in their order: the sums are those of single
 * passes to the bit, in less than half of the time.
 */
function mixInto(out: Float64Array, ratios: readonly Float64Array[], shares: Float64Array): void {
  out.fill(0);
  let j = 0;
  for (; j + 3 < ratios.length; j += 4) {
    const [a, b, c, d] = [ratios[j]!, ratios[j + 1]!, ratios[j + 2]!, ratios[j + 3]!];
    const [p, q, r, s] = [shares[j]!, shares[j + 1]!, shares[j + 2]!, shares[j + 3]!];
    for (let i = 0; i < out.length; i++) out[i] = out[i]! + p * a[i]! + q * b[i]! + r * c[i]! + s * d[i]!;
  }
  for (; j < ratios.length; j++) {
    const [a, p] = [ratios[j]!, shares[j]!];
    for (let i = 0; i < out.length; i++) out[i]! += p * a[i]!;
  }
}

/** Writes the sum of ratio times value over the points of each candidate; four sums in one pass do not wait for each other. */
function gainsInto(out: Float64Array, ratios: readonly Float64Array[], values: Float64Array): void {
  let j = 0;
  for (; j + 3 < ratios.length; j += 4) {
    const [a, b, c, d] = [ratios[j]!, ratios[j + 1]!, ratios[j + 2]!, ratios[j + 3]!];
    let [p, q, r, s] = [0, 0, 0, 0];
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      p += value * a[i]!;
      q += value * b[i]!;
      r += value * c[i]!;
      s += value * d[i]!;
    }
    out.set([p, q, r, s], j);
  }
  for (; j < ratios.length; j++) {
    const a = ratios[j]!;
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[i]! * a[i]!;
    out[j] = sum;
  }
}

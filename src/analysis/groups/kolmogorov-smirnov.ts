/** The two-sample Kolmogorov-Smirnov test from the groups' counts at each distinct value. */
import { kolmogorovSmirnovSf } from './kolmogorov-finite.ts';

/**
 * The p-value of a distance between samples of n1 and n2 values: that of one sample of the harmonic size n1 n2 / (n1 + n2),
 * rounded to an even number at a half. Asymptotic in the sizes, conservative with ties.
 * Source: Hodges, Ark. Mat. 3 (1958) 469, as in SciPy's `ks_2samp(method='asymp')`.
 */
export function twoSampleKsPValue(d: number, n1: number, n2: number): number {
  return kolmogorovSmirnovSf(roundHalfToEven((n1 * n2) / (n1 + n2)), d);
}

function roundHalfToEven(x: number): number {
  const below = Math.floor(x);
  if (x - below !== 0.5) return Math.round(x);
  return below % 2 === 0 ? below : below + 1;
}

/**
 * The distance of the distribution functions of two groups, which share one ascending order of all values.
 * `first[i]` is 1 where run i belongs to the first group, else 0; `n1` runs do.
 */
export function ksDistance(values: Float64Array, order: Uint32Array, first: Uint8Array, n1: number): number {
  const n2 = values.length - n1;
  let ones = 0;
  let widest = 0;
  for (let i = 0; i < order.length; i++) {
    ones += first[order[i]!]!;
    const isLastOfTie = i + 1 === order.length || values[order[i + 1]!]! !== values[order[i]!]!;
    // In integers, so that equal distances are equal whatever the sizes.
    if (isLastOfTie) widest = Math.max(widest, Math.abs(ones * n2 - (i + 1 - ones) * n1));
  }
  return widest / (n1 * n2);
}

/** First-order Sobol' indices from given data, by the low cosine frequencies of the output in the order of one parameter. */

/** The frequencies 1..6 enter the index. */
export const FREQUENCIES = 6;
/** Fewer runs than this give no index. */
export const LEAST_RUNS = 30;

/** cos(pi (i + 1/2) / n) for i in [0, n): all frequencies follow from it by Chebyshev's recurrence. */
export function cosineBasis(n: number): Float64Array<ArrayBuffer> {
  const basis = new Float64Array(n);
  // The second half mirrors the first, so that a symmetric effect gives exactly 0 at odd frequencies.
  for (let i = 0; i < n >> 1; i++) {
    const cosine = Math.cos((Math.PI * (i + 0.5)) / n);
    basis[i] = cosine;
    basis[n - 1 - i] = -cosine;
  }
  return basis;
}

/**
 * The sum of the squares of c_1..c_6, where c_h is the mean of y_(i) sqrt2 cos(pi h (i - 1/2) / n) and y_(i) the output in the
 * order of a parameter. `deviations` is the output minus its mean, `order` the parameter's ascending order.
 */
export function cosinePower(deviations: Float64Array, order: Uint32Array, basis: Float64Array): number {
  let [s1, s2, s3, s4, s5, s6] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < order.length; i++) {
    const y = deviations[order[i]!]!;
    const t1 = basis[i]!;
    const twice = t1 + t1;
    const t2 = twice * t1 - 1;
    const t3 = twice * t2 - t1;
    const t4 = twice * t3 - t2;
    const t5 = twice * t4 - t3;
    s1 += y * t1;
    s2 += y * t2;
    s3 += y * t3;
    s4 += y * t4;
    s5 += y * t5;
    s6 += y * (twice * t5 - t4);
  }
  const squares = s1 * s1 + s2 * s2 + s3 * s3 + s4 * s4 + s5 * s5 + s6 * s6;
  return (2 * squares) / (order.length * order.length);
}

/**
 * The adjusted index 1 - (1 - r2)(n - 1)/(n - 7), where r2 is the power over the variance (divisor n): unbiased at 0, at most 1,
 * and below 0 for about every second parameter without effect.
 * Source: Plischke, "How to compute variance-based sensitivity indicators with your spreadsheet software", Environ. Model.
 * Softw. 35 (2012) 188 (COSI); the adjustment is that of R^2 for 6 regressors.
 */
export function adjustedIndex(power: number, variance: number, n: number): number {
  return 1 - ((1 - power / variance) * (n - 1)) / (n - 1 - FREQUENCIES);
}

/** The continued fraction of the beta distribution, which the quantiles and the analysis share. */

/**
 * I_x(a, b) divided by the density: the even part of the continued fraction DLMF 8.17.22 by the modified Lentz method.
 * `y` is 1 - x and `lead` is a - (a + b) x, both without the caller's rounding of 1 - x: that would cost all digits that x is
 * smaller than 1.
 */
export function betaFraction(a: number, b: number, x: number, y: number, lead: number): number {
  const before = a + b - 1;
  let denominator = (a * (lead + 1)) / (a + 1);
  let c = Number.POSITIVE_INFINITY;
  let d = 1 / denominator;
  let value = d;
  for (let m = 1; m < 100000; m++) {
    const twice = a + 2 * m;
    const share = (m * (b - m) * x) / (twice - 1);
    const numerator = ((a + m - 1) * (before + m) * x * share) / (twice - 1);
    denominator = m + share + ((a + m) * (lead + 1 + m * (1 + y))) / (twice + 1);
    d = 1 / (denominator + numerator * d);
    c = denominator + numerator / c;
    const factor = c * d;
    value *= factor;
    // Written so that NaN (parameters near the greatest double) ends it too.
    if (!(Math.abs(factor - 1) >= 2.3e-16)) break;
  }
  return value;
}

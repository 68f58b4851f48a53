/** The limiting distribution of the Kolmogorov-Smirnov statistic. */

/**
 * P(K > x): the asymptotic p-value of D sqrt(n), or of D sqrt(n m / (n + m)) for two samples. Relative error about 1e-13.
 * Source: Kolmogorov (1933); Smirnov, Ann. Math. Stat. 19 (1948) 279, in the two forms of the theta function.
 */
export function kolmogorovSf(x: number): number {
  if (Number.isNaN(x)) return Number.NaN;
  if (x <= 0.04) return 1;
  if (x < 1) {
    const step = Math.exp(-(Math.PI * Math.PI) / (8 * x * x));
    let sum = 0;
    for (let odd = 1; odd <= 9; odd += 2) sum += step ** (odd * odd);
    return 1 - (Math.sqrt(2 * Math.PI) / x) * sum;
  }
  let sum = 0;
  for (let j = 7; j >= 1; j--) sum = Math.exp(-2 * j * j * x * x) - sum;
  return 2 * sum;
}

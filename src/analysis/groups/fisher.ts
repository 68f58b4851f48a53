/** Fisher's exact test of two proportions, one-sided, from the hypergeometric distribution. */
import { logBeta } from '../special/beta.ts';

/** Terms below this share of the sum no longer change it. */
const NEGLIGIBLE = 1e-18;

const logChoose = (n: number, k: number): number => -Math.log(n + 1) - logBeta(n - k + 1, k + 1);

/**
 * The probability that at least k1 of n1 trials are among the k1 + k2 hits, given both groups' sizes n1, n2 >= 1 and the
 * number of hits: small when the first group's share is larger than the second's. Relative error about 1e-12.
 * Source: Fisher, J. R. Stat. Soc. 98 (1935) 39; as SciPy's `fisher_exact(alternative='greater')`.
 */
export function fisherGreater(k1: number, n1: number, k2: number, n2: number): number {
  const hits = k1 + k2;
  const lowest = Math.max(0, hits - n2);
  const highest = Math.min(hits, n1);
  if (k1 <= lowest) return 1;
  const at = Math.exp(logChoose(n1, k1) + logChoose(n2, k2) - logChoose(n1 + n2, hits));
  // The shorter tail is summed; its terms fall from the observed table outwards.
  if (k1 * n2 >= k2 * n1) {
    let sum = at;
    let term = at;
    for (let x = k1; x < highest && term > NEGLIGIBLE * sum; x++) {
      term *= ((hits - x) / (x + 1)) * ((n1 - x) / (n2 - hits + x + 1));
      sum += term;
    }
    return Math.min(1, sum);
  }
  let sum = 0;
  let term = at;
  for (let x = k1; x > lowest && (x === k1 || term > NEGLIGIBLE * sum); x--) {
    term *= (x / (hits - x + 1)) * ((n2 - hits + x) / (n1 - x + 1));
    sum += term;
  }
  return Math.max(0, 1 - sum);
}

/** Holm's adjustment of p-values for many tests. */

/**
 * The adjusted p-values, in the order given; null stays null and does not count as a test.
 * Source: Holm, Scand. J. Statist. 6 (1979) 65.
 */
export function holm(pValues: readonly (number | null)[]): (number | null)[] {
  const tests = pValues.flatMap((p, index) => (p === null ? [] : [{ p, index }])).sort((a, b) => a.p - b.p);
  const adjusted: (number | null)[] = pValues.map(() => null);
  let least = 0;
  tests.forEach(({ p, index }, place) => {
    least = Math.max(least, Math.min(1, (tests.length - place) * p));
    adjusted[index] = least;
  });
  return adjusted;
}

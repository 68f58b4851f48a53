/** Finds the name that a misspelt one probably means. Pure. */

/**
 * The candidate nearest to `given` by edits (insertion, deletion, replacement, transposition of neighbours; letters'
 * case and `-`/`_` do not count), if it is near enough to be worth suggesting: at most a third of its letters differ.
 * Source: optimal string alignment distance (Damerau 1964, Levenshtein 1966).
 */
export function closestMatch(given: string, candidates: Iterable<string>): string | undefined {
  if (given.length > MAX_LENGTH) return undefined;
  const wanted = normal(given);
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const bound = Math.max(1, Math.floor(candidate.length / 3));
    const distance = editDistance(wanted, normal(candidate));
    if (distance <= bound && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Longer names get no suggestion. */
const MAX_LENGTH = 100;

const normal = (text: string): string => text.toLowerCase().replaceAll('-', '_');

/** Edits from `a` to `b`; three rows of the table suffice. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      const transposed = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (transposed) edits = Math.min(edits, beforeLast[j - 2]! + 1);
      row.push(edits);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

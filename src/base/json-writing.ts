/**
 * Writing JSON with exact integers: `bigint` members (a seed above 2^53 - 1) are written as bare digits. Reading is in
 * `src/base/exact-json.ts`.
 */

/**
 * `JSON.stringify(value)`, with every bigint written as bare digits. Costs the same when there is none.
 * Throws what JSON.stringify throws otherwise (a circular structure).
 */
export function stringifyExact(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // JSON.stringify throws the same class for a bigint and for a circular structure; the latter throws below again.
    if (!(error instanceof TypeError)) throw error;
  }
  // Each bigint is written as a string with a mark in front, and the mark and its quotes are then removed. The mark is one that
  // occurs nowhere in the text, so no string of the value can be taken for a bigint.
  const without = JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? '' : member));
  let number = 0;
  while (without.includes(`#${number}#`)) number++;
  const marked = JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? `#${number}#${member}` : member,
  );
  return marked.replaceAll(new RegExp(`"#${number}#(-?\\d+)"`, 'g'), '$1');
}

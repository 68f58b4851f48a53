/**
 * Writes JSON with exact integers: `bigint` members (a seed above 2^53 - 1) become bare digits. `exact-json.ts` reads them.
 */

/**
 * `JSON.stringify(value, null, indent)`, with every bigint written as bare digits. Without a bigint it costs the same.
 * Throws what JSON.stringify throws otherwise (a circular structure).
 */
export function stringifyExact(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, null, indent);
  } catch (error) {
    // JSON.stringify throws the same class for a bigint and for a circular structure; the latter throws below again.
    if (!(error instanceof TypeError)) throw error;
  }
  // Each bigint is written as a string with a marker in front; then the marker and its quotes are removed. A marker that occurs elsewhere in
  // the text is not used, so no string of the value is mistaken for a bigint.
  for (let number = 0; ; number += 1) {
    let count = 0;
    const marked = JSON.stringify(
      value,
      (_key, member: unknown) => {
        if (typeof member !== 'bigint') return member;
        count += 1;
        return `#${number}#${member}`;
      },
      indent,
    );
    const parts = marked.split(`#${number}#`);
    if (parts.length === count + 1) return marked.replaceAll(new RegExp(`"#${number}#(-?\\d+)"`, 'g'), '$1');
  }
}

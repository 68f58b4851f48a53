/** A curve as one line of block characters. Pure. */

const LEVELS = '▁▂▃▄▅▆▇█';

/**
 * One character for each part of the curve, at most `width`, by the mean of its values between the least and the greatest mean; a blank where a part
 * has no value. A curve of equal values is a line in the middle.
 */
export function sparkline(values: readonly (number | null)[], width: number): string {
  const parts = Math.min(width, values.length);
  const means = Array.from({ length: parts }, (_, part) => {
    const from = Math.floor((part * values.length) / parts);
    const to = Math.floor(((part + 1) * values.length) / parts);
    const present = values.slice(from, to).filter((it) => it !== null);
    return present.length === 0 ? undefined : present.reduce((sum, it) => sum + it / present.length, 0);
  });
  const known = means.filter((it) => it !== undefined);
  const [least, greatest] = [Math.min(...known), Math.max(...known)];
  return means
    .map((it) => {
      if (it === undefined) return ' ';
      // Halves, whose difference does not overflow.
      const share = greatest > least ? (it / 2 - least / 2) / (greatest / 2 - least / 2) : 0.5;
      return LEVELS[Math.min(LEVELS.length - 1, Math.floor(share * LEVELS.length))];
    })
    .join('');
}

/** Lines with times of their own on one axis, as the plots take them. */

/** Null: a gap; undefined: no point at this time, which the line passes. */
export type Aligned = (number | null | undefined)[];

/** The times of all lines, ascending, each once. */
export function unitedTimes(...times: readonly (readonly number[])[]): number[] {
  return [...new Set(times.flat())].sort((a, b) => a - b);
}

/** A line at other times: its own points, and none elsewhere. */
export function pointsAt(
  times: readonly number[],
  secs: readonly number[],
  values: readonly (number | null)[],
): Aligned {
  const at = new Map(secs.map((it, index) => [it, values[index]!]));
  return times.map((it) => at.get(it));
}

/** A curve of a grid at other times, linear between its points and null beyond them, and next to a point without a value. */
export function linearAt(
  times: readonly number[],
  grid: readonly number[],
  values: readonly (number | null)[],
): Aligned {
  let after = 0;
  return times.map((time) => {
    while (after < grid.length - 1 && grid[after]! < time) after++;
    const [from, to] = [Math.max(0, after - 1), after];
    if (grid[to] === time) return values[to] ?? null;
    if (!(grid[from]! < time && time < grid[to]!)) return null;
    const [low, high] = [values[from] ?? null, values[to] ?? null];
    if (low === null || high === null) return null;
    return low + ((high - low) * (time - grid[from]!)) / (grid[to]! - grid[from]!);
  });
}

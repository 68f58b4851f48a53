/** Searches for the place where a monotone condition changes, among the integers and in an interval. */

/** Beyond this no count of runs makes sense. */
const MAX_COUNT = 2 ** 50;

/** The least integer m >= 0 for which a condition holds that, once it holds, holds for all larger m; null where none up to 2^50 does. */
export function leastCount(holds: (m: number) => boolean): number | null {
  if (holds(0)) return 0;
  let above = 1;
  while (!holds(above)) {
    if (above >= MAX_COUNT) return null;
    above *= 2;
  }
  return bisect(above / 2 < 1 ? 0 : above / 2, above, holds);
}

/** The least integer in [from, to] for which the condition holds; `to + 1` where it holds for none. */
export function leastWithin(from: number, to: number, holds: (m: number) => boolean): number {
  return bisect(from - 1, to + 1, (m) => m > to || holds(m));
}

/** The condition fails at `below` and holds at `above`. */
function bisect(below: number, above: number, holds: (m: number) => boolean): number {
  while (above - below > 1) {
    const middle = below + Math.floor((above - below) / 2);
    if (holds(middle)) above = middle;
    else below = middle;
  }
  return above;
}

/** Number of halvings, after which the ends agree to the last digits that are shown. */
const HALVINGS = 50;

/** The place in [from, to] at which a condition that fails below begins to hold, to 1e-12; an end is never evaluated. */
export function placeOfChange(from: number, to: number, holds: (place: number) => boolean): number {
  let [below, above] = [from, to];
  for (let round = 0; round < HALVINGS && above - below > 1e-12; round++) {
    const middle = (below + above) / 2;
    if (holds(middle)) above = middle;
    else below = middle;
  }
  return above === to ? to : below === from ? from : (below + above) / 2;
}

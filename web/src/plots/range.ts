/** Where the vertical axis of a plot begins and ends. */

/** Steps between the marks of an axis, times a power of ten: those that the plots' library writes numbers at. */
const STEPS = [1, 2, 2.5, 5, 10];
/** What is shown spans at most so many steps; one more where it begins and ends within a step. */
const STEP_COUNT = 4;

/** Of the values shown: the least and the greatest, null where there are none. */
export interface Shown {
  least: number | null;
  most: number | null;
  /** An area is filled down from a line: it says what it should only when it begins at 0. */
  isFilled: boolean;
}

/**
 * Begins at 0 under an area, and under lines for which 0 is not far; otherwise a little below the least value. Both ends
 * are round numbers, so that marks stand near them. `[0, 1]` where there is nothing, or nothing but 0.
 */
export function verticalRange({ least, most, isFilled }: Shown): [from: number, to: number] {
  if (least === null || most === null || (least === 0 && most === 0)) return [0, 1];
  const beginsAtZero = least >= 0 && (isFilled || least <= most / 2);
  // A value that does not change lies in the middle.
  const room = least === most ? Math.abs(most) / 10 : 0;
  const from = beginsAtZero ? 0 : least - room;
  const to = beginsAtZero ? most : most + room;
  const step = roundStep((to - from) / STEP_COUNT);
  return [times(Math.floor(tidy(from / step)), step), times(Math.ceil(tidy(to / step)), step)];
}

/** The least of the round steps that is not below `size` (> 0). */
function roundStep(size: number): number {
  const power = Math.floor(Math.log10(size));
  return STEPS.map((it) => Number(`${it}e${power}`)).find((it) => it >= size) ?? size;
}

/** Without the last digits, in which 1.1 / 0.1 is more than 11. */
const tidy = (value: number): number => Number(value.toPrecision(12));
const times = (count: number, step: number): number => tidy(count * step);

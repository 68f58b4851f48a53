/** Range of the vertical axis of a plot. */

/** Steps between the labels of an axis, times a power of ten, as the plotting library uses them. */
const STEPS = [1, 2, 2.5, 5, 10];
/** Most steps of the range; one more where it begins and ends within a step. */
const STEP_COUNT = 4;

/** Least and greatest value shown; null without values. */
export interface Shown {
  least: number | null;
  most: number | null;
  /** Whether an area is filled below a line: then the axis must begin at 0. */
  isFilled: boolean;
}

/**
 * Returns the range: from 0 for an area, and for lines near 0; otherwise from slightly below the least value. Both ends are
 * round numbers. `[0, 1]` without values, or with zeros only.
 */
export function verticalRange({ least, most, isFilled }: Shown): [from: number, to: number] {
  if (least === null || most === null || (least === 0 && most === 0)) return [0, 1];
  const beginsAtZero = least >= 0 && (isFilled || least <= most / 2);
  // A constant value is in the middle.
  const room = least === most ? Math.abs(most) / 10 : 0;
  const from = beginsAtZero ? 0 : least - room;
  const to = beginsAtZero ? most : most + room;
  const step = roundStep((to - from) / STEP_COUNT);
  return [times(Math.floor(tidy(from / step)), step), times(Math.ceil(tidy(to / step)), step)];
}

/** Returns the smallest round step that is at least `size` (> 0). */
function roundStep(size: number): number {
  const power = Math.floor(Math.log10(size));
  return STEPS.map((it) => Number(`${it}e${power}`)).find((it) => it >= size) ?? size;
}

/** Rounds the last digits away, in which 1.1 / 0.1 exceeds 11. */
const tidy = (value: number): number => Number(value.toPrecision(12));
const times = (count: number, step: number): number => tidy(count * step);

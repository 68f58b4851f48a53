/** Round values for the labels of an axis. Pure. */

const STEPS = [1, 2, 2.5, 5, 10];

/** Round values within a scale, `most` at most. */
export function ticksOf({ from, to, isLog }: { from: number; to: number; isLog: boolean }, most: number): number[] {
  if (isLog) {
    const first = Math.ceil(from);
    const count = Math.floor(to) - first + 1;
    if (count >= 2) {
      const every = Math.ceil(count / most);
      return Array.from({ length: Math.ceil(count / every) }, (_, at) => 10 ** (first + at * every));
    }
    return [10 ** from, 10 ** to];
  }
  const power = 10 ** Math.floor(Math.log10((to - from) / most));
  const step = (STEPS.find((it) => it * power >= (to - from) / most) ?? 10) * power;
  const first = Math.ceil(from / step);
  const count = Math.floor(to / step) - first + 1;
  return Array.from({ length: count }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

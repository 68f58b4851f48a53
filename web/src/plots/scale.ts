/** The scale of a variable: its bulk along an axis, linear or logarithmic. Pure. */
import { limitsOf } from './bins.ts';
import type { Variable } from './variables.ts';

/** Maps the values of a variable to 0..1 over their bulk; values beyond it are at the edges. */
export interface Scale {
  from: number;
  to: number;
  isLog: boolean;
  place: (value: number) => number;
  /** The value at a place. */
  value: (place: number) => number;
}

/** `bulk`: the limits of the values, as `limitsOf` finds them, where they are known. */
export function scaleOf({ values, categories }: Variable, isLog: boolean, bulk?: readonly [number, number]): Scale {
  const isCounted = categories !== undefined;
  const [from, to] = isCounted ? [-0.5, categories.length - 0.5] : (bulk ?? limitsOf(values, isLog) ?? [0, 1]);
  const span = to > from ? to - from : 1;
  return {
    from,
    to: from + span,
    isLog,
    place: (value) => Math.min(1, Math.max(0, ((isLog ? Math.log10(value) : value) - from) / span)),
    value: (place) => (isLog ? 10 ** (from + place * span) : from + place * span),
  };
}

/** The curves of a p-box as the lines of a plot: steps, with 0 before the least value. Pure. */
import type { OutputBox } from '../../../src/contract/types.ts';
import type { Series } from './time-series.tsx';

/** Each value twice: a distribution function jumps there. */
export function boxLines({ values, least, greatest }: OutputBox['curve']): { values: number[]; series: Series[] } {
  const steps = (shares: readonly number[]): number[] => shares.flatMap((it, at) => [shares[at - 1] ?? 0, it]);
  const edge = { colour: 'accent', edge: true };
  return {
    values: values.flatMap((it) => [it, it]),
    series: [
      { name: 'Least share', values: steps(least), ...edge },
      { name: 'Greatest share', values: steps(greatest), ...edge },
    ],
  };
}

/** The curves of a p-box as the lines of a plot: steps, with 0 before the least value. Pure. */
import { boxSteps } from '../../../src/analysis/scenarios/box-steps.ts';
import type { OutputBox } from '../../../src/contract/types.ts';
import type { Series } from './time-series.tsx';

export function boxLines(curve: OutputBox['curve']): { values: number[]; series: Series[] } {
  const { values, least, greatest } = boxSteps(curve);
  const edge = { colour: 'accent', edge: true };
  return {
    values,
    series: [
      { name: 'Least share', values: least, ...edge },
      { name: 'Greatest share', values: greatest, ...edge },
    ],
  };
}

/** The method that statistics assume: a table of chosen rows is of unknown dependence. */
import { expect } from 'chai';
import { designMethod } from '../../../src/domain/study/design-method.ts';
import type { BatchConfig } from '../../../src/contract/types.ts';

const normal = { type: 'normal', mean: 0, std_dev: 1 } as const;
const table = (values: number[]) => ({ type: 'table', values }) as const;

describe('domain/study: design method', () => {
  const rows: [string, BatchConfig['dispersions'][string]['distribution'][], string][] = [
    ['no input', [], 'latin_hypercube'],
    ['inputs that are drawn', [normal], 'latin_hypercube'],
    ['a table among them', [normal, table([1, 2])], 'table'],
    ['a table that does not vary', [normal, table([2, 2])], 'latin_hypercube'],
    ['an empty table', [table([])], 'latin_hypercube'],
  ];
  for (const [label, distributions, expected] of rows)
    it(`${label}: ${expected}`, () => {
      const dispersions = Object.fromEntries(
        distributions.map((it, at) => [`x${at}`, { distribution: it, units: '' }]),
      );
      const monte_carlo = { runs: 2, sampling_method: 'latin_hypercube' } as const;
      expect(designMethod({ dispersions, monte_carlo })).to.equal(expected);
    });
});

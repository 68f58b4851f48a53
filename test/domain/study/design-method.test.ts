/** The method that statistics assume: a table of chosen rows is of unknown dependence. */
import { expect } from 'chai';
import { designMethod } from '../../../src/domain/study/design-method.ts';
import type { BatchConfig, SamplingMethod } from '../../../src/contract/types.ts';

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
      expect(designMethod({ config: { dispersions, monte_carlo } })).to.equal(expected);
    });

  it('takes a study with the label of a probe and a table of as many rows as runs, one or three, as a canary study', () => {
    const method = (labels: Record<string, string>, runs: number, distributions: (typeof rows)[number][1]): string => {
      const dispersions = Object.fromEntries(
        distributions.map((it, at) => [`x${at}`, { distribution: it, units: '' }]),
      );
      const sampling_method: SamplingMethod = 'monte_carlo';
      return designMethod({ config: { dispersions, monte_carlo: { runs, sampling_method } }, labels });
    };
    const fixed = { type: 'fixed', value: 1 } as const;
    const corners = [table([0, -1, 1]), fixed, table([5, 4, 6])];
    expect(method({ probe: 'x' }, 3, corners)).to.equal('canary');
    expect(method({ probe: 'x' }, 1, [table([0])])).to.equal('canary');
    expect(method({ name: 'x' }, 3, corners)).to.equal('table');
    expect(method({ probe: 'x' }, 2, [table([0, 1])])).to.equal('table');
    expect(method({ probe: 'x' }, 3, [...corners, normal])).to.equal('table');
    expect(method({ probe: 'x' }, 3, [table([1, 2, 3, 4])])).to.equal('table');
    expect(method({ probe: 'x' }, 3, [fixed])).to.equal('monte_carlo');
  });
});

/** docs/sampling.md must name every method, every distribution with its members, every warning and the scheme. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Distribution } from '../../../src/base/distributions/entry.ts';
import { DISTRIBUTIONS } from '../../../src/base/distributions/table.ts';
import { samplingWarnings } from '../../../src/domain/sampling/warnings.ts';
import { SAMPLING_SCHEME } from '../../../src/domain/sampling/sampler.ts';
import { SAMPLING_METHODS } from '../../../src/contract/enums.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { UNIT, dispersionsOf, names } from './support.ts';

describe('docs/sampling.md', () => {
  const page = readFileSync(join(packageRoot, 'docs/sampling.md'), 'utf8');
  const rowOf = (name: string) => page.split('\n').find((row) => row.startsWith(`| \`${name}\` |`)) ?? '';

  it('has a row for each method', () => {
    for (const method of SAMPLING_METHODS) expect(rowOf(method), method).to.not.equal('');
  });

  it('has a row for each distribution, with its members, support and note from the table of distributions', () => {
    expect(Object.keys(DISTRIBUTIONS)).to.have.length(14);
    for (const [type, { members, support, note }] of Object.entries<Distribution>(DISTRIBUTIONS)) {
      const [, , memberCell, ...others] = rowOf(type).split('|');
      for (const name of Object.keys(members)) expect(memberCell, type).to.include(`\`${name}\``);
      expect(
        others.slice(0, 2).map((cell) => cell.trim()),
        `the row of ${type}`,
      ).to.deep.equal([support, note]);
    }
  });

  it('has a row for each warning, and names the scheme', () => {
    const warnings = [
      ...samplingWarnings(
        { monte_carlo: { runs: 10, sampling_method: 'quasi_monte_carlo' }, dispersions: dispersionsOf([['x', UNIT]]) },
        10,
      ),
      ...samplingWarnings(
        {
          monte_carlo: { runs: 64, sampling_method: 'quasi_monte_carlo' },
          dispersions: dispersionsOf(names(5).map((name) => [name, UNIT] as const)),
        },
        64,
      ),
      ...samplingWarnings(
        { monte_carlo: { runs: 10, sampling_method: 'latin_hypercube' }, dispersions: dispersionsOf([['x', UNIT]]) },
        5,
      ),
      ...samplingWarnings(
        {
          monte_carlo: { runs: 64, sampling_method: 'quasi_monte_carlo', run_ids: '3,17' },
          dispersions: dispersionsOf([['x', UNIT]]),
        },
        2,
      ),
      ...samplingWarnings(
        {
          monte_carlo: { runs: 10, sampling_method: 'latin_hypercube' },
          dispersions: dispersionsOf(names(2).map((name) => [name, UNIT] as const)),
          correlations: [{ parameters: ['p0', 'p1'], rank: 0.5 }],
        },
        10,
      ),
    ];
    expect(new Set(warnings.map(({ code }) => code)).size).to.equal(6);
    for (const { code } of warnings) expect(rowOf(code), code).to.not.equal('');
    expect(page).to.include(SAMPLING_SCHEME);
  });
});

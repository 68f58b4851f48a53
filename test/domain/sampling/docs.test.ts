/** docs/sampling.md must name every method, every distribution with its members, every warning and the scheme. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { dispersionFaults, samplingWarnings } from '../../../src/domain/sampling/dispersions.ts';
import { SAMPLING_SCHEME } from '../../../src/domain/sampling/sampler.ts';
import { SAMPLING_METHODS } from '../../../src/contract/enums.ts';
import type { DistributionType } from '../../../src/contract/types.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { UNIT, dispersionsOf, names } from './support.ts';

describe('docs/sampling.md', () => {
  const page = readFileSync(join(packageRoot, 'docs/sampling.md'), 'utf8');
  const rowOf = (name: string) => page.split('\n').find((row) => row.startsWith(`| \`${name}\` |`)) ?? '';

  it('has a row for each method and each distribution, with its members', () => {
    for (const method of SAMPLING_METHODS) expect(rowOf(method), method).to.not.equal('');
    const monteCarlo = { runs: 1, sampling_method: 'monte_carlo' } as const;
    // The fault of an unknown type lists the known ones; the faults of a bare type, its members.
    const faults = (distribution: object) =>
      dispersionFaults({
        monte_carlo: monteCarlo,
        dispersions: dispersionsOf([['x', distribution as DistributionType]]),
      });
    const types = /one of (.*), not/.exec(faults({ type: '?' })[0]!.detail)![1]!.split(', ');
    expect(types).to.have.length(6);
    for (const type of types) {
      const members = faults({ type }).map(({ pointer }) => pointer.split('/').at(-1)!);
      expect(members.length, type).to.be.above(0);
      for (const member of members) expect(rowOf(type), type).to.include(`\`${member}\``);
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
    ];
    expect(new Set(warnings.map(({ code }) => code)).size).to.equal(4);
    for (const { code } of warnings) expect(rowOf(code), code).to.not.equal('');
    expect(page).to.include(SAMPLING_SCHEME);
  });
});

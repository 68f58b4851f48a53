/** The outputs that a study describes, derived ones among them. */
import { expect } from 'chai';
import { variableLimits } from '../../../src/analysis/band/limits.ts';
import type { BatchSubmission } from '../../../src/contract/types.ts';
import { describedOutputs } from '../../../src/domain/runs/described-outputs.ts';
import { study } from '../../support/studies.ts';

const DERIVED: NonNullable<BatchSubmission['config']['derived']> = [
  { name: 'peak', telemetry: 'nz', take: 'max', units: 'g' },
  { name: 'late_peak', telemetry: 'nz', take: 'max', while: 'nz > 3' },
  { name: 'flight', take: 'time', at: 'end', units: 's' },
];
const described = (outputs: BatchSubmission['outputs']): BatchSubmission => ({
  ...study({ config: { derived: DERIVED } }),
  ...(outputs === undefined ? {} : { outputs }),
});

describe('domain/runs/described-outputs', () => {
  it('has the derived outputs with their units after those under `outputs`, whose units count first', () => {
    expect(Object.entries(describedOutputs(described(undefined)))).to.deep.equal([
      ['peak', { units: 'g' }],
      ['late_peak', {}],
      ['flight', { units: 's' }],
    ]);
    const outputs = { miss: { units: 'm' }, flight: { units: 'min' }, peak: { description: 'load', units: '' } };
    expect(Object.entries(describedOutputs(described(outputs)))).to.deep.equal([
      ['miss', { units: 'm' }],
      ['flight', { units: 'min' }],
      ['peak', { description: 'load', units: 'g' }],
      ['late_peak', {}],
    ]);
    expect(describedOutputs({})).to.deep.equal({});
  });

  it('makes a requirement on the extreme of a variable a limit on the variable, in its units', () => {
    const requirements = ['peak', 'late_peak', 'flight'].map((output) => ({
      name: output,
      output,
      condition: '< 9',
      probability: 0.9,
    }));
    const { units, limits } = variableLimits('nz', { ...described(undefined), requirements });
    expect(units).to.equal('g');
    expect(limits.map((it) => it.name)).to.deep.equal(['< 9 required: peak']);
  });
});

/** Precisions that are refused, each with its place and a remedy. */
import { expect } from 'chai';
import type { BatchSubmission } from '../../../src/contract/types.ts';
import { precisionFaults } from '../../../src/domain/study/precision.ts';
import { submissionFaults } from '../../../src/domain/study/submission.ts';
import { study } from '../../support/studies.ts';

const GOOD = { output: 'miss', quantity: 'mean', half_width: 1 };

/** `/policy/precision/0/NAME detail` of each fault of one precision. */
function faultsOf(precision: object, more: object = {}): string[] {
  const submission = { ...study(), ...more, policy: { stop_when: 'precise', precision: [precision] } };
  return submissionFaults(submission).map(({ pointer, detail }) => `${pointer} ${detail}`);
}

describe('domain/study/precision', () => {
  it('accepts means, probabilities and quantiles', () => {
    for (const it of [
      GOOD,
      { ...GOOD, bounds: [0, 100] },
      { output: 'miss', quantity: 'mean', bounds: [2, 100], relative: 0.01, confidence: 0.9 },
      { output: 'miss', quantity: 'p99.9', half_width: 3 },
      { output: 'miss', quantity: 'probability', condition: '2500 .. 3200', half_width: 0.01 },
      { output: 'execution_secs', quantity: 'mean', relative: 0.1 },
    ])
      expect(faultsOf(it)).to.deep.equal([]);
  });

  const rows: [title: string, precision: object, fault: RegExp][] = [
    [
      'a misspelt output',
      { ...GOOD, output: 'mis' },
      /^\/policy\/precision\/0\/output is "mis".*did you mean "miss"\?$/,
    ],
    ['p0', { ...GOOD, quantity: 'p0' }, /\/quantity is "p0", an end of the distribution/],
    ['p100', { ...GOOD, quantity: 'p100' }, /\/quantity is "p100", an end of the distribution/],
    [
      'an unknown quantity',
      { ...GOOD, quantity: 'median' },
      /\/quantity is "median"; expected mean, probability, or a quantile/,
    ],
    ['both targets', { ...GOOD, relative: 0.1 }, /\/relative is given beside half_width; give one of them$/],
    ['no target', { output: 'miss', quantity: 'mean' }, /^\/policy\/precision\/0 has neither half_width nor relative/],
    ['reversed bounds', { ...GOOD, bounds: [5, 1] }, /\/bounds are 5 to 1: they are reversed/],
    ['equal bounds', { ...GOOD, bounds: [5, 5] }, /\/bounds are both 5/],
    ['bounds too wide', { ...GOOD, bounds: [-1.5e308, 1.5e308] }, /\/bounds are .*wider than a double holds/],
    ['bounds of a quantile', { ...GOOD, quantity: 'p95', bounds: [0, 1] }, /\/bounds are for the quantity mean/],
    [
      'relative to a mean that may be 0',
      { output: 'miss', quantity: 'mean', bounds: [-1, 1], relative: 0.1 },
      /\/relative is a share of a mean that may be 0 \(bounds -1 to 1\).*give half_width$/,
    ],
    ['a width that holds without a run', { ...GOOD, bounds: [0, 2] }, /\/half_width is 1, and 0 to 2 is as narrow/],
    [
      'a probability known to a half',
      { output: 'miss', quantity: 'probability', condition: '> 1', half_width: 0.5 },
      /\/half_width is 0.5, and 0 to 1 is as narrow/,
    ],
    ['a probability of nothing', { ...GOOD, quantity: 'probability', half_width: 0.1 }, /\/condition is missing/],
    [
      'a condition outside the grammar',
      { output: 'miss', quantity: 'probability', condition: 'about 3', half_width: 0.1 },
      /\/condition "about 3" is not a condition/,
    ],
    ['a condition of a mean', { ...GOOD, condition: '> 1' }, /\/condition is for the quantity probability/],
  ];
  for (const [title, precision, fault] of rows)
    it(`refuses ${title}`, () => {
      const found = faultsOf(precision, { outputs: { miss: { units: 'm' } } });
      expect(found).to.have.length(1);
      expect(found[0]).to.match(fault);
    });

  it('refuses a quantity that is given twice, a stop without precisions, and precisions without the stop', () => {
    const policy = (value: object) => precisionFaults({ ...study(), policy: value });
    expect(policy({ stop_when: 'precise', precision: [GOOD, { ...GOOD, half_width: 2 }] })[0]).to.include({
      pointer: '/policy/precision/1/quantity',
      detail: 'is that of /policy/precision/0 too; give each quantity once',
    });
    for (const it of [{ stop_when: 'precise' }, { stop_when: 'precise', precision: [] }])
      expect(policy(it)[0]!.detail).to.match(/^is missing; `stop_when: precise` needs at least one/);
    expect(policy({ precision: [GOOD] })[0]!.detail).to.match(/^is for studies with `stop_when: precise`/);
    expect(policy({ stop_when: 'settled', precision: [GOOD] })[0]!.pointer).to.equal('/policy/precision');
  });

  it('refuses designs whose runs are not independent, and requirements that are looked at once', () => {
    const designed = (sampling_method: BatchSubmission['config']['monte_carlo']['sampling_method']) =>
      precisionFaults({
        ...study({ config: { monte_carlo: { sampling_method } } }),
        policy: { stop_when: 'precise', precision: [GOOD] },
      }).map((it) => it.pointer);
    expect(designed('saltelli')).to.deep.equal(['/policy/stop_when']);
    for (const method of ['latin_hypercube', 'quasi_monte_carlo'] as const)
      expect(designed(method)).to.deep.equal(['/config/monte_carlo/replicates']);
    const requirement = { name: 'a', output: 'miss', condition: '< 1', probability: 0.9, look: 'once' };
    expect(faultsOf(GOOD, { requirements: [requirement] })).to.deep.equal([
      '/requirements/0/look is "once", which `stop_when: precise` excludes: the stop is decided after every run; leave one of them out',
    ]);
  });

  const replicated = (more: object, rest: object = {}) =>
    submissionFaults({
      ...study({ config: { monte_carlo: { sampling_method: 'latin_hypercube', runs: 80, replicates: 10, ...more } } }),
      policy: { stop_when: 'precise', precision: [GOOD] },
      ...rest,
    }).map(({ pointer, detail }) => `${pointer} ${detail}`);

  it('takes whole replicates of a Latin hypercube or Sobol study', () => {
    expect(replicated({})).to.deep.equal([]);
    expect(replicated({ sampling_method: 'quasi_monte_carlo' })).to.deep.equal([]);
    for (const runIds of ['0-15', '8-15,40-47', '72-79']) expect(replicated({ run_ids: runIds })).to.deep.equal([]);
    expect(replicated({}, { runs_override: 24 })).to.deep.equal([]);
    for (const runIds of ['0-14', '4-11', '0-15:3'])
      expect(replicated({ run_ids: runIds })[0]).to.match(
        /^\/config\/monte_carlo\/run_ids selects parts of replicates of 8 runs, .*select multiples of 8 runs$/,
      );
    expect(replicated({}, { runs_override: 20 })[0]).to.match(/^\/runs_override is 20, not a multiple of 8 runs, /);
  });

  it('refuses replicates that the runs are not, of other methods, beside a replicate, and of a table', () => {
    expect(replicated({ runs: 81 })).to.deep.equal([
      '/config/monte_carlo/runs is 81, which are not 10 replicates of as many runs each; use 80 or 90 runs',
    ]);
    expect(replicated({ runs: 0 })[0]).to.match(/use 10 runs$/);
    expect(replicated({ sampling_method: 'monte_carlo' })).to.deep.equal([
      '/config/monte_carlo/replicates is for latin_hypercube and quasi_monte_carlo, not for monte_carlo, whose runs are independent of each other; leave it out',
    ]);
    expect(replicated({ replicate: 3 })[0]).to.match(/^\/config\/monte_carlo\/replicate is given beside replicates/);
    const table = { distribution: { type: 'table', values: Array.from({ length: 80 }, (_, at) => at) }, units: '' };
    const base = study({ config: { monte_carlo: { sampling_method: 'latin_hypercube', runs: 80, replicates: 10 } } });
    const faults = precisionFaults({
      ...base,
      config: { ...base.config, dispersions: { mass: table } },
      policy: { stop_when: 'precise', precision: [GOOD] },
    });
    expect(faults[0]!.detail).to.match(/the rows of the table "mass" are not drawn anew in each replicate/);
  });

  it('skips members of another type, which the shape refuses', () => {
    for (const it of [null, 3, {}, { output: 3, quantity: 4, bounds: 'x', half_width: 'y', condition: 5 }])
      expect(() => faultsOf(it as object)).not.to.throw();
    expect(precisionFaults(null)).to.deep.equal([]);
    expect(precisionFaults({ policy: { stop_when: 'precise', precision: 'mean' } })).to.deep.equal([]);
  });
});

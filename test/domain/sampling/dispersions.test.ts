/** Which dispersions are refused or warned of, as tables. */
import { expect } from 'chai';
import { dispersionFaults } from '../../../src/domain/sampling/dispersions.ts';
import { samplingWarnings } from '../../../src/domain/sampling/warnings.ts';
import type { DistributionType, SamplingMethod } from '../../../src/contract/types.ts';
import { UNIT, dispersionsOf, names } from './support.ts';

const config = (pairs: Iterable<readonly [string, DistributionType]>, method: SamplingMethod, runs: number) => ({
  dispersions: dispersionsOf(pairs),
  monte_carlo: { runs, sampling_method: method },
});
const faultsOf = (distribution: object, name = 'x') =>
  dispersionFaults(config([[name, distribution as DistributionType]], 'monte_carlo', 1)).map(
    ({ pointer, detail }) => `${pointer.replace('/config/dispersions/', '')}: ${detail}`,
  );

describe('dispersions', () => {
  const refused: [object, string][] = [
    [{ type: 'normal', mean: 0, std_dev: -1 }, 'x/distribution/std_dev: must be >= 0, not -1'],
    [{ type: 'normal', mean: Infinity, std_dev: 1 }, 'x/distribution/mean: must be a finite number, not Infinity'],
    [{ type: 'normal', mean: 1e308, std_dev: 1e308 }, 'x/distribution: as normal with '],
    [{ type: 'uniform', min: 2, max: 1 }, 'x/distribution/min: must be <= max (1), not 2'],
    [{ type: 'uniform', min: NaN, max: 1 }, 'x/distribution/min: must be a finite number, not NaN'],
    [{ type: 'exponential', lambda: 0 }, 'x/distribution/lambda: must be > 0, not 0'],
    [{ type: 'exponential', lambda: 1e-308 }, 'x/distribution: as exponential with '],
    [{ type: 'gamma', shape: -2, scale: 1 }, 'x/distribution/shape: must be > 0, not -2'],
    [{ type: 'gamma', shape: 2, scale: 0 }, 'x/distribution/scale: must be > 0, not 0'],
    [{ type: 'gamma', shape: 2, scale: 1e308 }, 'x/distribution: as gamma with '],
    [{ type: 'gamma', shape: 1e308, scale: 1e10 }, 'x/distribution: as gamma with '],
    [{ type: 'beta', alpha: 0, beta: 1 }, 'x/distribution/alpha: must be > 0, not 0'],
    [{ type: 'beta', alpha: 1, beta: 1e300 }, 'x/distribution/beta: must be <= 1000000000, not 1e+300'],
    [{ type: 'fixed', value: '3' }, 'x/distribution/value: must be a finite number, not string'],
    [{ type: 'fixed' }, 'x/distribution/value: must be a finite number, is missing'],
    [
      { type: 'poisson', lambda: 1 },
      'x/distribution/type: must be one of normal, uniform, exponential, gamma, beta, fixed',
    ],
    [{ type: 'toString' }, 'x/distribution/type: must be one of'],
    [{ type: 'lognormal', mu: 0, sigma: -1 }, 'x/distribution/sigma: must be >= 0, not -1'],
    [{ type: 'lognormal', mu: 700, sigma: 2 }, 'x/distribution: as lognormal with mu 700 and sigma 2 has extreme'],
    [{ type: 'loguniform', min: 0, max: 1 }, 'x/distribution/min: must be > 0, not 0'],
    [{ type: 'loguniform', min: 2, max: 1 }, 'x/distribution/min: must be <= max (1), not 2'],
    [{ type: 'weibull', shape: 0, scale: 1 }, 'x/distribution/shape: must be > 0, not 0'],
    [{ type: 'weibull', shape: 0.001, scale: 1 }, 'x/distribution: as weibull with '],
    [{ type: 'triangular', min: 0, mode: 3, max: 2 }, 'x/distribution/mode: must be from min (0) to max (2), not 3'],
    [{ type: 'triangular', min: 5, mode: 3, max: 2 }, 'x/distribution/min: must be <= max (2), not 5'],
    [{ type: 'triangular', min: -1.5e308, mode: 0, max: 1.5e308 }, 'x/distribution: as triangular with '],
    [{ type: 'discrete', values: [] }, 'x/distribution/values: must have 1 to 10000 items, not 0'],
    [{ type: 'discrete', values: [{ value: 1, weight: 0 }] }, 'x/distribution/values/0/weight: must be > 0, not 0'],
    [
      { type: 'discrete', values: [{ weight: 1 }] },
      'x/distribution/values/0/value: must be a finite number, is missing',
    ],
    [
      {
        type: 'discrete',
        values: [
          { value: 1, weight: 1e308 },
          { value: 2, weight: 1e308 },
        ],
      },
      'x/distribution/values: has weights whose sum overflows',
    ],
    [{ type: 'empirical', data: [1] }, 'x/distribution/data: must have 2 to 100000 items, not 1'],
    [{ type: 'empirical', data: [1, 2, '3'] }, 'x/distribution/data/2: must be a finite number, not string'],
    [{ type: 'empirical', data: 'cases.csv' }, 'x/distribution/data: must be a list, not string'],
    [{ type: 'table', values: [] }, 'x/distribution/values: has 0 numbers for 1 runs; give one for each run'],
    [{ type: 'table', values: [Infinity] }, 'x/distribution/values/0: must be a finite number, not Infinity'],
    [{ type: 'normal', mean: 0, std_dev: 1, lower: 2, upper: 2 }, 'x/distribution/lower: must be < upper (2), not 2'],
    [{ type: 'normal', mean: 0, std_dev: 1, lower: '2' }, 'x/distribution/lower: must be a finite number, not string'],
    [
      { type: 'normal', mean: 0, std_dev: 1, lower: 38 },
      'x/distribution/lower: leaves an interval of probability below',
    ],
    [
      { type: 'normal', mean: 0, std_dev: 1, upper: -38 },
      'x/distribution/upper: leaves an interval of probability below',
    ],
    [
      { type: 'normal', mean: 5, std_dev: 0, lower: 6 },
      'x/distribution/lower: leaves an interval of probability below',
    ],
    [
      { type: 'lognormal', mu: 0, sigma: 1, upper: 0 },
      'x/distribution/upper: must be > 0, where the distribution begins',
    ],
    [{ type: 'weibull', shape: 2, scale: 1, upper: -1 }, 'x/distribution/upper: must be > 0, where'],
    [{ type: 'gamma', shape: 2, scale: 1, lower: 3, upper: 1 }, 'x/distribution/lower: must be < upper (1), not 3'],
    [{ type: 'exponential', lambda: 1, lower: 700 }, 'x/distribution/lower: leaves an interval of probability below'],
  ];
  for (const [distribution, expected] of refused) {
    it(`refuses ${JSON.stringify(distribution)}`, () => {
      const faults = faultsOf(distribution);
      expect(faults).to.have.length(1);
      expect(faults[0]).to.include(expected);
    });
  }

  const accepted: DistributionType[] = [
    { type: 'normal', mean: 7, std_dev: 0 },
    { type: 'uniform', min: 5, max: 5 },
    { type: 'uniform', min: -1.5e308, max: 1.5e308 },
    { type: 'gamma', shape: 1e-300, scale: 1 },
    { type: 'gamma', shape: 1e300, scale: 1 },
    { type: 'beta', alpha: 1e-300, beta: 1e-300 },
    { type: 'beta', alpha: 1e9, beta: 1e-9 },
    { type: 'fixed', value: -0 },
    { type: 'lognormal', mu: 0, sigma: 0 },
    { type: 'lognormal', mu: 0, sigma: 1, lower: -3, upper: 1 },
    { type: 'loguniform', min: 1e-300, max: 1e300 },
    { type: 'triangular', min: 1, mode: 1, max: 1 },
    { type: 'discrete', values: [{ value: -1, weight: 1e-300 }] },
    { type: 'empirical', data: [2, 1] },
    { type: 'table', values: [1, 2, 3] },
    { type: 'normal', mean: 0, std_dev: 1, lower: 37, upper: null },
    { type: 'normal', mean: 5, std_dev: 0, lower: 5 },
    { type: 'normal', mean: 0, std_dev: 1e308, lower: -1e308, upper: 1e308 },
    { type: 'exponential', lambda: 1, lower: 690 },
  ];
  for (const distribution of accepted) {
    it(`accepts ${JSON.stringify(distribution)}`, () => expect(faultsOf(distribution)).to.deep.equal([]));
  }

  it('reports all faults at once', () => {
    expect(faultsOf({ type: 'gamma', shape: 0, scale: -1 })).to.have.length(2);
  });

  it('refuses names that are empty or not Unicode, and points at odd ones properly', () => {
    expect(faultsOf(UNIT, '')).to.deep.equal([': the name of a dispersion must not be empty']);
    expect(faultsOf(UNIT, 'a\ud800')[0]).to.include('lone surrogates');
    expect(faultsOf(UNIT, '__proto__')).to.deep.equal([]);
    expect(faultsOf({ type: 'fixed' }, 'a/b~c')[0]).to.include('a~1b~0c/distribution/value');
    expect(faultsOf({ type: 'fixed' }, '__proto__')[0]).to.include('__proto__/distribution/value');
  });

  it('refuses more quasi_monte_carlo dispersions than there are dimensions', () => {
    const pairs = names(1112).map((name) => [name, UNIT] as const);
    expect(dispersionFaults(config(pairs, 'quasi_monte_carlo', 64))).to.have.length(1);
    expect(dispersionFaults(config(pairs.slice(1), 'quasi_monte_carlo', 64))).to.deep.equal([]);
    expect(dispersionFaults(config(pairs, 'latin_hypercube', 64))).to.deep.equal([]);
  });

  const few = 'quasi-monte-carlo-few-runs';
  const forDispersions = 'quasi-monte-carlo-few-runs-for-dispersions';
  const notPower = 'quasi-monte-carlo-not-a-power-of-two';
  const warned: [SamplingMethod, dispersions: number, runs: number, jobs: number, codes: string[]][] = [
    ['monte_carlo', 50, 10, 10, []],
    ['latin_hypercube', 50, 10, 10, []],
    ['latin_hypercube', 2, 1000, 10, ['latin-hypercube-subset']],
    ['latin_hypercube', 0, 1000, 10, []],
    ['quasi_monte_carlo', 2, 64, 64, []],
    ['quasi_monte_carlo', 2, 32, 32, [few]],
    ['quasi_monte_carlo', 2, 1000, 10, [few, notPower]],
    ['quasi_monte_carlo', 5, 64, 64, [forDispersions]],
    ['quasi_monte_carlo', 4, 100, 100, [notPower]],
    ['quasi_monte_carlo', 4, 0, 0, []],
    ['quasi_monte_carlo', 0, 10, 10, []],
  ];
  for (const [method, count, runs, jobs, codes] of warned) {
    it(`warns of ${method}, ${count} dispersions, ${jobs} of ${runs} runs: ${codes.join(', ') || 'nothing'}`, () => {
      const study = config(
        names(count).map((name) => [name, UNIT] as const),
        method,
        runs,
      );
      const warnings = samplingWarnings(study, jobs);
      expect(warnings.map(({ code }) => code)).to.deep.equal(codes);
      // The member to change: the cap where there is one, else the runs of the study.
      const pointer = jobs < runs ? '/runs_override' : '/config/monte_carlo/runs';
      for (const warning of warnings) expect(warning.pointer).to.equal(pointer);
    });
  }

  const selected: [SamplingMethod, runIds: string, jobs: number, codes: string[]][] = [
    ['monte_carlo', '5-9', 5, []],
    ['latin_hypercube', '5-9', 5, ['latin-hypercube-subset']],
    ['latin_hypercube', '0-127', 128, []],
    ['quasi_monte_carlo', '0-127', 128, []],
    ['quasi_monte_carlo', '64-127', 64, []],
    ['quasi_monte_carlo', '64-127', 32, []],
    ['quasi_monte_carlo', '32-95', 64, ['quasi-monte-carlo-subset']],
    ['quasi_monte_carlo', '0-126:2', 64, ['quasi-monte-carlo-subset']],
    ['quasi_monte_carlo', '3,17', 2, ['quasi-monte-carlo-subset']],
  ];
  for (const [method, runIds, jobs, codes] of selected) {
    it(`warns of ${method}, runs ${runIds} of 128, ${jobs} made: ${codes.join(', ') || 'nothing'}`, () => {
      const study = config([['x', UNIT]], method, 128);
      const warnings = samplingWarnings({ ...study, monte_carlo: { ...study.monte_carlo, run_ids: runIds } }, jobs);
      expect(warnings.map(({ code }) => code)).to.deep.equal(codes);
      for (const { pointer } of warnings) expect(pointer).to.equal('/config/monte_carlo/run_ids');
    });
  }

  it('warns that a Latin hypercube keeps its strata for one parameter of each correlated group', () => {
    const study = config(
      names(4).map((name) => [name, UNIT] as const),
      'latin_hypercube',
      10,
    );
    const correlations = [
      { parameters: ['p1', 'p0'] as [string, string], rank: 0.5 },
      { parameters: ['p3', 'p2'] as [string, string], rank: 0.5 },
    ];
    const [warning, ...others] = samplingWarnings({ ...study, correlations }, 10);
    expect(others).to.deep.equal([]);
    expect(warning).to.include({ code: 'latin-hypercube-correlated', pointer: '/config/correlations' });
    expect(warning!.detail).to.include('(p0, p2)');
  });

  it('does not warn of a design without random numbers', () => {
    const study = config([['t', { type: 'table', values: [1, 2] }]], 'latin_hypercube', 2);
    expect(samplingWarnings(study, 1)).to.deep.equal([]);
  });
});

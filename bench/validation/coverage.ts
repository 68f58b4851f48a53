/** Simulated coverage of the intervals of means and quantiles. */
import { estimateMean } from '../../src/analysis/outputs/mean.ts';
import { isMeanDoubtful, skewnessOf } from '../../src/analysis/outputs/output-summary.ts';
import { quantileRanks, toleranceRank } from '../../src/analysis/outputs/order-statistics.ts';
import { standardNormalQuantile } from '../../src/base/distributions/normal.ts';
import { createSampler } from '../../src/domain/sampling/sampler.ts';
import { NumberSeries } from '../../src/analysis/numeric/statistics.ts';
import type { DispersionConfig, SamplingMethod } from '../../src/contract/types.ts';
import { uniformSource } from '../../test/analysis/synthetic.ts';
import type { ValidationTable } from './tables.ts';

const STUDIES = 20_000;
const DESIGNS = 2_000;

/** Distributions by their quantile function and mean. */
const DISTRIBUTIONS = {
  normal: { quantile: standardNormalQuantile, mean: 0 },
  exponential: { quantile: (u: number) => -Math.log1p(-u), mean: 1 },
  'lognormal, sigma 1.5': {
    quantile: (u: number) => Math.exp(1.5 * standardNormalQuantile(u)),
    mean: Math.exp(1.125),
  },
  'lognormal, sigma 1': { quantile: (u: number) => Math.exp(standardNormalQuantile(u)), mean: Math.exp(0.5) },
};

const unit: DispersionConfig = { distribution: { type: 'uniform', min: 0, max: 1 }, units: '' };

/** The share of studies whose t interval holds the mean, of those that are named as skewed, and of the others that hold it. */
export function meanCoverage(): ValidationTable {
  const uniform = uniformSource(1);
  const confidence = 0.95;
  const rows = Object.entries(DISTRIBUTIONS).flatMap(([name, { quantile, mean }]) =>
    [10, 50, 100, 200, 1000].map((n) => {
      let [covered, named, trusted] = [0, 0, 0];
      for (let study = 0; study < STUDIES; study++) {
        const series = drawn(n, () => quantile(uniform()));
        const { interval, method: mean_method } = estimateMean('monte_carlo', series, [], confidence);
        const isCovered = interval![0] <= mean && mean <= interval![1];
        const skewness = skewnessOf(series.sorted(), series);
        const isNamed = isMeanDoubtful({ count: n, skewness, mean_method });
        covered += Number(isCovered);
        named += Number(isNamed);
        trusted += Number(isCovered && !isNamed);
      }
      const rest = STUDIES - named;
      const others = rest < STUDIES / 100 ? '' : (trusted / rest).toFixed(3);
      return [name, n, confidence, (covered / STUDIES).toFixed(3), (named / STUDIES).toFixed(3), others];
    }),
  );
  const head = ['distribution', 'runs', 'confidence', 'coverage', 'named as skewed', 'coverage of the others'];
  return { name: 'mean-coverage', head, rows };
}

/** The share of studies whose order-statistic interval holds the quantile, and whose tolerance bound covers its content. */
export function quantileCoverage(): ValidationTable {
  const uniform = uniformSource(2);
  const confidence = 0.95;
  const rows = [0.5, 0.95, 0.99].flatMap((q) =>
    [59, 300, 1000].map((n) => {
      // Ranks alone decide, so that uniforms represent every continuous distribution.
      const { lower, upper } = quantileRanks(n, q, confidence);
      const rank = toleranceRank(n, q, confidence);
      let [covered, tolerated] = [0, 0];
      for (let study = 0; study < STUDIES / 4; study++) {
        const sorted = Float64Array.from({ length: n }, uniform).sort();
        if ((lower === null || sorted[lower - 1]! <= q) && (upper === null || q <= sorted[upper - 1]!)) covered++;
        if (rank !== null && sorted[rank - 1]! >= q) tolerated++;
      }
      const share = (count: number): string => (count / (STUDIES / 4)).toFixed(3);
      const ends = lower === null || upper === null ? 'one side' : 'both sides';
      return [q, n, confidence, share(covered), ends, rank === null ? 'none' : share(tolerated)];
    }),
  );
  const head = [
    'quantile',
    'runs',
    'confidence',
    'coverage of the interval',
    'bounded on',
    'coverage of the tolerance bound',
  ];
  return { name: 'quantile-coverage', head, rows };
}

/** The mean of a smooth output of six inputs by each way of sampling 512 runs. */
export function designCoverage(): ValidationTable {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const dispersions = Object.fromEntries(names.map((name) => [name, unit]));
  const confidence = 0.95;
  const truth = Math.E - 1 + 5 * 0.5 + 0.25;
  const output = (u: ArrayLike<number>): number =>
    Math.exp(u[0]!) + u[1]! + u[2]! + u[3]! + u[4]! + u[5]! + u[0]! * u[1]!;
  const cases: [SamplingMethod, replicates: number, runs: number][] = [
    ['monte_carlo', 1, 512],
    ['latin_hypercube', 1, 512],
    ['latin_hypercube', 8, 64],
    ['quasi_monte_carlo', 8, 64],
  ];
  const rows = cases.map(([method, replicates, runs]) => {
    let [covered, width] = [0, 0];
    for (let study = 0; study < DESIGNS; study++) {
      const all = new NumberSeries();
      const means = Array.from({ length: replicates }, (_, r) => {
        const sampler = createSampler(dispersions, { runs, sampling_method: method, seed: 1 + study, replicate: r });
        let sum = 0;
        for (let run = 0; run < runs; run++) {
          const value = output(sampler.uniforms(run));
          all.add(value);
          sum += value;
        }
        return sum / runs;
      });
      const { interval } = estimateMean(method, all, means, confidence);
      const [low, high] = interval!;
      if (low <= truth && truth <= high) covered++;
      width += (high - low) / 2;
    }
    return [
      method,
      `${replicates} x ${runs}`,
      confidence,
      (covered / DESIGNS).toFixed(3),
      (width / DESIGNS).toPrecision(3),
    ];
  });
  return {
    name: 'design-coverage',
    head: ['method', 'replicates x runs', 'confidence', 'coverage', 'mean half-width'],
    rows,
  };
}

function drawn(n: number, draw: () => number): NumberSeries {
  const series = new NumberSeries();
  for (let i = 0; i < n; i++) series.add(draw());
  return series;
}

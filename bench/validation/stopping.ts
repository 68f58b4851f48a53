/** Simulated coverage of intervals at the run at which a study stops: by confidence sequences, and by RocketPy's rule. */
import { isLook } from '../../src/analysis/precision/planning.ts';
import { halfWidthOf, parsePrecision, sequenceOf } from '../../src/analysis/precision/precision.ts';
import { standardNormalQuantile } from '../../src/base/distributions/normal.ts';
import { binomialSf } from '../../src/analysis/special/binomial.ts';
import type { Precision } from '../../src/contract/types.ts';
import { uniformSource } from '../../test/analysis/synthetic.ts';
import type { ValidationTable } from './tables.ts';

/** They take about four minutes of processor time. */
const STUDIES = Number(process.env.STUDIES ?? 20_000);
/** A study that has not stopped by then ends there. */
const MOST_RUNS = 10_000;
const CONFIDENCE = 0.95;

/** RocketPy 1.12.1, `MonteCarlo.simulate_convergence`: its defaults, with as many runs as a study here may have. */
const ROCKETPY = { batch: 50, resamples: 1000 };

interface Distribution {
  quantile: (u: number) => number;
  mean: number;
  p95: number;
  /** Half-widths that are wanted, for the mean and for P95. */
  wanted: [mean: number, p95: number];
}

const Z95 = standardNormalQuantile(0.95);
const DISTRIBUTIONS: Readonly<Record<string, Distribution>> = {
  normal: { quantile: standardNormalQuantile, mean: 0, p95: Z95, wanted: [0.14, 0.2] },
  exponential: { quantile: (u) => -Math.log1p(-u), mean: 1, p95: Math.log(20), wanted: [0.14, 0.4] },
  'lognormal, sigma 1': {
    quantile: (u) => Math.exp(standardNormalQuantile(u)),
    mean: Math.exp(0.5),
    p95: Math.exp(Z95),
    wanted: [0.3, 1],
  },
};

interface Case {
  name: string;
  precision: Precision;
  truth: number;
  draw: () => number;
  /** False where RocketPy has no such quantity. */
  isCompared: boolean;
}

function cases(uniform: () => number): Case[] {
  const shared = { output: 'y', confidence: CONFIDENCE };
  const open = Object.entries(DISTRIBUTIONS).flatMap(([name, { quantile, mean, p95, wanted }]): Case[] => [
    {
      name,
      precision: { ...shared, quantity: 'mean', half_width: wanted[0] },
      truth: mean,
      draw: () => quantile(uniform()),
      isCompared: true,
    },
    {
      name,
      precision: { ...shared, quantity: 'p95', half_width: wanted[1] },
      truth: p95,
      draw: () => quantile(uniform()),
      isCompared: true,
    },
  ]);
  return [
    ...open,
    {
      name: 'uniform from 0 to 1, with bounds',
      precision: { ...shared, quantity: 'mean', bounds: [0, 1], half_width: 0.04 },
      truth: 0.5,
      draw: uniform,
      isCompared: false,
    },
    {
      name: '1 with probability 0.05, else 0',
      precision: { ...shared, quantity: 'probability', condition: '> 0', half_width: 0.03 },
      truth: 0.05,
      draw: () => Number(uniform() < 0.05),
      isCompared: false,
    },
  ];
}

interface Tally {
  covered: number;
  runs: number;
  stopped: number;
}

/** Coverage at the stop in `STUDIES` studies of each kind, at the confidence 0.95. */
export function stoppingCoverage(): ValidationTable {
  const rows = cases(uniformSource(11)).map((it) => {
    const own = bySequence(it);
    const other = it.isCompared ? byRocketPy(it) : undefined;
    const share = (count: number): string => (count / STUDIES).toFixed(3);
    const { quantity, half_width: wanted } = it.precision;
    return [
      it.name,
      quantity,
      wanted!,
      parsePrecision(it.precision).method,
      share(own.covered),
      Math.round(own.runs / STUDIES),
      share(own.stopped),
      ...(other === undefined ? ['', ''] : [share(other.covered), Math.round(other.runs / STUDIES)]),
    ];
  });
  const head = [
    'distribution',
    'quantity',
    'half-width wanted',
    'sequence',
    'coverage at the stop',
    'mean runs',
    `stopped by ${MOST_RUNS}`,
    "coverage, RocketPy's rule",
    "mean runs, RocketPy's rule",
  ];
  return { name: 'stopping-coverage', head, rows };
}

function bySequence({ precision, truth, draw }: Case): Tally {
  const tally: Tally = { covered: 0, runs: 0, stopped: 0 };
  const parsed = parsePrecision(precision);
  for (let study = 0; study < STUDIES; study++) {
    const sequence = sequenceOf(parsed);
    let runs = 0;
    let isReached = false;
    while (!isReached && runs < MOST_RUNS) {
      sequence.take(draw());
      runs++;
      isReached = isLook(runs) && (halfWidthOf(sequence.interval()) ?? Infinity) <= precision.half_width!;
    }
    const [low, high] = sequence.interval();
    tally.covered += Number((low ?? -Infinity) <= truth && truth <= (high ?? Infinity));
    tally.runs += runs;
    tally.stopped += Number(isReached);
  }
  return tally;
}

/** Batches of 50 until the percentile bootstrap interval is at most as wide as the tolerance, its full width. */
function byRocketPy({ precision, truth, draw }: Case): Tally {
  const tally: Tally = { covered: 0, runs: 0, stopped: 0 };
  const tolerance = 2 * precision.half_width!;
  const values = new Float64Array(MOST_RUNS);
  for (let study = 0; study < STUDIES; study++) {
    let runs = 0;
    let interval: [number, number] = [-Infinity, Infinity];
    while (runs < MOST_RUNS && interval[1] - interval[0] > tolerance) {
      for (let end = runs + ROCKETPY.batch; runs < end; runs++) values[runs] = draw();
      const used = values.subarray(0, runs);
      interval = precision.quantity === 'mean' ? bootstrapMean(used) : bootstrapP95(used);
    }
    tally.covered += Number(interval[0] <= truth && truth <= interval[1]);
    tally.runs += runs;
    tally.stopped += Number(interval[1] - interval[0] <= tolerance);
  }
  return tally;
}

let state = 2463534242;

/** A place below n, by Marsaglia's xorshift. */
function place(n: number): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return Math.floor(((state >>> 0) / 4294967296) * n);
}

/** Resampled, as SciPy's `bootstrap(method="percentile")` does. */
function bootstrapMean(values: Float64Array): [number, number] {
  const n = values.length;
  const means = new Float64Array(ROCKETPY.resamples);
  for (let at = 0; at < means.length; at++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += values[place(n)]!;
    means[at] = sum / n;
  }
  means.sort();
  return [percentile(means, (1 - CONFIDENCE) / 2), percentile(means, (1 + CONFIDENCE) / 2)];
}

const ranksOf = new Map<number, [number, number]>();

/** The interval in the limit of many resamples: P(the k-th smallest of n drawn is at most the j-th value) = P(B(n, j/n) >= k). */
function bootstrapP95(values: Float64Array): [number, number] {
  const n = values.length;
  const sorted = values.slice().sort();
  let ranks = ranksOf.get(n);
  if (ranks === undefined) {
    const k = Math.round(0.95 * (n - 1)) + 1;
    const rank = (share: number): number => {
      let j = 1;
      while (j < n && binomialSf(k - 1, n, j / n) < share) j++;
      return j;
    };
    ranks = [rank((1 - CONFIDENCE) / 2), rank((1 + CONFIDENCE) / 2)];
    ranksOf.set(n, ranks);
  }
  return [sorted[ranks[0] - 1]!, sorted[ranks[1] - 1]!];
}

function percentile(sorted: Float64Array, share: number): number {
  const position = share * (sorted.length - 1);
  const below = Math.floor(position);
  const low = sorted[below]!;
  return low + (position - below) * (sorted[Math.min(below + 1, sorted.length - 1)]! - low);
}

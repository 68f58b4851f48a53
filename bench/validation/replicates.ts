/** Simulated coverage at the stop of studies of Latin hypercube and Sobol' replicates, drawn by the sampler of studies. */
import { isLook } from '../../src/analysis/precision/planning.ts';
import { halfWidthOf, parsePrecision, sequenceOf } from '../../src/analysis/precision/precision.ts';
import { normalTails, standardNormalQuantile } from '../../src/base/distributions/normal.ts';
import type { Precision } from '../../src/contract/types.ts';
import { createSampler } from '../../src/domain/sampling/sampler.ts';
import type { ValidationTable } from './tables.ts';

/** `STUDIES=2000` takes about five minutes of processor time. */
const STUDIES = Number(process.env.STUDIES ?? 100);
const MOST_RUNS = 10_000;
/** Runs of one replicate. */
const RUNS = 4;
const METHODS = ['latin_hypercube', 'quasi_monte_carlo'] as const;

/** Three inputs, each standard normal; their sum over sqrt(3) is standard normal too, and each output a function of it. */
const INPUTS = ['a', 'b', 'c'];
const DISPERSIONS = Object.fromEntries(
  INPUTS.map((name) => [name, { distribution: { type: 'normal' as const, mean: 0, std_dev: 1 }, units: '' }]),
);
const tails = { p: 0, q: 0 };
function normalCdf(z: number): number {
  normalTails(z, tails);
  return tails.p;
}

const Z95 = standardNormalQuantile(0.95);

interface Case {
  name: string;
  precision: Precision;
  truth: number;
  valueOf: (z: number) => number;
}

const shared = { output: 'y', confidence: 0.95 };
const CASES: readonly Case[] = [
  { name: 'normal', precision: { ...shared, quantity: 'mean', half_width: 0.14 }, truth: 0, valueOf: (z) => z },
  { name: 'normal', precision: { ...shared, quantity: 'p95', half_width: 0.2 }, truth: Z95, valueOf: (z) => z },
  {
    name: 'lognormal, sigma 1',
    precision: { ...shared, quantity: 'mean', half_width: 0.3 },
    truth: Math.exp(0.5),
    valueOf: Math.exp,
  },
  {
    name: 'lognormal, sigma 1',
    precision: { ...shared, quantity: 'p95', half_width: 1 },
    truth: Math.exp(Z95),
    valueOf: Math.exp,
  },
  {
    name: 'uniform from 0 to 1, with bounds',
    precision: { ...shared, quantity: 'mean', bounds: [0, 1], half_width: 0.04 },
    truth: 0.5,
    valueOf: normalCdf,
  },
  {
    name: '1 with probability 0.05, else 0',
    precision: { ...shared, quantity: 'probability', condition: '> 0', half_width: 0.03 },
    truth: 0.05,
    valueOf: (z) => Number(z > Z95),
  },
];

/** Coverage at the stop in `STUDIES` studies of each kind, at the confidence 0.95. */
export function replicateCoverage(): ValidationTable {
  const rows = METHODS.flatMap((method) =>
    CASES.map((it) => {
      const { covered, runs, stopped } = studied(it, method);
      const share = (count: number): string => (count / STUDIES).toFixed(3);
      const { quantity, half_width: wanted } = it.precision;
      const { method: sequence } = parsePrecision(it.precision, RUNS);
      return [method, it.name, quantity, wanted!, sequence, share(covered), Math.round(runs / STUDIES), share(stopped)];
    }),
  );
  const head = [
    'method',
    'distribution',
    'quantity',
    'half-width wanted',
    'sequence',
    'coverage at the stop',
    'mean runs',
    `stopped by ${MOST_RUNS}`,
  ];
  return { name: 'replicate-coverage', head, rows };
}

function studied({ precision, truth, valueOf }: Case, method: (typeof METHODS)[number]) {
  const parsed = parsePrecision(precision, RUNS);
  const sampled = new Float64Array(INPUTS.length);
  const tally = { covered: 0, runs: 0, stopped: 0 };
  for (let seed = 0; seed < STUDIES; seed++) {
    const plan = { runs: MOST_RUNS, replicates: MOST_RUNS / RUNS, sampling_method: method, seed };
    const sampler = createSampler(DISPERSIONS, plan);
    const sequence = sequenceOf(parsed);
    let runs = 0;
    let isReached = false;
    while (!isReached && runs < MOST_RUNS) {
      for (const end = runs + RUNS; runs < end; runs++) {
        sampler.sampleInto(runs, sampled);
        sequence.take(valueOf(sampled.reduce((sum, it) => sum + it, 0) / Math.sqrt(INPUTS.length)));
      }
      isReached = isLook(runs / RUNS) && (halfWidthOf(sequence.interval()) ?? Infinity) <= precision.half_width!;
    }
    const [low, high] = sequence.interval();
    tally.covered += Number((low ?? -Infinity) <= truth && truth <= (high ?? Infinity));
    tally.runs += runs;
    tally.stopped += Number(isReached);
  }
  return tally;
}

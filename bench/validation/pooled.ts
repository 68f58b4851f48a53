/** Simulated coverage of the bounds of a pooled requirement: the weighted share of cells, whose runs of a sample depend on each other. */
import { CountedValues, lowerMean, PooledCapital, upperMean } from '../../src/analysis/requirements/cells/pooled.ts';
import { uniformSource } from '../../test/analysis/synthetic.ts';
import type { ValidationTable } from './tables.ts';

const STUDIES = Number(process.env.STUDIES ?? 10_000);
const CONFIDENCE = 0.95;
const SAMPLES = [50, 500];

interface Case {
  name: string;
  /** The probability of passing in each cell. */
  passing: readonly number[];
  /** They sum to 1. */
  weights: readonly number[];
  /** True: one random number for all cells of a sample; false: one for each. */
  isCommon: boolean;
  /** The share of runs whose outcome is not known, by chance. */
  unknown: number;
}

const FOUR = { passing: [0.9, 0.95, 0.99, 0.99], weights: [0.25, 0.25, 0.25, 0.25] };
const CASES: readonly Case[] = [
  { name: '4, common random numbers', ...FOUR, isCommon: true, unknown: 0 },
  { name: '4, independent', ...FOUR, isCommon: false, unknown: 0 },
  { name: '2, weights 0.7 and 0.3', passing: [0.98, 0.9], weights: [0.7, 0.3], isCommon: true, unknown: 0 },
  {
    name: '12 that fail together',
    passing: Array.from({ length: 12 }, () => 0.995),
    weights: Array.from({ length: 12 }, () => 1 / 12),
    isCommon: true,
    unknown: 0,
  },
  { name: '4, common, 5 % unknown', ...FOUR, isCommon: true, unknown: 0.05 },
];

/** The share of studies whose bound is on the right side of the pooled probability: after the last sample, and after every sample. */
export function pooledCoverage(): ValidationTable {
  const uniform = uniformSource(47);
  const rows = CASES.flatMap((one) => SAMPLES.map((samples) => rowOf(one, samples, uniform)));
  const head = [
    'cells',
    'pooled probability',
    'samples',
    'confidence',
    'lower bound',
    'upper bound',
    'lower, at every sample',
    'upper, at every sample',
    'mean interval',
  ];
  return { name: 'pooled-coverage', head, rows };
}

function rowOf(one: Case, samples: number, uniform: () => number): (string | number)[] {
  const truth = one.weights.reduce((sum, weight, cell) => sum + weight * one.passing[cell]!, 0);
  const held = { lower: 0, upper: 0, alwaysLower: 0, alwaysUpper: 0 };
  const mean = { lower: 0, upper: 0 };
  const goal = -Math.log1p(-CONFIDENCE);
  for (let study = 0; study < STUDIES; study++) {
    const [least, greatest] = [new CountedValues(), new CountedValues()];
    const capital = new PooledCapital(truth);
    let [isLower, isUpper] = [true, true];
    for (let sample = 0; sample < samples; sample++) {
      const { low, high } = shareOf(one, uniform);
      least.add(low);
      greatest.add(high);
      capital.take(low, high);
      const logs = capital.logs();
      isLower &&= logs.above < goal;
      isUpper &&= logs.below < goal;
    }
    const [lower, upper] = [lowerMean(least, CONFIDENCE), upperMean(greatest, CONFIDENCE)];
    held.lower += Number(lower <= truth);
    held.upper += Number(upper >= truth);
    held.alwaysLower += Number(isLower);
    held.alwaysUpper += Number(isUpper);
    mean.lower += lower / STUDIES;
    mean.upper += upper / STUDIES;
  }
  const shares = [held.lower, held.upper, held.alwaysLower, held.alwaysUpper].map((it) => (it / STUDIES).toFixed(4));
  const interval = `${mean.lower.toFixed(3)} to ${mean.upper.toFixed(3)}`;
  return [one.name, Number(truth.toFixed(6)), samples, CONFIDENCE, ...shares, interval];
}

/** The share of the weights that a sample passes: with its unknown cells failed, and with them passed. */
function shareOf({ passing, weights, isCommon, unknown }: Case, uniform: () => number): { low: number; high: number } {
  const shared = uniform();
  let [low, high] = [0, 0];
  for (const [cell, probability] of passing.entries()) {
    const isPassed = (isCommon ? shared : uniform()) < probability;
    if (unknown > 0 && uniform() < unknown) high += weights[cell]!;
    else if (isPassed) {
      low += weights[cell]!;
      high += weights[cell]!;
    }
  }
  return { low, high };
}

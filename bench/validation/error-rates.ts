/** Exact error of the verdicts: of the sequential test and of bounds that are looked at too often, and of one planned look. */
import { lowerBound, upperBound } from '../../src/analysis/special/exact-bounds.ts';
import { SequentialTest } from '../../src/analysis/requirements/sequential-test.ts';
import { moreCleanRuns } from '../../src/analysis/special/exact-bounds.ts';
import { logBeta } from '../../src/analysis/special/beta.ts';
import { decisionRates, repeatedBoundsRule, sequentialRule } from '../../test/analysis/decision-rates.ts';
import type { ValidationTable } from './tables.ts';

const PROBABILITIES = [0.9, 0.99, 0.9973];
const LOOKS = 10_000;

/** At the boundary, where the error is largest: the runs pass with exactly the required probability. */
export function sequentialErrors(): ValidationTable {
  const rows = PROBABILITIES.flatMap((probability) =>
    [0.9, 0.95].map((confidence) => {
      const rule = sequentialRule(probability, confidence);
      const { met, violated } = decisionRates(rule, probability, LOOKS);
      const naive = decisionRates(
        { ...repeatedBoundsRule(probability, confidence), isViolated: () => false },
        probability,
        LOOKS,
      );
      return [
        probability,
        confidence,
        (1 - confidence).toFixed(2),
        met.toFixed(4),
        violated.toFixed(4),
        naive.met.toFixed(2),
      ];
    }),
  );
  const head = [
    'required',
    'confidence',
    'alpha',
    'wrong `met`',
    'wrong `violated`',
    'wrong `met` with `once` bounds after every run',
  ];
  return { name: 'sequential-error', head, rows };
}

/** How many runs the sequential test takes, and the planned look for comparison. */
export function sequentialCost(): ValidationTable {
  const rows = PROBABILITIES.flatMap((probability) =>
    [0, 0.25, 0.5].map((factor) => {
      const confidence = 0.9;
      const truth = 1 - factor * (1 - probability);
      const clean = new SequentialTest(probability, confidence).cleanRunsToMet(0, 0);
      const { met, expectedRuns } = decisionRates(sequentialRule(probability, confidence), truth, LOOKS);
      const planned = factor === 0 ? String(moreCleanRuns(0, 0, probability, confidence)) : '';
      return [
        probability,
        Number(truth.toFixed(6)),
        met.toFixed(3),
        Math.round(expectedRuns),
        factor === 0 ? `${clean}` : '',
        planned,
      ];
    }),
  );
  const head = [
    'required',
    'true probability',
    '`met` within 10,000 runs',
    'mean number of runs',
    'passing runs, `continuous`',
    'passing runs, `once`',
  ];
  return { name: 'sequential-cost', head, rows };
}

/** The probability that a bound is on the right side, summed over all outcomes of n runs. */
export function boundCoverage(): ValidationTable {
  const confidence = 0.9;
  const rows = PROBABILITIES.flatMap((truth) =>
    [100, 1000, 10_000].map((n) => {
      let [lower, upper] = [0, 0];
      for (let k = 0; k <= n; k++) {
        const mass = binomialMass(k, n, truth);
        if (mass < 1e-12) continue;
        if (lowerBound(k, n, confidence) <= truth) lower += mass;
        if (upperBound(k, n, confidence) >= truth) upper += mass;
      }
      return [truth, n, confidence, lower.toFixed(4), upper.toFixed(4)];
    }),
  );
  return {
    name: 'bound-coverage',
    head: ['true probability', 'runs', 'confidence', 'lower bound', 'upper bound'],
    rows,
  };
}

function binomialMass(k: number, n: number, q: number): number {
  return Math.exp(k * Math.log(q) + (n - k) * Math.log1p(-q) - logBeta(k + 1, n - k + 1) - Math.log(n + 1));
}

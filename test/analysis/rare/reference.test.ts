/** Studies of rare events step by step against values of an independent implementation in Python with NumPy and SciPy. */
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lowerByBetting, upperByBetting, wealthAbove, wealthBelow } from '../../../src/analysis/rare/betting.ts';
import type { Component } from '../../../src/analysis/rare/component.ts';
import { RareDraws } from '../../../src/analysis/rare/draws.ts';
import { fitProposal } from '../../../src/analysis/rare/fit.ts';
import type { RareSettings } from '../../../src/domain/study/rare-event/settings.ts';
import { RareStudy } from '../../../src/analysis/rare/study.ts';
import { packageRoot } from '../../../src/base/package.ts';
import { lowerBound, upperBound } from '../../../src/analysis/special/exact-bounds.ts';
import type { UnknownRule } from '../../../src/contract/enums.ts';
import type { Correlation, DispersionConfig } from '../../../src/contract/types.ts';
import { NormalSpace } from '../../../src/domain/sampling/normal-space.ts';

type Numbers = Record<string, number>;
interface GivenComponent {
  kind: string;
  direction?: number[];
  kappa?: number;
  b?: number;
  r?: number;
  weight: number;
}
interface Case {
  name: string;
  seed: string;
  dispersions: Record<string, DispersionConfig['distribution']>;
  correlations: Correlation[];
  options: {
    limit: number;
    strict: boolean;
    population: number;
    width?: number;
    tune_runs: number;
    confirm_runs: number;
    confirm_width?: number;
    budget?: number;
    unknown_rule?: UnknownRule;
  };
  rounds: (Record<string, unknown> & { first_run: number; runs: number; phase: string })[];
  levels: { b: number; n: number; reached: number }[];
  answer: Record<string, unknown> & { direct?: Numbers };
}
interface Reference {
  cases: Case[];
  fits: { z: number[][]; weights: number[]; components: GivenComponent[] }[];
  bets: (Numbers & {
    x: number[];
    lambdas_lower: number[];
    lambdas_upper: number[];
    log_capital_lower_at: [number, number][];
    log_capital_upper_at: [number, number][];
  })[];
}
const { cases, fits, bets } = JSON.parse(
  readFileSync(join(packageRoot, 'test/analysis/rare/reference.json'), 'utf8'),
) as Reference;

const sum = (p: Numbers): number => Object.values(p).reduce((all, x) => all + x, 0);
/** The score of each case; NaN for a run without a value. */
const SCORES: Record<string, (p: Numbers, run: number) => number> = {
  'linear, every row': (p) => sum(p) / Math.sqrt(3) - 3.5,
  'four branches': ({ x000: a = 0, x001: b = 0 }) =>
    -Math.min(
      3 + 0.1 * (a - b) ** 2 - (a + b) / Math.SQRT2,
      3 + 0.1 * (a - b) ** 2 + (a + b) / Math.SQRT2,
      a - b + 7 / Math.SQRT2,
      b - a + 7 / Math.SQRT2,
    ),
  'other distributions, correlated, a seed beyond 2^53': (p) =>
    p['load']! + 0.35 * p['gust']! + 0.5 * p['bias']! - ((p['strength']! * p['stiffness']!) / Math.exp(2)) * 1.3,
  'ties: a staircase': (p) => Math.floor(sum(p)) / 2 - 4,
  'runs without a value': (p, run) => (run % 17 === 3 ? Number.NaN : sum(p) / Math.SQRT2 - 3.8),
  'runs without a value, stated to be unrelated': (p, run) => (run % 29 === 3 ? Number.NaN : sum(p) / Math.SQRT2 - 3.8),
  'one parameter, confirmed in parts': (p) => sum(p) - 4.5,
  '100 parameters': (p) => sum(p) / 10 - 4,
  'plateau: two values that both pass': (p) => (sum(p) / Math.SQRT2 > 1.2 ? -0.5 : -1),
  constant: () => -1,
  'not rare': (p) => sum(p) / Math.SQRT2 - 0.5,
  'no output': () => Number.NaN,
  'budget: not reached': (p) => sum(p) / Math.SQRT2 - 7,
  'terminated runs: infinite scores': ({ x000 = 0 }) => (x000 > 3.2 ? Infinity : x000 - 3.4),
};

/** Equal within 1e-9, relative from 1e-3 on and absolute (1e-12) below. */
function near(found: unknown, expected: unknown, where: string): void {
  if (typeof expected !== 'number') {
    assert.deepEqual(found, expected, where);
    return;
  }
  const isNear =
    Object.is(found, expected) ||
    Math.abs((found as number) - expected) <= (Math.abs(expected) < 1e-3 ? 1e-12 : 1e-9 * Math.abs(expected));
  assert.ok(isNear, `${where}: ${String(found)} is not ${expected}`);
}

function nearAll(found: ArrayLike<number>, expected: readonly number[], where: string): void {
  assert.equal(found.length, expected.length, where);
  for (const [at, value] of expected.entries()) near(found[at], value, `${where}[${at}]`);
}

function nearComponents(found: readonly Component[], expected: readonly GivenComponent[], where: string): void {
  assert.deepEqual(
    found.map((it) => it.kind),
    expected.map((it) => it.kind),
    where,
  );
  for (const [at, { kind: _, direction, ...numbers }] of expected.entries()) {
    for (const [name, value] of Object.entries(numbers))
      near((found[at] as unknown as Numbers)[name], value, `${where}, component ${at}, ${name}`);
    if (direction !== undefined) nearAll(found[at]!.direction, direction, `${where}, component ${at}`);
  }
}

const settingsOf = ({ options }: Case): RareSettings => ({
  population: options.population,
  levelProbability: 0.1,
  width: options.width ?? options.population / 2,
  tuneRuns: options.tune_runs,
  confirmRuns: options.confirm_runs,
  confirmPart: options.confirm_width ?? options.confirm_runs,
  confidence: 0.95,
  budget: options.budget ?? 1e9,
  unknown: options.unknown_rule ?? 'unknown',
  stopsWhenSettled: false,
  limit: options.limit,
  isStrict: options.strict,
  required: { probability: 0.999, confidence: 0.95 },
});

function dispersionsOf({ dispersions }: Case): Record<string, DispersionConfig> {
  return Object.fromEntries(
    Object.entries(dispersions).map(([name, distribution]) => [name, { distribution, units: '' }]),
  );
}

function checkRow(expected: unknown, row: Float64Array, where: string): void {
  if (expected !== undefined) nearAll(row, expected as number[], where);
}

/** Runs a study round by round, and compares each round. */
function replay(given: Case): RareStudy {
  const space = new NormalSpace(dispersionsOf(given), given.correlations);
  const d = space.names.length;
  const study = new RareStudy(settingsOf(given), new RareDraws(space.names, given.seed));
  for (const [number, round] of given.rounds.entries()) {
    const where = `round ${number} (${round.phase})`;
    const next = study.next();
    assert.ok(next !== undefined, `${where}: the study has ended as ${study.reason}`);
    assert.deepEqual([next.firstRun, next.count], [round.first_run, round.runs], where);
    const levelRound = study.search?.levels.at(-1);
    const parameters = new Float64Array(d);
    const [zSums, xSums] = [new Float64Array(d), new Float64Array(d)];
    const scores = new Float64Array(next.count);
    for (let at = 0; at < next.count; at++) {
      const row = next.rows.subarray(at * d, (at + 1) * d);
      space.parametersInto(next.rows, at * d, parameters);
      for (let i = 0; i < d; i++) {
        zSums[i]! += row[i]!;
        xSums[i]! += parameters[i]!;
      }
      const named = Object.fromEntries(space.names.map((name, i) => [name, parameters[i]!]));
      scores[at] = SCORES[given.name]!(named, next.firstRun + at);
      const isEnd = at === 0 ? 'first' : at === next.count - 1 ? 'last' : undefined;
      if (isEnd !== undefined) {
        checkRow(round[`z_${isEnd}`], row, `${where}, z_${isEnd}`);
        checkRow(round[`x_${isEnd}`], parameters, `${where}, x_${isEnd}`);
      }
      checkRow((round['z'] as number[][] | undefined)?.[at], row, `${where}, z[${at}]`);
    }
    nearAll(zSums, round['z_sums'] as number[], `${where}, sums`);
    checkRow(round['x_sums'], xSums, `${where}, x_sums`);
    study.take(next.rows, scores);
    if (round['accepted'] !== undefined) {
      const { accepted, lambda } = levelRound!.rounds.at(-1)!;
      near(accepted, round['accepted'], `${where}, accepted`);
      near(lambda, round['lambda'], `${where}, lambda`);
    }
    if (round['spread'] !== undefined) {
      const { points, spread } = study.search!.chains;
      nearAll(spread, round['spread'] as number[], `${where}, spread`);
      nearAll(points[0]!, round['chain_first'] as number[], `${where}, first chain`);
      nearAll(points.at(-1)!, round['chain_last'] as number[], `${where}, last chain`);
    }
    if (round['tune_estimate'] !== undefined && round.phase === 'tune') {
      const { estimate, ess, components } = study.tuning.at(-1)!;
      near(estimate, round['tune_estimate'], `${where}, estimate`);
      near(ess, round['ess'], `${where}, ess`);
      near(components, round['components'], `${where}, components`);
    }
    if (round['clip'] !== undefined) near(study.attempts.at(-1)!.clip, round['clip'], `${where}, clip`);
    const proposal = (round['proposal'] ?? round['shapes']) as GivenComponent[] | undefined;
    if (proposal !== undefined) nearComponents(study.proposal!.components, proposal, where);
  }
  assert.equal(study.next(), undefined);
  return study;
}

describe('analysis/rare/study', () => {
  for (const given of cases) {
    it(`agrees round by round: ${given.name}`, () => {
      const study = replay(given);
      const { answer } = given;
      assert.equal(study.reason, answer['reason']);
      assert.deepEqual(study.taken, { runs: answer['runs'], rounds: answer['rounds'] });
      for (const [at, { b, n, reached }] of given.levels.entries()) {
        const level = study.search!.levels[at]!;
        near(level.b, b, `level ${at}`);
        assert.deepEqual([level.n, level.reached], [n, reached]);
      }
      const attempt = study.attempts.at(-1);
      assert.equal(study.attempts.length, answer['attempt']);
      if (attempt === undefined) {
        const { violations, unknown, of } = study.nominal;
        near(lowerBound(violations, of, 0.975), answer['lower'], 'lower');
        near(upperBound(violations + unknown, of, 0.975), answer['upper'], 'upper');
        return;
      }
      const bounds = attempt.bounds()!;
      near(bounds.estimate, answer['estimate'], 'estimate');
      near(bounds.standardError, answer['standard_error'], 'standard_error');
      near(bounds.lower, answer['lower'], 'lower');
      near(bounds.upper, answer['upper'], 'upper');
      near(attempt.largestShare, answer['largest_share'], 'largest_share');
      near(attempt.foundOutside, answer['found_outside'], 'found_outside');
      const { hits, unknown, outside, unknownOutside } = attempt.counts();
      const expected = ['hits', 'unknown', 'outside', 'unknown_outside'].map((name) => answer[name]);
      assert.deepEqual([hits, unknown, outside, unknownOutside], expected);
    });
  }
});

describe('analysis/rare/fit', () => {
  for (const [number, { z, weights, components }] of fits.entries()) {
    it(`agrees for the points of fit ${number}`, () => {
      const fitted = fitProposal({ points: z.map((it) => Float64Array.from(it)), weights }, undefined);
      nearComponents(fitted!.components, components, `fit ${number}`);
    });
  }
});

describe('analysis/rare/betting', () => {
  for (const [number, given] of bets.entries()) {
    it(`agrees for the draws of bet ${number}`, () => {
      const draws = { positive: given.x.filter((it) => it > 0), count: given.x.length };
      near(lowerByBetting(draws, given.lambdas_lower, given['alpha_each']!), given['lower'], 'lower');
      const cut = { ...draws, positive: draws.positive.map((it) => Math.min(it, given['clip']!)) };
      near(upperByBetting(cut, given.lambdas_upper, given['alpha_each']!), given['upper'], 'upper');
      for (const [m, log] of given.log_capital_lower_at)
        near(wealthAbove(draws, given.lambdas_lower, m), log, `at ${m}`);
      for (const [m, log] of given.log_capital_upper_at) near(wealthBelow(cut, given.lambdas_upper, m), log, `at ${m}`);
    });
  }
});

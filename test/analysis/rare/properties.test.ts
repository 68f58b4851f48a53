/** Properties of studies of rare events for any legal input: one to a hundred parameters of any distribution, correlated or not, with failing runs. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { lowerByBetting, upperByBetting } from '../../../src/analysis/rare/betting.ts';
import { RareDraws } from '../../../src/analysis/rare/draws.ts';
import { fitProposal } from '../../../src/analysis/rare/fit.ts';
import type { BatchSubmission, DispersionConfig } from '../../../src/contract/types.ts';
import { rareFaults } from '../../../src/domain/study/rare-event/faults.ts';
import { times } from '../../support/properties.ts';
import { seededRandom } from '../../support/simulated-clock.ts';
import { study } from '../../support/studies.ts';
import { madeRareStudy, type RunEnd, type Simulate } from './studies.ts';

type Distribution = DispersionConfig['distribution'];

const some = (min: number, max: number): fc.Arbitrary<number> => fc.double({ min, max, noNaN: true });

/** Distributions of every kind that such a study draws. */
const distribution: fc.Arbitrary<Distribution> = fc.oneof(
  fc.record({ type: fc.constant('normal' as const), mean: some(-5, 5), std_dev: some(0, 3) }),
  fc.record({ type: fc.constant('normal' as const), mean: some(-1, 1), std_dev: some(0.1, 3), lower: some(-3, -1.5) }),
  fc.record({ type: fc.constant('uniform' as const), min: some(-3, 0), max: some(0, 3) }),
  fc.record({ type: fc.constant('exponential' as const), lambda: some(0.1, 5), upper: some(2, 9) }),
  fc.record({ type: fc.constant('gamma' as const), shape: some(0.5, 9), scale: some(0.1, 2) }),
  fc.record({ type: fc.constant('beta' as const), alpha: some(0.5, 9), beta: some(0.5, 9) }),
  fc.record({ type: fc.constant('lognormal' as const), mu: some(-1, 1), sigma: some(0, 0.5) }),
  fc.record({ type: fc.constant('weibull' as const), shape: some(0.7, 4), scale: some(0.1, 2) }),
  fc.record({ type: fc.constant('triangular' as const), min: some(-2, -1), mode: some(-1, 1), max: some(1, 2) }),
  fc.constant({ type: 'discrete' as const, values: [0, 1, 5].map((value) => ({ value, weight: 1 + value })) }),
  fc.record({ type: fc.constant('empirical' as const), data: fc.array(some(-2, 2), { minLength: 2, maxLength: 6 }) }),
);

interface Given {
  d: number;
  distributions: Distribution[];
  rank: number;
  population: number;
  steps: number;
  levelProbability: number;
  tuneRuns: number;
  confirmRuns: number;
  parts: number;
  condition: string;
  limit: number;
  unknown: 'unknown' | 'violated' | 'unrelated';
  /** The share of runs that fail. */
  failing: number;
  /** The share of the score that is of the run alone. */
  noise: number;
  /** Scores are whole multiples of it; 0: they are not. */
  step: number;
  seed: number;
}

const given: fc.Arbitrary<Given> = fc.record({
  d: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 4 }) },
    { weight: 2, arbitrary: fc.integer({ min: 5, max: 20 }) },
    { weight: 1, arbitrary: fc.constant(100) },
  ),
  distributions: fc.array(distribution, { minLength: 1, maxLength: 4 }),
  rank: fc.constantFrom(0, -0.6, 0.5, 0.9),
  population: fc.constantFrom(100, 200),
  steps: fc.constantFrom(1, 2, 4),
  levelProbability: fc.constantFrom(0.1, 0.25, 0.5),
  tuneRuns: fc.integer({ min: 10, max: 80 }),
  confirmRuns: fc.integer({ min: 200, max: 300 }),
  parts: fc.integer({ min: 1, max: 3 }),
  condition: fc.constantFrom('<', '<=', '>', '>='),
  limit: some(0.5, 4),
  unknown: fc.constantFrom('unknown' as const, 'violated' as const, 'unrelated' as const),
  failing: fc.oneof(fc.constant(0), some(0, 0.6)),
  noise: fc.oneof(fc.constant(0), some(0, 1)),
  step: fc.constantFrom(0, 0, 0.5, 4),
  seed: fc.nat(),
});

const nameOf = (at: number): string => `x${String(at).padStart(3, '0')}`;

function submissionOf(it: Given): BatchSubmission {
  const submission = study({ runs: 0 });
  const { config } = submission;
  config.monte_carlo = { runs: 0, sampling_method: 'adaptive', seed: it.seed };
  config.dispersions = Object.fromEntries(
    Array.from({ length: it.d }, (_, at) => [
      nameOf(at),
      { distribution: it.distributions[at % it.distributions.length]!, units: '' },
    ]),
  );
  if (it.d > 1 && it.rank !== 0) config.correlations = [{ parameters: [nameOf(0), nameOf(1)], rank: it.rank }];
  config.adaptive = {
    algorithm: 'rare_event',
    population: it.population,
    width: Math.max(it.population / it.steps, it.population * it.levelProbability),
    level_probability: it.levelProbability,
    tune_runs: it.tuneRuns,
    confirm_runs: it.confirmRuns,
    confirm_part: Math.ceil(it.confirmRuns / it.parts),
    unknown: it.unknown,
  };
  const sign = it.condition.startsWith('<') ? 1 : -1;
  submission.requirements = [
    { name: 'r', output: 'y', condition: `${it.condition} ${sign * it.limit}`, probability: 0.99 },
  ];
  return submission;
}

/** A simulation of the parameters, of the run's own noise, or of both; its failures are of the run alone. */
function simulationOf(it: Given): Simulate {
  const sign = it.condition.startsWith('<') ? 1 : -1;
  const failures: RunEnd[] = ['crashed', 'timeout', 'lost', 'no-output', 'terminated', Number.NaN, Infinity];
  return (parameters, run) => {
    const random = seededRandom(it.seed * 7919 + run);
    if (random() < it.failing) return failures[Math.floor(random() * failures.length)]!;
    const values = Object.values(parameters);
    const own = values.reduce((sum, value) => sum + value, 0) / Math.sqrt(values.length);
    const score = (1 - it.noise) * own + it.noise * 5 * random();
    return sign * (it.step === 0 ? score : Math.floor(score / it.step) * it.step);
  };
}

/** @throws Error that names the first number of an answer that is not finite */
function checkNumbers(value: unknown, where = 'answer'): void {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Error(`${where} is ${value}`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) checkNumbers(member, `${where}.${name}`);
  }
}

const isProbability = (it: number | null): boolean => it === null || (it >= 0 && it <= 1);

describe('analysis/rare/properties', () => {
  it('gives finite points and parameters, ends within the budget, and has bounds in order within [0, 1] at every number of runs', function () {
    this.timeout(0);
    const reasons = new Map<string, number>();
    fc.assert(
      fc.property(given, some(0, 1), (it, share) => {
        const submission = submissionOf(it);
        fc.pre(rareFaults(submission).length === 0);
        const made = madeRareStudy(submission, simulationOf(it));
        for (const [run, parameters] of made.parameters.entries()) checkNumbers(parameters, `run ${run}`);
        const all = made.parameters.length;
        for (const runs of [all, Math.floor(share * all)]) {
          const answer = made.answer(runs);
          const { search, ...rest } = answer;
          checkNumbers(rest);
          const { estimate, lower, upper, direct } = answer;
          expect([estimate, lower, upper, direct!.lower, direct!.upper].every(isProbability), 'probabilities').to.equal(
            true,
          );
          expect(direct!.lower).to.be.at.most(direct!.upper);
          if (estimate !== null && answer.reason !== 'not-rare') expect(lower).to.be.at.most(estimate);
          if (estimate !== null && upper !== null) expect(upper).to.be.at.least(estimate);
          if (lower !== null && upper !== null) expect(lower).to.be.at.most(upper);
          // The last level is at the limit, which the steps of a staircase may have passed before.
          const levels = search?.levels.map(({ b }) => b).slice(0, -1) ?? [];
          for (const [at, b] of levels.entries()) if (at > 0) expect(b).to.be.above(levels[at - 1]!);
          for (const { n, reached } of search?.levels ?? []) expect(reached).to.be.within(1, n);
          expect(answer.sentence).not.to.match(/NaN|undefined|Infinity/);
        }
        const { reason } = made.answer();
        reasons.set(reason!, (reasons.get(reason!) ?? 0) + 1);
      }),
      { numRuns: times(25) },
    );
    // A property of studies that all end early would show little.
    expect(reasons.get('confirmed')).to.be.above(3);
    expect(reasons.size).to.be.above(2);
  });

  it('draws finite points of bounded weight from any fitted proposal, in 1 to 100 dimensions', () => {
    const fits = fc.record({
      d: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(100)),
      count: fc.integer({ min: 2, max: 20 }),
      distance: some(0.1, 9),
      seed: fc.nat(),
    });
    fc.assert(
      fc.property(fits, ({ d, count, distance, seed }) => {
        const draws = new RareDraws(
          Array.from({ length: d }, (_, at) => nameOf(at)),
          String(seed),
        );
        const points = Array.from({ length: count }, (_, run) => {
          const z = new Float64Array(d);
          draws.nominalInto(run, z);
          z[0]! += distance;
          return z;
        });
        const weights = points.map((_, at) => 1 / (1 + at));
        const proposal = fitProposal({ points, weights }, undefined);
        if (proposal === undefined) return;
        const total = proposal.components.reduce((sum, it) => sum + it.weight, 0);
        expect(total).to.be.closeTo(1, 1e-9);
        for (const from of [proposal, proposal.withAxes(1e-5)]) {
          for (let run = 0; run < 20; run++) {
            const z = new Float64Array(d);
            from.drawInto(draws, run, z);
            checkNumbers([...z], `a draw in ${d} dimensions`);
            expect(from.weight(z)).to.be.within(Number.MIN_VALUE, 10 * (1 + 1e-12));
          }
        }
      }),
      { numRuns: times(30) },
    );
  });

  const evidence = fc.record({
    positive: fc.array(some(1e-6, 10), { maxLength: 30 }),
    zeros: fc.integer({ min: 0, max: 500 }),
    bet: some(1e-3, 0.05),
    error: some(0.001, 0.1),
  });
  const boundsOf = (positive: readonly number[], count: number, bet: number, error: number): [number, number] => {
    const bets = [0.5 * bet, bet, 2 * bet];
    return [lowerByBetting({ positive, count }, bets, error), upperByBetting({ positive, count }, bets, error)];
  };

  it('has betting bounds that rise with a larger draw, fall with a further zero, and widen with less error', () => {
    fc.assert(
      fc.property(evidence, fc.nat(), some(0, 3), ({ positive, zeros, bet, error }, place, more) => {
        const count = positive.length + zeros;
        fc.pre(count > 0);
        const [lower, upper] = boundsOf(positive, count, bet, error);
        expect(lower).to.be.at.least(0);
        expect(upper).to.be.within(0, 1);
        if (upper < 1) expect(lower).to.be.at.most(upper);
        const slack = 1e-9;
        const [lowerZero, upperZero] = boundsOf(positive, count + 1, bet, error);
        expect(lowerZero).to.be.at.most(lower * (1 + slack));
        expect(upperZero).to.be.at.most(upper * (1 + slack));
        const [lowerSure, upperSure] = boundsOf(positive, count, bet, error / 2);
        expect(lowerSure).to.be.at.most(lower * (1 + slack));
        expect(upperSure).to.be.at.least(upper * (1 - slack));
        if (positive.length === 0) return;
        const larger = positive.with(place % positive.length, positive[place % positive.length]! + more);
        const [lowerMore, upperMore] = boundsOf(larger, count, bet, error);
        expect(lowerMore).to.be.at.least(lower * (1 - slack));
        expect(upperMore).to.be.at.least(upper * (1 - slack));
      }),
    );
  });

  it('has betting bounds that do not depend on the order of the draws', () => {
    const shuffled = evidence.chain((it) =>
      fc.tuple(fc.constant(it), fc.shuffledSubarray(it.positive, { minLength: it.positive.length })),
    );
    fc.assert(
      fc.property(shuffled, ([{ positive, zeros, bet, error }, other]) => {
        const count = positive.length + zeros;
        fc.pre(count > 0);
        const [lower, upper] = boundsOf(positive, count, bet, error);
        const [otherLower, otherUpper] = boundsOf(other, count, bet, error);
        expect(otherLower).to.be.closeTo(lower, 1e-9 * Math.max(lower, 1e-6));
        expect(otherUpper).to.be.closeTo(upper, 1e-9 * upper);
      }),
    );
  });

  it('does not depend on the order in which dispersions and requirements are written', () => {
    fc.assert(
      fc.property(given, (it) => {
        const submission = submissionOf({ ...it, d: Math.min(it.d, 12) });
        fc.pre(rareFaults(submission).length === 0);
        const simulate: Simulate = (parameters, run) => {
          const sorted = Object.fromEntries(Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1)));
          return simulationOf(it)(sorted, run);
        };
        const { config } = submission;
        const reversed = Object.fromEntries(Object.entries(config.dispersions).toReversed());
        const other = { ...submission, config: { ...config, dispersions: reversed } };
        expect(madeRareStudy(other, simulate).answer()).to.deep.equal(madeRareStudy(submission, simulate).answer());
      }),
      { numRuns: times(4) },
    );
  });
});

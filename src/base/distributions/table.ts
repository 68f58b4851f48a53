/**
 * The table of distributions. One entry is the whole of a distribution: schema, rules, samples, form and documentation follow from it.
 * Adding a distribution is adding an entry here and its row to docs/sampling.md (a test says which row).
 */
import { betaOfTails, betaQuantile } from './beta.ts';
import { bounded } from './bounds.ts';
import type { Distribution, Values, ValuesOfTails } from './entry.ts';
import { gammaLaw, gammaQuantile } from './gamma.ts';
import { exponentialLaw, lognormalLaw, normalLaw, weibullLaw } from './laws.ts';
import {
  type Members,
  type MembersOf,
  notNegative,
  number,
  numbers,
  optionalNumber,
  positive,
  positiveUpTo,
  weightedValues,
} from './members.ts';
import { standardNormalQuantile } from './normal.ts';
import { discreteOfTails, discreteQuantile, empiricalOfTails, empiricalQuantile } from './data.ts';
import {
  loguniformOfTails,
  loguniformQuantile,
  triangularOfTails,
  triangularQuantile,
  uniformOfTails,
  uniformQuantile,
} from './simple.ts';

/**
 * The greatest alpha and beta. The time of a sample grows with their square root, and far above it a beta distribution is
 * narrower than a double can express.
 */
const MAX_BETA_PARAMETER = 1e9;
/** The greatest number of items of `discrete`, `empirical` and `table`. */
const MAX_DISCRETE = 10_000;
const MAX_EMPIRICAL = 100_000;
const MAX_TABLE = 1_000_000;

/** Ties the functions of an entry to its members. */
const single = <M extends Members>(entry: Distribution<M, MembersOf<M>>): Distribution<M, MembersOf<M>> => entry;

const ordered = ({ min, max }: { min: number; max: number }): readonly [string, string] | undefined =>
  min > max ? ['min', `must be <= max (${max}), not ${min}`] : undefined;

export const DISTRIBUTIONS = {
  normal: bounded({
    summary: 'Normal with mean and standard deviation.',
    support: 'all numbers',
    note: 'without bounds the extremes that can occur are 8.2 standard deviations away',
    members: {
      mean: number('The mean.', 0),
      std_dev: number('The standard deviation, >= 0. 0 gives the mean always.', 1, notNegative),
    },
    argument: 'uniform',
    values:
      ({ mean, std_dev: stdDev }) =>
      (u) =>
        mean + stdDev * standardNormalQuantile(u),
    law: ({ mean, std_dev: stdDev }) => normalLaw(mean, stdDev),
  }),
  uniform: single({
    summary: 'Uniform between two bounds.',
    support: '[min, max]',
    note: '',
    members: { min: number('The lower bound.', 0), max: number('The upper bound, >= `min`.', 1) },
    argument: 'uniform',
    relation: ordered,
    values: ({ min, max }) => uniformQuantile(min, max),
    ofTails: ({ min, max }) => uniformOfTails(min, max),
  }),
  exponential: bounded({
    summary: 'Exponential; its mean is 1 / lambda.',
    support: '[0, ∞)',
    note: '`lambda` is a rate: the mean is 1 / lambda; without bounds at most 36.7 / lambda can occur',
    members: { lambda: number('The rate, > 0.', 1, positive) },
    argument: 'uniform',
    values:
      ({ lambda }) =>
      (u) =>
        -Math.log1p(-u) / lambda,
    law: ({ lambda }) => exponentialLaw(lambda),
  }),
  gamma: bounded({
    summary: 'Gamma; its mean is shape * scale.',
    support: '[0, ∞)',
    note: '`scale`, not rate: the mean is shape · scale',
    members: {
      shape: number('The shape, > 0.', 2, positive),
      scale: number('The scale (not the rate), > 0.', 1, positive),
    },
    argument: 'uniform',
    values: ({ shape, scale }) => scaled(gammaQuantile(shape), scale),
    law: ({ shape, scale }) => gammaLaw(shape, scale),
  }),
  beta: single({
    summary: 'Beta on (0, 1).',
    support: '[0, 1]',
    note: 'the mean is alpha / (alpha + beta)',
    members: {
      alpha: number('First shape, > 0.', 2, positiveUpTo(MAX_BETA_PARAMETER)),
      beta: number('Second shape, > 0.', 2, positiveUpTo(MAX_BETA_PARAMETER)),
    },
    argument: 'uniform',
    alwaysFinite: true,
    values: ({ alpha, beta }) => betaQuantile(alpha, beta),
    ofTails: ({ alpha, beta }) => betaOfTails(alpha, beta),
  }),
  fixed: single({
    summary: 'The same value in every run.',
    support: 'the value',
    note: 'uses no random number',
    members: { value: number('The value.', 0) },
    argument: 'none',
    values:
      ({ value }) =>
      () =>
        value,
  }),
  lognormal: bounded({
    summary: 'Lognormal: the natural logarithm is normal.',
    support: '[0, ∞)',
    note: '`mu` and `sigma` are those of ln x: the median is exp(mu)',
    members: {
      mu: number('The mean of ln x.', 0),
      sigma: number('The standard deviation of ln x, >= 0. 0 gives exp(mu) always.', 1, notNegative),
    },
    argument: 'uniform',
    values:
      ({ mu, sigma }) =>
      (u) =>
        Math.exp(mu + sigma * standardNormalQuantile(u)),
    law: ({ mu, sigma }) => lognormalLaw(mu, sigma),
  }),
  loguniform: single({
    summary: 'Loguniform: the logarithm is uniform.',
    support: '[min, max]',
    note: 'every decade between the bounds has the same probability',
    members: {
      min: number('The lower bound, > 0.', 1, positive),
      max: number('The upper bound, >= `min`.', 10, positive),
    },
    argument: 'uniform',
    relation: ordered,
    values: ({ min, max }) => loguniformQuantile(min, max),
    ofTails: ({ min, max }) => loguniformOfTails(min, max),
  }),
  weibull: bounded({
    summary: 'Weibull with shape and scale.',
    support: '[0, ∞)',
    note: '`shape` below 1: failures early in life, 1: exponential with mean `scale`, above 1: wear',
    members: { shape: number('The shape, > 0.', 2, positive), scale: number('The scale, > 0.', 1, positive) },
    argument: 'uniform',
    values:
      ({ shape, scale }) =>
      (u) =>
        scale * (-Math.log1p(-u)) ** (1 / shape),
    law: ({ shape, scale }) => weibullLaw(shape, scale),
  }),
  triangular: single({
    summary: 'Triangular between two bounds with a most likely value.',
    support: '[min, max]',
    note: 'for an expert estimate: least, most likely, greatest',
    members: {
      min: number('The lower bound.', 0),
      mode: number('The most likely value, `min` <= `mode` <= `max`.', 1),
      max: number('The upper bound.', 2),
    },
    argument: 'uniform',
    relation: ({ min, mode, max }) =>
      ordered({ min, max }) ??
      (mode < min || mode > max ? ['mode', `must be from min (${min}) to max (${max}), not ${mode}`] : undefined),
    values: ({ min, mode, max }) => triangularQuantile(min, mode, max),
    ofTails: ({ min, mode, max }) => triangularOfTails(min, mode, max),
  }),
  discrete: single({
    summary: 'One of a list of values, each with a weight.',
    support: 'the values',
    note: '`values` is a list of {`value`, `weight` > 0}; probabilities are in proportion to the weights, which need not sum to 1',
    members: {
      values: weightedValues(
        'The values and their weights, > 0.',
        [
          { value: 0, weight: 1 },
          { value: 1, weight: 1 },
        ],
        { min: 1, max: MAX_DISCRETE },
      ),
    },
    argument: 'uniform',
    relation: ({ values }) =>
      Number.isFinite(values.reduce((sum, { weight }) => sum + weight, 0))
        ? undefined
        : ['values', 'has weights whose sum overflows a double; divide them by a common factor'],
    values: ({ values }) => discreteQuantile(values),
    ofTails: ({ values }) => discreteOfTails(values),
  }),
  empirical: single({
    summary: 'Measured data: its quantiles, linear between the sorted numbers.',
    support: '[least, greatest number]',
    note: 'quantiles of type 7, as NumPy and R compute them by default',
    members: {
      data: numbers('The data, in any order.', [0, 1], { min: 2, max: MAX_EMPIRICAL }),
    },
    argument: 'uniform',
    values: ({ data }) => empiricalQuantile(data),
    ofTails: ({ data }) => empiricalOfTails(data),
  }),
  table: single({
    summary: 'An explicit sample table: run k gets number k of the list.',
    support: 'the numbers',
    note: 'uses no random number; at least as many numbers as `monte_carlo.runs`; a study file may name a column of a CSV or Parquet file instead (see below)',
    members: { values: numbers('The value of each run, by run id.', [0], { min: 0, max: MAX_TABLE }) },
    argument: 'run',
    relation: ({ values }, runs) =>
      values.length < runs
        ? ['values', `has ${values.length} numbers for ${runs} runs; give one for each run of monte_carlo.runs`]
        : undefined,
    values:
      ({ values }) =>
      (run) =>
        values[run]!,
  }),
  chosen: single({
    summary: 'Chosen for each run of an adaptive study: every row gives it, within the bounds.',
    support: '[lower, upper]',
    note: 'uses no random number; only with the sampling method `adaptive`',
    members: {
      lower: optionalNumber('The least number that a row may give. Absent or null: no lower bound.'),
      upper: optionalNumber('The greatest number that a row may give. Absent or null: no upper bound.'),
    },
    argument: 'row',
    relation: ({ lower, upper }) =>
      (lower ?? -Infinity) > (upper ?? Infinity)
        ? ['lower', `must be <= upper (${String(upper)}), not ${String(lower)}`]
        : undefined,
    values: () => (given) => given,
  }),
} as const;

type Table = typeof DISTRIBUTIONS;
export type DistributionKind = keyof Table;

/** A distribution as a study holds it; `type` says which, and with it which other members there are. */
export type DistributionValue = {
  [Kind in DistributionKind]: { type: Kind } & (Table[Kind] extends Distribution<Members, infer Value> ? Value : never);
}[DistributionKind];

/** The types in the order of the table. */
export const DISTRIBUTION_KINDS = Object.keys(DISTRIBUTIONS) as DistributionKind[];

/** The entry of a type; undefined for an unknown one. */
export function distributionEntry(type: string): Distribution | undefined {
  return Object.hasOwn(DISTRIBUTIONS, type) ? DISTRIBUTIONS[type as DistributionKind] : undefined;
}

/** The samples of a valid distribution as a function: of a uniform in [2^-53, 1 - 2^-53], or of what the entry's `argument` says. */
export function quantileFunction(distribution: DistributionValue): Values {
  const entry: Distribution = DISTRIBUTIONS[distribution.type];
  return entry.values(distribution);
}

/** The same from both tails p = 1 - q, where the distribution uses a random number. @throws RangeError for another one */
export function tailQuantileFunction(distribution: DistributionValue): ValuesOfTails {
  const entry: Distribution = DISTRIBUTIONS[distribution.type];
  if (entry.ofTails === undefined) throw new RangeError(`a parameter of type ${distribution.type} is not drawn`);
  return entry.ofTails(distribution);
}

function scaled(unit: Values, scale: number): Values {
  return (u) => unit(u) * scale;
}

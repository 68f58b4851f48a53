/** Dispersions: what each parameter of a run is drawn from. Which values are degenerate is said by `domain/submission.ts`. */
import type { Static } from 'typebox';
import { literal, mapOf, named, ref, submitted, tagged } from './build.ts';
import { LIMITS } from './limits.ts';
import { double, freeText } from './scalars.ts';

const NormalDistribution = named(
  'NormalDistribution',
  'Normal with mean and standard deviation.',
  submitted({
    type: literal('normal'),
    mean: double('The mean.'),
    std_dev: double('The standard deviation, >= 0. 0 gives the mean always.'),
  }),
);

const UniformDistribution = named(
  'UniformDistribution',
  'Uniform between two bounds.',
  submitted({
    type: literal('uniform'),
    min: double('The lower bound.'),
    max: double('The upper bound, >= `min`.'),
  }),
);

const ExponentialDistribution = named(
  'ExponentialDistribution',
  'Exponential; its mean is 1 / lambda.',
  submitted({ type: literal('exponential'), lambda: double('The rate, > 0.') }),
);

const GammaDistribution = named(
  'GammaDistribution',
  'Gamma; its mean is shape * scale.',
  submitted({
    type: literal('gamma'),
    shape: double('The shape, > 0.'),
    scale: double('The scale (not the rate), > 0.'),
  }),
);

const BetaDistribution = named(
  'BetaDistribution',
  'Beta on (0, 1).',
  submitted({ type: literal('beta'), alpha: double('First shape, > 0.'), beta: double('Second shape, > 0.') }),
);

const FixedDistribution = named(
  'FixedDistribution',
  'The same value in every run.',
  submitted({ type: literal('fixed'), value: double('The value.') }),
);

export const DistributionType = named(
  'DistributionType',
  'A distribution; `type` says which, and with it which other members there are.',
  tagged(
    'type',
    NormalDistribution,
    UniformDistribution,
    ExponentialDistribution,
    GammaDistribution,
    BetaDistribution,
    FixedDistribution,
  ),
);
export type DistributionType = Static<typeof DistributionType>;

export const DispersionConfig = named(
  'DispersionConfig',
  'How one parameter varies between runs.',
  submitted({
    distribution: ref(DistributionType),
    units: freeText('The units of the parameter, for people; may be empty.'),
  }),
);
export type DispersionConfig = Static<typeof DispersionConfig>;

export const dispersions = mapOf(ref(DispersionConfig), {
  description: 'Parameter name -> how it varies.',
  maxProperties: LIMITS.dispersions,
  propertyNames: { type: 'string', minLength: 1, maxLength: LIMITS.nameLength },
});

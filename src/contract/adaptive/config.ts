/** The members of an adaptive study. */
import { Type, type Static } from 'typebox';
import { enumOf, flag, named, submitted } from '../build.ts';
import { ADAPTIVE_ALGORITHMS, UNKNOWN_RULES } from '../enums.ts';
import { double, name } from '../scalars.ts';

/** The most studies of one submission. */
const MOST_STUDIES = 5;

export const AdaptiveConfig = named(
  'AdaptiveConfig',
  'A study whose later runs depend on the results of earlier ones.',
  submitted({
    algorithm: enumOf(
      ADAPTIVE_ALGORITHMS,
      'Who appends its rounds of runs. `external`: clients. `rare_event`: the coordinator, to estimate the probability of a rare violation; the other members are its own. Experimental.',
    ),
    requirement: Type.Optional(
      name('The requirement whose violations are looked for, with an output and a condition; absent: the only one.'),
    ),
    studies: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MOST_STUDIES,
        description:
          'Studies with different seeds that are submitted together and answered together; 2 when absent. `runs` is the budget of each.',
      }),
    ),
    population: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 20_000,
        description: 'Runs of round 0 and of each level; 1000 when absent.',
      }),
    ),
    level_probability: Type.Optional(
      double('The share of a level that the next one begins with; 0.1 when absent.', { minimum: 0.05, maximum: 0.5 }),
    ),
    width: Type.Optional(
      Type.Integer({
        minimum: 5,
        maximum: 20_000,
        description: 'Runs of a round of a level, a divisor of `population`; half of it when absent.',
      }),
    ),
    tune_runs: Type.Optional(
      Type.Integer({ minimum: 10, maximum: 20_000, description: 'Runs of a tuning round; 500 when absent.' }),
    ),
    confirm_runs: Type.Optional(
      Type.Integer({
        minimum: 200,
        maximum: 1_000_000,
        description: 'Runs of the confirmation, from which the bounds follow; 2000 when absent.',
      }),
    ),
    confirm_part: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Runs of a confirming round; `confirm_runs` when absent. A stop is looked at after each.',
      }),
    ),
    confidence: Type.Optional(
      double('The confidence of the bounds; 0.95 when absent.', { minimum: 0.5, maximum: 0.999999 }),
    ),
    relative_half_width: Type.Optional(
      double('The confirmation ends when half the width of the interval is at most this share of the estimate.', {
        minimum: 0.001,
        maximum: 10,
      }),
    ),
    stop_when_settled: Type.Optional(flag('Whether the confirmation ends when the verdict is settled.')),
    unknown: Type.Optional(
      enumOf(
        UNKNOWN_RULES,
        'How runs without a value count. `unknown`, the default: as passing for the lower bound and as violating for the upper one. `violated`: crashed and timed-out runs violate. `unrelated`: the user states that runs fail independently of their parameters; they are left out.',
      ),
    ),
  }),
);
export type AdaptiveConfig = Static<typeof AdaptiveConfig>;

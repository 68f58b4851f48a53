/** The answer of a study of rare events. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, flag, listOf, named, nullable, ref, text } from '../../build.ts';
import { RARE_PHASES, VERDICTS } from '../../enums.ts';
import { count, double, uuid } from '../../scalars.ts';
import { Warning, probability, sentence } from '../header.ts';

const direct = answered(
  {
    violations: count('Violating runs among them.'),
    unknown: count('Runs among them without a value.'),
    of: count('Nominal runs.'),
    lower: probability('Lower bound of the probability of any violation.'),
    upper: probability('Upper bound of the probability of violations anywhere.'),
  },
  'What plain Monte Carlo runs alone show, without any assumption: those of round 0, and the nominal part of the confirmation.',
);

const level = answered({
  b: double('The threshold of the score: larger scores are nearer to a violation.'),
  output: double('The same as a value of the output.'),
  n: count('States before it.'),
  reached: count('States that reach it.'),
  rounds: listOf(
    answered({
      accepted: count('Candidates that were accepted.'),
      lambda: double('The size of the steps.'),
    }),
    'The rounds that were made in it.',
  ),
});

const component = answered({
  kind: enumOf(
    ['half_space', 'shift', 'cone'],
    '`half_space`: normals beyond a plane. `shift`: all normals, moved. `cone`: directions around one, from a radius on.',
  ),
  weight: probability('Its share of the proposal without the nominal part.'),
  direction: Type.Array(Type.Number(), { description: 'A unit vector: one number for each name.' }),
  b: Type.Optional(double('Distance from the nominal point, in standard deviations.')),
  kappa: Type.Optional(double('Concentration of directions; 0: all directions alike.')),
  r: Type.Optional(double('Least radius, in standard deviations.')),
});

const attempt = answered({
  alpha: probability('Its share of the chance of a wrong interval.'),
  clip: double('Larger weights are cut for the upper bound.'),
  runs: count('Draws that count.'),
  hits: count('Violating draws.'),
  unknown: count('Draws without a value that count.'),
  outside: count('Violating draws with a weight above `clip`: more than one attempt may have no upper bound.'),
});

const part = answered({
  batch_id: uuid('The study.'),
  phase: nullable(enumOf(RARE_PHASES, 'How far it is.')),
  reason: nullable(text('Why it ended, as below; null while it is open.')),
  runs: count('Runs that it has so far.'),
  estimate: nullable(probability('Its estimate.')),
  lower: nullable(probability('Its lower bound.')),
  upper: nullable(probability('Its upper bound.')),
});

export const RareEventAnswer = named(
  'RareEventAnswer',
  'The probability of a rare violation in the regions found, with bounds, and what nominal runs alone show. Experimental.',
  answered({
    batch_id: uuid('The batch.'),
    experimental: flag('True: the method is experimental.'),
    requirement: nullable(text('The requirement; null where the study is not one of rare events.')),
    phase: nullable(enumOf(RARE_PHASES, 'How far it is; null where the study is not one of rare events.')),
    reason: nullable(
      text(
        'Why it ended, or why members are null: `confirmed`, `settled`, `not-rare`, `not-reached`, `plateau`, `constant-output`, `no-output`, `too-many-unknown`, `too-few-violations`, `cancelled`; `no-rare-event-study`, `part-of-a-study`, `rows-differ`.',
      ),
    ),
    runs: count('Runs that it has so far.'),
    rounds: count('Rounds that are complete.'),
    budget: count('The most runs that it may have.'),
    estimate: nullable(probability('The probability of a violation in the regions found.')),
    standard_error: nullable(double('Of the estimate.')),
    lower: nullable(probability('Lower bound; without any assumption.')),
    upper: nullable(
      probability(
        'Upper bound, of violations in the regions found alone; null where none below `direct.upper` is honest.',
      ),
    ),
    confidence: nullable(probability('The confidence of the bounds.')),
    direct: nullable(direct),
    search: nullable(
      answered(
        {
          estimate: nullable(probability('Of the search alone; never the answer.')),
          levels: listOf(level, 'Its levels.'),
        },
        'The search: its estimate, and its levels as a staircase.',
      ),
    ),
    tuning: listOf(
      answered({
        estimate: probability('After the round.'),
        ess: double('Effective number of violating draws.'),
        components: count('Components of the proposal that was fitted then.'),
      }),
      'The tuning rounds.',
    ),
    attempts: listOf(attempt, 'The attempts to confirm; the last one answers.'),
    course: listOf(
      answered({
        runs: count('Confirming runs.'),
        estimate: probability('The estimate after them.'),
        lower: probability('Lower bound.'),
        upper: nullable(probability('Upper bound.')),
      }),
      'The bounds over the confirming runs of the last attempt, at up to 20 places.',
    ),
    names: listOf(text('A parameter.'), 'The random parameters, in the order of directions.'),
    importance: listOf(
      answered({
        name: text('A parameter.'),
        share: probability('Its share of the squared distance of the centre of the violations from the nominal point.'),
        mean: double('Mean of its standard normal over the violations that the search found.'),
      }),
      'Which parameters drive the violations, the greatest share first; at most 20.',
    ),
    points: listOf(
      Type.Array(Type.Number()),
      'Where the violations lie: the standard normals of the first two of `importance` for up to 500 violating states of the search.',
    ),
    nominal_points: listOf(
      Type.Array(Type.Number()),
      'The same for up to 500 runs of round 0 that did not violate: where plain Monte Carlo looks. Empty until the search has found violations.',
    ),
    proposal: listOf(component, 'The components of the proposal.'),
    found_outside: nullable(
      probability('Share of the violations of the search at which the confirmation hardly looks.'),
    ),
    largest_share: nullable(probability('Share of the largest weight in the estimate.')),
    verdict: nullable(
      answered(
        {
          verdict: nullable(enumOf(VERDICTS, 'On the requirement; null while the study is open.')),
          reason: nullable(text('Why it is not shown: `one-study`, `bounds`, `studies-apart`; null otherwise.')),
          given: nullable(text('`regions-found`: met as far as regions were found; null without that condition.')),
        },
        'On the requirement, when the study has ended.',
      ),
    ),
    plain_monte_carlo_runs: nullable(count('Plain Monte Carlo runs with the same standard error.')),
    studies: listOf(uuid('A batch.'), 'The studies that the answer is of: one, or more with `combined` or `with`.'),
    parts: listOf(
      part,
      'The same studies with their own numbers. The members about the way to the answer are those of the first.',
    ),
    apart: nullable(
      flag(
        'Of several studies that have an estimate: true where two of their intervals do not overlap; null otherwise.',
      ),
    ),
    measured: listOf(
      answered({
        problem: text('The problem.'),
        probability: probability('Its known probability.'),
        held_by_one: probability('The share of studies whose 95 % bounds held.'),
        held_by_two: probability('The share of pairs of studies whose bounds together held.'),
      }),
      'How often such bounds held on problems that were new to the method, the worst first; empty without an answer.',
    ),
    warnings: listOf(ref(Warning), 'Limits of this answer.'),
    sentence,
  }),
);
export type RareEventAnswer = Static<typeof RareEventAnswer>;

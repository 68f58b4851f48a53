/** The inputs that drive an output, and those that drive the failures. */
import { Type, type Static } from 'typebox';
import { answered, flag, listOf, named, nullable, ref, text } from '../build.ts';
import { count, double } from '../scalars.ts';
import { headerMembers, probability, range, reason, sentence } from './header.ts';

const number = (description: string) => nullable(double(description));
const pValue = (description: string) => nullable(probability(description));

const ParameterSensitivity = named(
  'ParameterSensitivity',
  'The influence of one parameter on an output.',
  answered({
    name: text('The parameter.'),
    spearman: number('Rank correlation.'),
    spearman_p: pValue('Its p-value.'),
    prcc: number('Partial rank correlation given the other parameters.'),
    prcc_p: pValue('Its p-value.'),
    prcc_p_holm: pValue('That adjusted over the parameters.'),
    srrc: number('Standardised rank regression coefficient.'),
    sobol_cosine: number("First-order Sobol' index."),
    noise_floor: number('The largest index by chance, 95 % quantile.'),
    told_apart: nullable(
      flag('Told apart from no influence, with an error of at most 1 - confidence over all parameters.'),
    ),
    reason,
  }),
);

export const StudySensitivity = named(
  'StudySensitivity',
  'The influence of each parameter on one output.',
  answered({
    ...headerMembers,
    output: text('The output.'),
    parameters: listOf(ref(ParameterSensitivity), 'Most influential first.'),
    srrc_r2: number('Share of the variance of ranks that a monotone additive model explains.'),
    reason,
    sentence,
  }),
);
export type StudySensitivity = Static<typeof StudySensitivity>;

const interval = {
  first: number('Smallest value inside; null: no run lies further out.'),
  last: number('Largest value inside; null: no run lies further out.'),
};

const insideMembers = {
  wracc: double('Weighted relative accuracy.'),
  n_in: count('Runs inside.'),
  failures_in: count('Failing runs inside.'),
};

const AttributedParameter = named(
  'AttributedParameter',
  'One parameter in failing and in passing runs.',
  answered({
    name: text('The parameter.'),
    auc: probability('Chance that it is greater in a failing run than in a passing one.'),
    p: probability('Mann-Whitney, two-sided.'),
    p_holm: probability('That adjusted over the parameters.'),
    ks_d: probability('Greatest distance of the distribution functions.'),
    ks_p: probability('Its p-value.'),
    ks_p_holm: probability('That adjusted over the parameters.'),
    told_apart: flag('Told apart from no difference.'),
    median_failing: double('Median of the failing runs.'),
    median_passing: double('Median of the passing runs.'),
    best_interval: answered(
      { ...interval, ...insideMembers, sentence },
      'The interval that holds most failures for its share of the runs.',
    ),
    rate_by_decile: listOf(
      answered({
        from: double('Lower edge.'),
        to: double('Upper edge.'),
        failing: count('Failing runs.'),
        of: count('All runs of both groups.'),
        wilson: nullable(range('Interval of the failing share.')),
      }),
      'Failing share in each tenth of the values.',
    ),
  }),
);

const AttributedLevel = named(
  'AttributedLevel',
  'A level of an axis of scenarios, in failing and in passing runs.',
  answered({
    axis: text('The axis.'),
    level: text('The level.'),
    failing: count('Failing runs with it.'),
    of: count('Runs of both groups with it.'),
    difference: nullable(
      double(
        'Failing share less that of the other levels in the same sample and in cells that are alike in the other axes, over the samples; null: no sample has both.',
        { minimum: -1, maximum: 1 },
      ),
    ),
    p: probability('Of no difference, by betting; samples are taken as independent.'),
    p_holm: probability('That adjusted over the levels of all axes.'),
    told_apart: flag('Told apart from no difference, with an error of at most 1 - confidence over all levels.'),
    sentence,
  }),
);

export const StudyAttribution = named(
  'StudyAttribution',
  'How the parameters of failing runs differ from those of passing runs.',
  answered({
    ...headerMembers,
    failing: count('Failing runs.'),
    passing: count('Passing runs.'),
    parameters: listOf(ref(AttributedParameter), 'Those told apart first.'),
    levels: Type.Optional(
      listOf(
        ref(AttributedLevel),
        'The levels of the scenarios, those told apart first; empty below five runs in a group; absent without scenarios.',
      ),
    ),
    best_pair: nullable(
      answered(
        {
          parameters: listOf(answered({ name: text('The parameter.'), ...interval }), 'The two sides of the box.'),
          ...insideMembers,
          sentence,
        },
        'The box of two parameters that holds most failures for its share of the runs.',
      ),
    ),
    causes: listOf(
      answered({
        id: text('Of the failure pattern; `failing` takes it.'),
        class: text('The class of its runs.'),
        pattern: text('The message without the parts that vary.'),
        failing: count('Its runs with all parameters.'),
        passing: count('Passing runs.'),
        parameters: listOf(ref(AttributedParameter), 'Those told apart.'),
        sentence,
      }),
      'Each class and pattern of failures by itself, most frequent first; empty unless two or more have five runs.',
    ),
    reason,
    sentence,
  }),
);
export type StudyAttribution = Static<typeof StudyAttribution>;

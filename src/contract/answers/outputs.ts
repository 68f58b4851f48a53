/** Statistics of outputs: the summary of a study, the convergence of an estimate, the extreme runs. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, listOf, mapOf, named, nullable, ref, text } from '../build.ts';
import { DIRECTIONS } from '../enums.ts';
import { count, double } from '../scalars.ts';
import { headerMembers, openRange, probability, range, runIds, sentence } from './header.ts';
import { PrecisionReached } from './goals/precision.ts';
import { RequirementVerdict } from './goals/requirements.ts';

const number = (description: string) => nullable(double(description));

const QuantileEstimate = named(
  'QuantileEstimate',
  'A quantile of an output.',
  answered({
    p: probability('Which quantile.'),
    value: double('Of the runs that have a value, by linear interpolation (type 7).'),
    interval: openRange(
      'At the confidence asked for, by order statistics of all terminal runs: it holds whatever the missing values are.',
    ),
    method: Type.Optional(
      enumOf(
        ['anytime'],
        'Present where the interval holds at every number of runs, hence where a study stops at its precision.',
      ),
    ),
    bounds: nullable(
      openRange(
        'The least and the greatest quantile of all terminal runs, whatever the missing values are; null where none is missing.',
      ),
    ),
  }),
);

const Tolerance = named(
  'Tolerance',
  'Tolerance bounds of an output (Wilks).',
  answered({
    content: probability('The share inside, of the runs that have a value.'),
    confidence: probability('The confidence.'),
    lower: number('One-sided; null where there are too few runs.'),
    upper: number('One-sided; null where there are too few runs.'),
    two_sided: nullable(range('Both sides at once.')),
    runs_needed: count('The least number of values for a one-sided bound.'),
  }),
);

const OutputSummary = named(
  'OutputSummary',
  'Statistics of one output over the completed runs.',
  answered({
    name: text('Flat name of the output.'),
    units: nullable(text('As declared.')),
    count: count('Completed runs with a value.'),
    missing: count('Completed runs without one.'),
    mean: number('Mean.'),
    mean_interval: nullable(range('Interval of the mean.')),
    mean_method: nullable(
      enumOf(
        ['t', 't-conservative', 'replicates', 'exact', 'anytime', 'anytime-asymptotic'],
        'How the interval was made. `anytime`: it holds at every number of runs, hence where a study stops.',
      ),
    ),
    mean_reason: nullable(text('Why there is no interval.')),
    sd: number('Standard deviation (n - 1).'),
    skewness: number('Third standardised moment; null where the values do not differ.'),
    min: number('Smallest value.'),
    max: number('Largest value.'),
    quantiles: listOf(ref(QuantileEstimate), 'In the order asked for.'),
    tolerance: ref(Tolerance),
    text_values: Type.Optional(
      listOf(
        answered({ value: nullable(text('The text; null: all others.')), count: count('Runs.') }),
        'The most frequent texts, where the output is text.',
      ),
    ),
  }),
);

const FailurePattern = named(
  'FailurePattern',
  'Failed runs of one class with similar messages.',
  answered({
    id: text('Identifies the pattern.'),
    class: enumOf(['ok', 'terminated', 'crashed', 'timeout', 'lost', 'cancelled', 'open'], 'The class.'),
    pattern: text(
      'The message without the numbers and names that differ: a number that all of several failures have is kept.',
    ),
    count: count('Runs.'),
    share: probability('Of all failed runs.'),
    example_run_id: count('One of them.'),
    run_ids: runIds('The first 1000 of them.'),
  }),
);

export const StudySummary = named(
  'StudySummary',
  'Statistics of the outputs, the failures, and the verdicts.',
  answered({
    ...headerMembers,
    sentence,
    outputs: listOf(
      ref(OutputSummary),
      'Numbers, then `execution_secs`, then texts; of each the declared ones first, then in the order in which runs reported them.',
    ),
    failures: listOf(ref(FailurePattern), 'Most frequent first.'),
    requirements: listOf(ref(RequirementVerdict), 'In the order of the study.'),
    precision: Type.Optional(
      listOf(ref(PrecisionReached), 'How near the runs are to each precision; absent of a study without any.'),
    ),
    by: Type.Optional(
      listOf(
        answered({
          scenario: mapOf(text('The level.'), { description: 'Axis -> level, of the axes that were asked for.' }),
          cells: count(
            'Cells: 1 where every axis was asked for. The statistics of several cells are those of a mixture, without intervals.',
          ),
          of: headerMembers.of,
          n_used: headerMembers.n_used,
          excluded: headerMembers.excluded,
          warnings: headerMembers.warnings,
          outputs: listOf(ref(OutputSummary), 'As those of the study.'),
        }),
        'With `by`: the cells, the last axis varying fastest.',
      ),
    ),
    shadow: Type.Optional(
      answered(
        {
          would_end: count('Runs that met a condition in shadow.'),
          completed: count('Of these, the completed ones.'),
          passed: nullable(
            count('Of the completed ones, those that pass every requirement; null without requirements.'),
          ),
        },
        'What the rules in shadow would have done; absent where no run met one.',
      ),
    ),
  }),
);
export type StudySummary = Static<typeof StudySummary>;

const Histogram = named(
  'Histogram',
  'The distribution of a parameter over all runs, or of an output over the completed ones.',
  answered({
    name: text('The parameter, or the flat name of the output.'),
    kind: enumOf(['parameter', 'output'], 'Which of them.'),
    units: nullable(text('As declared.')),
    count: count('Runs with a finite value.'),
    from: double('Lower edge of the first bin; above `min` where there is a long tail.'),
    to: double('Upper edge of the last bin; below `max` where there is a long tail.'),
    counts: listOf(count('Runs.'), 'Runs in each bin; the bins are equal.'),
    failed: listOf(count('Failed runs.'), 'Of these, the failed ones.'),
    below: count('Runs with a value below `from`.'),
    above: count('Runs with a value above `to`.'),
    min: double('Smallest value.'),
    max: double('Largest value.'),
  }),
);

export const StudyDistributions = named(
  'StudyDistributions',
  'Histograms of the parameters and outputs of a study.',
  answered({
    ...headerMembers,
    variables: listOf(
      ref(Histogram),
      'Parameters, then outputs in the order of the summary; not those without two different values.',
    ),
  }),
);
export type StudyDistributions = Static<typeof StudyDistributions>;

export const Convergence = named(
  'Convergence',
  'An estimate over the first n runs of the complete prefix.',
  answered({
    ...headerMembers,
    points: listOf(
      answered({
        n: count('Runs used.'),
        value: double('The estimate.'),
        low: number('Lower end of its interval.'),
        high: number('Upper end.'),
      }),
      'At most 200, evenly spaced in log n.',
    ),
    bounds: nullable(
      openRange(
        'Of a quantile, over all runs of the prefix, whatever the missing values are; null where none is missing.',
      ),
    ),
    runs_for_half_width: nullable(count('Runs for the half-width asked for.')),
  }),
);
export type Convergence = Static<typeof Convergence>;

export const WorstRuns = named(
  'WorstRuns',
  'The completed runs with the most extreme values.',
  answered({
    ...headerMembers,
    output: text('The output.'),
    direction: enumOf(DIRECTIONS, 'Which extreme.'),
    runs: listOf(
      answered({
        run_id: count('The run.'),
        replicate: Type.Optional(count('Its replicate.')),
        value: double('The value.'),
        replay: text('The command that executes it again.'),
      }),
      'The most extreme first.',
    ),
  }),
);
export type WorstRuns = Static<typeof WorstRuns>;

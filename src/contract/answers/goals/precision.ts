/** Precisions as a study declares them, and how near its runs are to them. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, listOf, named, nullable, ref, submitted, text } from '../../build.ts';
import { PRECISION_STATES, SEQUENCES } from '../../enums.ts';
import { LIMITS } from '../../limits.ts';
import { count, double, freeText, name } from '../../scalars.ts';
import { Warning, headerMembers, openRange, probability, sentence } from '../header.ts';

const above = (description: string, exclusiveMaximum?: number) =>
  Type.Number({
    format: 'double',
    exclusiveMinimum: 0,
    ...(exclusiveMaximum === undefined ? {} : { exclusiveMaximum }),
    description,
  });

export const Precision = named(
  'Precision',
  'How precisely a quantity of an output is to be known: by a half-width in its units, or relative to its value.',
  submitted({
    output: name('The output, a number of `metadata.json` by its flat name, or `execution_secs`.'),
    quantity: name('`mean`, `probability` (of `condition`), or a quantile such as `p95` or `p99.9`.'),
    condition: Type.Optional(
      freeText('Of `probability`: a condition as of a requirement, such as `> 50` or `2500 .. 3200`.'),
    ),
    bounds: Type.Optional(
      Type.Unsafe<[number, number]>({
        type: 'array',
        items: { type: 'number' },
        minItems: 2,
        maxItems: 2,
        description:
          'Of `mean`: the least and the greatest value that the output can have. With them the interval holds for any number of runs; without, in the limit of many.',
      }),
    ),
    half_width: Type.Optional(above('The half-width that is wanted, in the units of the quantity; or `relative`.')),
    relative: Type.Optional(above('The half-width that is wanted, as a share of the value: 0.01 for 1 %.', 1)),
    confidence: Type.Optional(above('The confidence of the interval; 0.95 when absent.', 1)),
  }),
);
export type Precision = Static<typeof Precision>;

export const precisions = listOf(
  ref(Precision),
  'For `stop_when: precise`: the study stops at the first look at which each of them is reached.',
  LIMITS.precisions,
);

const number = (description: string) => nullable(double(description));

const precisionMembers = {
  output: text('Its output.'),
  quantity: text('`mean`, `probability`, or a quantile such as `p95`.'),
  condition: nullable(text('The condition of a probability; null otherwise.')),
  units: nullable(text('Units of the output, as declared.')),
  confidence: probability('The confidence of the interval.'),
  method: enumOf(
    SEQUENCES,
    'The confidence sequence. `asymptotic` holds in the limit of many runs; the others hold for every number of independent runs, or replicates.',
  ),
  n: count('Runs used: the first n of the complete prefix, those without a value among them.'),
  replicates: nullable(
    count("Of a Latin hypercube or Sobol' study: the whole replicates that these runs are; null otherwise."),
  ),
  unknown: count('Of these, the runs whose value is not known. They widen the interval, or leave none.'),
  value: number('The estimate from the runs whose value is known.'),
  interval: openRange(
    'Of the confidence sequence: it holds at every number of runs, hence at the one at which the study stops.',
  ),
  half_width: number('Half the width of the interval; null where an end is missing.'),
  target: number('The half-width that is wanted; null for a relative one while the interval holds 0.'),
  relative: number('As declared; null for a half-width.'),
  state: enumOf(
    PRECISION_STATES,
    '`reached`: the half-width is at most the target. `open`: runs may still reach it. `out-of-reach`: no further run of the study can. `not-reached`: all runs have ended.',
  ),
  runs_expected: nullable(
    count('The runs that reach it, expected by the half-width falling with the square root of their number.'),
  ),
  reason: nullable(text('Why it has no interval or cannot be reached; null otherwise.')),
  reason_run_id: nullable(count('The run that the reason is about; null where it is about none.')),
  warnings: listOf(ref(Warning), 'Limits of this interval.'),
  sentence,
};

export const PrecisionReached = named(
  'PrecisionReached',
  'How near the runs are to a precision.',
  answered(precisionMembers),
);
export type PrecisionReached = Static<typeof PrecisionReached>;

export const PrecisionCourse = named(
  'PrecisionCourse',
  'How near the runs are to a precision, with the course of its interval.',
  answered({
    ...precisionMembers,
    course: listOf(
      answered({
        n: count('Runs used: the first n of the complete prefix.'),
        value: number('The estimate.'),
        interval: openRange('The interval at n.'),
        half_width: number('Half its width.'),
      }),
      'At most 64 points, evenly spaced in log n.',
    ),
  }),
);
export type PrecisionCourse = Static<typeof PrecisionCourse>;

export const StudyPrecisions = named(
  'StudyPrecisions',
  'How near the runs of a study are to its precisions.',
  answered({
    ...headerMembers,
    stop_run_id: nullable(count('The first run at which every precision was reached; null where none was.')),
    precision: listOf(ref(PrecisionCourse), 'In the order of the study; empty without any.'),
    reason: nullable(text('Why the list is empty; null otherwise.')),
  }),
);
export type StudyPrecisions = Static<typeof StudyPrecisions>;

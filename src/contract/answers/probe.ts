/** The table of a probe: which inputs are read, and what each changes alone. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, listOf, named, nullable, ref, text } from '../build.ts';
import { INPUT_READS } from '../enums.ts';
import { count, double, freeForm } from '../scalars.ts';
import { headerMembers, reason, sentence } from './header.ts';

const ending = text('The class of its end: `ok` if it completed.');

const ProbedEnd = named(
  'ProbedEnd',
  'A run of a probe, compared with its nominal run.',
  answered({
    run_id: count('The run.'),
    class: ending,
    changes: listOf(
      answered({
        output: text('The output.'),
        nominal: Type.Optional(Type.Unknown({ description: 'In the nominal run; absent where it has none.' })),
        value: Type.Optional(Type.Unknown({ description: 'In this run; absent where it has none.' })),
        relative: nullable(
          double('(value - nominal) / |nominal|; null where one is not a number, or the nominal one is 0.'),
        ),
      }),
      'The outputs that differ from those of the nominal run, to the bit.',
    ),
  }),
);

const ProbedInput = named(
  'ProbedInput',
  'An input of a probe.',
  answered({
    name: text('The input.'),
    units: text('Its units.'),
    low: double('Its 1 % quantile.'),
    nominal: double('Its median.'),
    high: double('Its 99 % quantile.'),
    read: enumOf(INPUT_READS, 'Whether a completed run looked it up; `unknown` where fewer than three runs say so.'),
    effect: enumOf(
      ['some', 'none', 'unknown'],
      'Whether it changes an output or the end of a run; `unknown` without outputs, where a run was lost or cancelled, or where both quantiles are the median.',
    ),
    at_low: ref(ProbedEnd),
    at_high: ref(ProbedEnd),
  }),
);

export const StudyProbe = named(
  'StudyProbe',
  'The table of a probe.',
  answered({
    ...headerMembers,
    nominal: nullable(
      answered(
        { run_id: count('The run.'), class: ending, outputs: freeForm('Its outputs by their flat names.') },
        'The run with every input at its median; null with a reason.',
      ),
    ),
    inputs: listOf(ref(ProbedInput), 'The inputs that are probed, sorted by name; empty with a reason.'),
    corners: Type.Optional(
      answered(
        { low: ref(ProbedEnd), high: ref(ProbedEnd) },
        'All inputs low, and all inputs high; absent where the probe has no such runs.',
      ),
    ),
    reason,
    sentence,
  }),
);
export type StudyProbe = Static<typeof StudyProbe>;

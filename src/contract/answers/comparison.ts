/** The comparison of two studies. */
import { Type, type Static } from 'typebox';
import { answered, listOf, named, nullable, ref, text } from '../build.ts';
import { count, double } from '../scalars.ts';
import { AnswerHeader, headerMembers, probability, range, reason, runIds, sentence } from './header.ts';

const number = (description: string) => nullable(double(description));
const pValue = (description: string) => nullable(probability(description));

const PairedOutput = named(
  'PairedOutput',
  'One output over the runs that have it in both studies.',
  answered({
    name: text('The output.'),
    pairs: count('Runs with the output in both.'),
    identical: count('Of them, equal to the bit.'),
    mean_difference: number('After minus before.'),
    interval: nullable(range('Of the mean difference, by t.')),
    wilcoxon_p: pValue('Signed-rank test.'),
    p_holm: pValue('That adjusted over the outputs.'),
    largest: listOf(
      answered({ run_id: count('The run.'), before: double('Value before.'), after: double('Value after.') }),
      'The ten largest differences.',
    ),
    reason,
  }),
);

const UnpairedOutput = named(
  'UnpairedOutput',
  'One output of two studies with different runs.',
  answered({
    name: text('The output.'),
    n_before: count('Values before.'),
    n_after: count('Values after.'),
    mean_difference: number('After minus before.'),
    welch: nullable(range('Of the difference of means.')),
    ks_d: pValue('Greatest distance of the distribution functions.'),
    ks_p: pValue('Its p-value.'),
    mann_whitney_p: pValue('Mann-Whitney, two-sided.'),
    p_holm: pValue('That adjusted over the outputs.'),
    reason,
  }),
);

const shared = {
  ...headerMembers,
  with: ref(AnswerHeader),
  configuration_changes: listOf(
    answered({
      pointer: text('JSON Pointer into `config`.'),
      before: Type.Optional(Type.Unknown({ description: 'Absent where there was no such member.' })),
      after: Type.Optional(Type.Unknown({ description: 'Absent where there is no such member.' })),
    }),
    'The members of the configuration that differ.',
  ),
  configuration_changes_omitted: count('Changes beyond the first thousand.'),
  histories: listOf(
    text('The name of a history.'),
    'Histories of both, in the order of the first; `band` answers for each study.',
  ),
  pairing: answered(
    {
      inputs: count('Inputs that vary, and fixed ones that differ.'),
      equal: count('Of them, equal to the bit in all runs that both have.'),
      differing: listOf(text('An input.'), 'The others.'),
      reason: nullable(text('Why the studies are not paired; null where they are.')),
    },
    'Whether the runs have common random numbers.',
  ),
  sentence,
};

const PairedComparison = named(
  'PairedComparison',
  'Two studies whose runs have common random numbers.',
  answered({
    ...shared,
    paired: Type.Unsafe<true>({ type: 'boolean', const: true }),
    levels: Type.Optional(
      answered(
        {
          axis: text('The axis.'),
          before: text('The level before.'),
          after: text('The level after.'),
          cells: count('Pairs of cells that differ in the axis alone: values of a sample are averaged over them.'),
          cells_left_out: count('Cells that only one of the levels has.'),
        },
        'Present where two levels of one study are compared: runs are then samples, a sample fails where it fails in a cell, and `run_id` is the sample.',
      ),
    ),
    pairs: count('Runs terminal in both.'),
    identical_runs: count('Of them, all outputs equal to the bit.'),
    flips: answered(
      {
        broke: runIds('Passed before and not after.'),
        mended: runIds('Passed after and not before.'),
        passed_both: count('Runs.'),
        failed_both: count('Runs.'),
        mcnemar_p: probability("McNemar's exact test."),
      },
      'The runs whose outcome changed.',
    ),
    outputs: listOf(ref(PairedOutput), 'The outputs of both.'),
  }),
);

const UnpairedComparison = named(
  'UnpairedComparison',
  'Two studies without common random numbers.',
  answered({
    ...shared,
    paired: Type.Unsafe<false>({ type: 'boolean', const: false }),
    passing: nullable(
      answered(
        {
          before: probability('Passing share before.'),
          after: probability('Passing share after.'),
          difference: double('After minus before.'),
          newcombe: range('Its interval.'),
        },
        'The passing shares.',
      ),
    ),
    outputs: listOf(ref(UnpairedOutput), 'The outputs of both.'),
  }),
);

export const StudyComparison = named(
  'StudyComparison',
  'Two studies compared; `paired` says how.',
  Type.Unsafe<Static<typeof PairedComparison> | Static<typeof UnpairedComparison>>({
    type: 'object',
    anyOf: [{ $ref: PairedComparison.$id }, { $ref: UnpairedComparison.$id }],
  }),
);
export type StudyComparison = Static<typeof StudyComparison>;

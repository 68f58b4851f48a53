/** Sobol' indices of an output, from a design made for them. */
import type { Static } from 'typebox';
import { answered, flag, listOf, named, nullable, ref, text } from '../build.ts';
import { count, double } from '../scalars.ts';
import { headerMembers, probability, range, reason, sentence } from './header.ts';

const index = (description: string) =>
  answered(
    {
      value: double('The estimate; by chance it can lie outside [0, 1].'),
      interval: range('Value and bootstrap standard error, at the confidence asked for.'),
      bounds: nullable(
        range(
          'What the missing blocks allow when their values are within the range of the others; null where none is missing.',
        ),
      ),
      told_apart: flag('Told apart from 0, with an error of at most 1 - confidence over all inputs.'),
    },
    description,
  );

const InputIndices = named(
  'InputIndices',
  'The share of the variance of an output that one input explains.',
  answered({
    name: text('The input.'),
    first: index('The share that the input explains by itself.'),
    total: index('The share in which the input has a part, by itself or with others.'),
  }),
);

export const StudyIndices = named(
  'StudyIndices',
  "Sobol' indices of one output.",
  answered({
    ...headerMembers,
    output: text('The output.'),
    blocks: answered(
      {
        used: count('Complete blocks, all of whose runs have a value.'),
        missing: count('The others: each has a run without a value or an open run.'),
        rows: count('Runs of a block.'),
      },
      'The blocks of the design: one run without a value takes out its whole block.',
    ),
    inputs: listOf(ref(InputIndices), 'Largest total index first.'),
    pairs: listOf(
      answered({
        names: listOf(text('The input.'), 'Two inputs.'),
        value: double('The share that only both together explain.'),
        interval: range('As of one input.'),
        told_apart: flag('Told apart from 0, with an error of at most 1 - confidence over all pairs.'),
      }),
      'Second-order indices, largest first; empty unless the design has them.',
    ),
    interactions: nullable(double('1 less the sum of the first indices: the share that no input explains by itself.')),
    variance: nullable(double('Variance of the output in the rows of both matrices, in squared units.')),
    resamples: count('Bootstrap samples that the intervals are from.'),
    confidence: probability('Of the intervals.'),
    reason,
    sentence,
  }),
);
export type StudyIndices = Static<typeof StudyIndices>;

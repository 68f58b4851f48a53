/** The envelope of an output over the cells of a study: its distribution between two bounds, a p-box. */
import type { Static } from 'typebox';
import { headerMembers, openRange, probability, sentence } from '../header.ts';
import { answered, listOf, mapOf, named, nullable, ref, text } from '../../build.ts';
import { count, double } from '../../scalars.ts';

const scenario = (description: string) => mapOf(text('The level.'), { description });

const CellFigure = named(
  'CellFigure',
  'A figure of one cell.',
  answered({
    value: double('The estimate in the cell.'),
    interval: nullable(
      openRange('Of the cell alone; of a requirement two one-sided bounds, each at its confidence. Null: none.'),
    ),
    scenario: scenario('Axis -> level of the cell.'),
  }),
);
export type CellFigure = Static<typeof CellFigure>;

const Envelope = named(
  'Envelope',
  'The least and the greatest figure of the cells.',
  answered({ least: ref(CellFigure), greatest: ref(CellFigure) }),
);
export type Envelope = Static<typeof Envelope>;

export const OutputBox = named(
  'OutputBox',
  'The envelope of an output over the cells of a study.',
  answered({
    ...headerMembers,
    sentence,
    output: text('The output.'),
    units: nullable(text('As declared.')),
    confidence: probability('Of the intervals.'),
    epistemic: listOf(text('The name.'), 'The axes whose levels are numbers of an interval.'),
    within: scenario('Axis -> level: the cells are those that have these; empty: all cells of the study.'),
    cells: count('Cells that have a value.'),
    cells_without_values: count('Cells that have none, which the figures leave out.'),
    mean: nullable(ref(Envelope)),
    quantiles: listOf(
      answered({ p: probability('Which quantile.'), envelope: ref(Envelope) }),
      'Of the runs that have a value in each cell, in the order asked for.',
    ),
    requirements: listOf(
      answered({ name: text('The requirement.'), envelope: nullable(ref(Envelope)) }),
      'The probability of passing, for each requirement of the study; null before any cell has an estimate.',
    ),
    curve: answered(
      {
        values: listOf(
          double('A value of the output.'),
          'Ascending: those of `at`, or at most 257 of the values of all cells.',
        ),
        least: listOf(
          probability('A share.'),
          'The least share of runs at or below each value, over the cells; a run without a value counts as above it.',
        ),
        greatest: listOf(
          probability('A share.'),
          'The greatest share of runs at or below each value, over the cells; a run without a value counts as at or below it.',
        ),
      },
      'The empirical p-box: the distribution functions of all cells are between the two curves.',
    ),
  }),
);
export type OutputBox = Static<typeof OutputBox>;

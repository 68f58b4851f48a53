/** Answers about the cells of a study with scenarios. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, mapOf, named, nullable, text } from '../build.ts';
import { VERDICTS } from '../enums.ts';
import { count, double } from '../scalars.ts';

const probability = (description: string) => double(description, { minimum: 0, maximum: 1 });
const scenario = mapOf(text('The level.'), { description: 'Axis -> level, of the axes that were asked for.' });

export const CellCounts = named(
  'CellCounts',
  'The cells of a requirement that is judged in each.',
  answered({
    of: count('Cells.'),
    met: count('Cells that are met, each at the confidence for itself.'),
    called_met: count('Cells that are met with the correction of Holm: the set of these is met at the confidence.'),
    violated: count('Cells that are violated, each at the confidence for itself.'),
    called_violated: count(
      'Cells that are violated with the correction of Holm: the set of these is violated at the confidence.',
    ),
    open: count('Cells whose verdict is open.'),
    worst: Type.Optional({
      ...mapOf(text('The level.'), {
        description: 'Axis -> level of the cell with the least estimate; absent before any.',
      }),
    }),
  }),
);
export type CellCounts = Static<typeof CellCounts>;

export const CellVerdict = named(
  'CellVerdict',
  'A requirement in one cell, or in the cells that have the same levels of the axes that were asked for.',
  answered({
    scenario,
    cells: count('Cells: 1 where every axis was asked for.'),
    passed: count('Runs that pass.'),
    failed: count('Runs that fail.'),
    unknown: count('Runs that count against either verdict.'),
    estimate: nullable(probability('Passed runs among those that pass or fail, in the cell where it is least.')),
    lower: probability('One-sided, for each cell alone; the least of the cells.'),
    upper: probability('One-sided, for each cell alone; the least of the cells.'),
    verdict: enumOf(
      VERDICTS,
      '`met` when every cell is; `violated` when a cell is. For this row alone: of many cells some are met or violated by chance.',
    ),
    called: nullable(
      enumOf(
        ['met', 'violated'],
        'The verdict with the correction of Holm over all cells of the study, for statements about sets of cells; null: none.',
      ),
    ),
  }),
);
export type CellVerdict = Static<typeof CellVerdict>;

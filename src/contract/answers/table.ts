/** The table of a study: one row a run, as JSON. Other formats have the same columns. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, listOf, named, nullable, text } from '../build.ts';
import { COLUMN_TYPES } from '../enums.ts';
import { count, uuid } from '../scalars.ts';
import { Warning } from './header.ts';

export const TableColumn = named(
  'TableColumn',
  'A column of a table of runs.',
  answered({
    name: text('`run_id`, `parameters.mass`, `outputs.miss_m`, ...'),
    type: enumOf(
      COLUMN_TYPES,
      '`mixed`: the values of an output that is not of one type, or lists; text in files with typed columns.',
    ),
    units: nullable(text('Units of the values, where the study declares them.')),
    description: nullable(text('Meaning of an output, where the study declares it.')),
  }),
);
export type TableColumn = Static<typeof TableColumn>;

export const StudyTable = named(
  'StudyTable',
  'The runs of a study, one row each. A missing value is null.',
  answered({
    batch_id: uuid('The batch.'),
    warnings: listOf(Type.Unsafe<Static<typeof Warning>>({ $ref: Warning.$id }), 'Limits of this table.'),
    columns: listOf(Type.Unsafe<TableColumn>({ $ref: TableColumn.$id }), 'In the order of the members of a row.'),
    rows: listOf(
      Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
      'The values of each run by column.',
    ),
    matched: count('Number of runs that `where` selects, on all pages.'),
    of: count('Number of all runs.'),
  }),
);
export type StudyTable = Static<typeof StudyTable>;

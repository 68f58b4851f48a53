/** The columns of a run table under the names that a `where` expression uses. */
import { RUN_CLASSES } from '../table/run-class.ts';
import { type RunTable, batchOf, replicateReader, runIdOf } from '../table/run-table.ts';
import { axisColumns } from '../table/cell-tables.ts';
import type { WhereColumn } from './evaluate.ts';

/**
 * `run_id`, `replicate`, `batch_id`, `class`, `execution_secs`, `terminated_by` (as `max_nz > 3.8`), the axes of scenarios, `parameters.*` and `outputs.*`.
 * The caller adds columns that a table does not hold, such as `runner_id`.
 */
export function whereColumns(table: RunTable): Map<string, WhereColumn> {
  const { rows, rules } = table;
  const replicateOf = replicateReader(table) ?? (() => 0);
  const numbers = (value: (row: number) => number): WhereColumn => ({
    kind: 'number',
    values: Float64Array.from({ length: rows }, (_, row) => value(row)),
  });
  const columns = new Map<string, WhereColumn>([
    ['run_id', numbers((row) => runIdOf(table, row))],
    ['replicate', numbers(replicateOf)],
    ['batch_id', batchColumn(table)],
    ['class', { kind: 'text', codes: table.classes.map((code) => code + 1), values: ['', ...RUN_CLASSES] }],
    ['execution_secs', { kind: 'number', values: table.executionSecs }],
    ['terminated_by', ruleColumn(table.ruleCodes, rules)],
  ]);
  for (const [axis, column] of axisColumns(table)) columns.set(axis, column);
  for (const [name, values] of table.parameters) columns.set(`parameters.${name}`, { kind: 'number', values });
  for (const [name, values] of table.outputs) columns.set(`outputs.${name}`, { kind: 'number', values });
  // An output that is a number in some runs and a text in others is a number here.
  for (const [name, { codes, values }] of table.texts) {
    if (!table.outputs.has(name)) columns.set(`outputs.${name}`, { kind: 'text', codes, values });
  }
  return columns;
}

function batchColumn(table: RunTable): WhereColumn {
  const names = ['', ...new Set([table.batchId, ...(table.batches?.values.slice(1) ?? [])])];
  const codes = Uint16Array.from({ length: table.rows }, (_, row) => names.indexOf(batchOf(table, row)));
  return { kind: 'text', codes, values: names };
}

function ruleColumn(codes: Uint16Array, rules: RunTable['rules']): WhereColumn {
  const values = rules.map((rule) => (rule === undefined ? '' : `${rule.variable} ${rule.condition}`));
  return { kind: 'text', codes, values };
}

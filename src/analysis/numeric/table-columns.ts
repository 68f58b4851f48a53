/** The columns of a run table as the statistics of causes take them. */
import { closestMatch } from '../../base/text/closest-match.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { type RunTable, type TextColumn, outputColumn, outputNames } from '../table/run-table.ts';
import type { NumericColumn } from './columns.ts';

/** Every parameter of the table. */
export function parameterColumns(table: RunTable): NumericColumn[] {
  return [...table.parameters].map(([name, values]) => ({ name, values }));
}

/** A column with the values of completed runs alone: the outputs of other runs are partial. */
export function completedValues(table: RunTable, values: Float64Array): Float64Array<ArrayBuffer> {
  return values.map((value, row) => (table.classes[row] === CLASS_CODES.ok ? value : Number.NaN));
}

/** The text outputs with the values of completed runs alone. */
export function completedTexts(table: RunTable): Map<string, TextColumn> {
  const ok = CLASS_CODES.ok;
  return new Map(
    [...table.texts].map(([name, { codes, values }]) => [
      name,
      { values, codes: codes.map((code, row) => (table.classes[row] === ok ? code : 0)) },
    ]),
  );
}

/**
 * An output over the completed runs.
 * @throws RangeError when the table has no such output, with the nearest name.
 */
export function completedOutput(table: RunTable, name: string): NumericColumn {
  const values = outputColumn(table, name);
  if (values !== undefined) return { name, values: completedValues(table, values) };
  const names = outputNames(table);
  const nearest = closestMatch(name, names);
  const remedy =
    nearest === undefined ? `name one of its ${names.length} outputs of numbers` : `did you mean "${nearest}"?`;
  throw new RangeError(`output not found: the study has no output "${name}"; ${remedy}`);
}

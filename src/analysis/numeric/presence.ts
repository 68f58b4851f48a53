/** Which parameters all cells have, and which only some: a level of scenarios may add one. */
import { listed } from '../wording.ts';
import type { NumericColumn } from './columns.ts';
import { parameterColumns } from './table-columns.ts';
import { rowsOfCells } from '../table/cell-tables.ts';
import type { RunTable } from '../table/run-table.ts';
import type { Warning } from '../warning.ts';

export interface Presence {
  /** The parameters with values in every cell that has runs. */
  everywhere: NumericColumn[];
  /** The other ones, which are without a value in all runs of some cell. */
  partly: NumericColumn[];
}

/** Of a study without scenarios, all parameters are everywhere. */
export function parameterPresence(table: RunTable): Presence {
  const parameters = parameterColumns(table);
  if (table.cells === undefined) return { everywhere: parameters, partly: [] };
  const cells = rowsOfCells(table, table.cells).filter((rows) => rows.length > 0);
  const isEverywhere = ({ values }: NumericColumn): boolean =>
    cells.every((rows) => rows.some((row) => Number.isFinite(values[row])));
  const everywhere = parameters.filter(isEverywhere);
  return { everywhere, partly: parameters.filter((it) => !everywhere.includes(it)) };
}

/** `consequence`: what the answer does with these parameters. */
export function partlyWarning(partly: readonly NumericColumn[], consequence: string): Warning[] {
  if (partly.length === 0) return [];
  const message = `not every cell has ${listed(partly.map((it) => it.name))}: ${consequence}`;
  return [{ code: 'parameters-of-some-cells', message }];
}

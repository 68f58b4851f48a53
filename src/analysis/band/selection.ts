/** Which runs of a study a band has: those of the complete prefix that are selected. */
import { type Exclusion } from '../table/header.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { type RunTable, absentCancelled, completePrefix, runIdOf } from '../table/run-table.ts';
import { evaluateWhere } from '../where/evaluate.ts';
import { parseWhere } from '../where/parse.ts';
import { whereColumns } from '../where/table-columns.ts';
import { type CurveRuns, isEven } from './curves.ts';

/** The rows of a table that a band is about. */
export interface Selection {
  table: RunTable;
  /** 1 for each row that ended in the complete prefix and that `where` selects. */
  selected: Uint8Array;
  /** Why a row is not selected; undefined for the others. */
  exclusionOf: (row: number) => Exclusion | undefined;
  /** False where an expression selects the runs. */
  isAll: boolean;
}

/**
 * Of an unfinished study the runs of the complete prefix, since runs that end early are not a fair sample of all; where the study stopped by itself, the runs up to
 * the decisive one. `where`: of these, those for which the expression holds.
 * @throws WhereError for an expression that cannot be used
 */
export function selectionOf(table: RunTable, where: string | undefined): Selection {
  const { rows, settledRows = rows, stoppedBy } = table;
  const end = Math.min(completePrefix(table), settledRows);
  const wanted = where === undefined ? undefined : evaluateWhere(parseWhere(where), whereColumns(table), rows);
  const selected = Uint8Array.from({ length: rows }, (_, row) => Number(row < end && wanted?.[row] !== 0));
  const exclusionOf = (row: number): Exclusion | undefined => {
    if (row >= settledRows) return stoppedBy === 'precise' ? 'after_stop' : 'after_settled';
    if (table.classes[row] === CLASS_CODES.open) return 'open';
    if (row >= end) return 'after_prefix';
    return selected[row] === 1 ? undefined : 'not_selected';
  };
  return { table, selected, exclusionOf, isAll: where === undefined };
}

export interface BandRuns extends CurveRuns {
  /** The rows of the table that are those of the matrix. */
  rows: number[];
}

/** The completed runs whose curves can be read; the others that are selected have unknown values. */
export function bandRuns(
  { table, selected, isAll }: Selection,
  isRead: (row: number) => boolean = () => true,
): BandRuns {
  const rows: number[] = [];
  const unknown = { even: 0, odd: 0 };
  for (let row = 0; row < selected.length; row++) {
    if (selected[row] !== 1) continue;
    if (table.classes[row] === CLASS_CODES.ok && isRead(row)) rows.push(row);
    else unknown[isEven(runIdOf(table, row)) ? 'even' : 'odd']++;
  }
  // The cancelled runs after the rows, as those of the rows; a selection needs their values.
  const absent = isAll && table.settledRows === undefined ? absentCancelled(table) : 0;
  const [even, odd] = [Math.ceil(absent / 2), Math.floor(absent / 2)];
  return {
    rows,
    runIds: Uint32Array.from(rows, (row) => runIdOf(table, row)),
    unknown: { even: unknown.even + even, odd: unknown.odd + odd },
  };
}

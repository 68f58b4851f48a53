/** The runs with the largest or smallest values of an output. */
import type { Direction, WorstRuns } from '../../contract/types.ts';
import { answerHeader } from '../table/header.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { type RunTable, batchOf, outputColumn, replicateReader, runIdOf } from '../table/run-table.ts';

/** The k >= 0 most extreme completed runs, the most extreme first; of equal values the earlier run. */
export function worstRuns(table: RunTable, output: string, k: number, direction: Direction = 'largest'): WorstRuns {
  const values = outputColumn(table, output) ?? new Float64Array(0);
  const sign = direction === 'largest' ? 1 : -1;
  /** Rows by falling extremeness. */
  const rows: number[] = [];
  let used = 0;
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    if (table.classes[row] !== CLASS_CODES.ok || Number.isNaN(value)) continue;
    used++;
    const last = rows.at(-1);
    if (rows.length >= k && (last === undefined || sign * value <= sign * values[last]!)) continue;
    rows.splice(placeOf(rows, values, value, sign), 0, row);
    if (rows.length > k) rows.pop();
  }
  const replicateOf = replicateReader(table);
  const runs = rows.map((row): WorstRuns['runs'][number] => {
    const replicate = replicateOf?.(row);
    return {
      run_id: runIdOf(table, row),
      ...(replicate === undefined ? {} : { replicate }),
      value: values[row]!,
      replay: `simbatch replay ${batchOf(table, row)}/${runIdOf(table, row)}`,
    };
  });
  return { ...answerHeader(table, { used }), output, direction, runs };
}

/** The first place whose value is less extreme. */
function placeOf(rows: readonly number[], values: Float64Array, value: number, sign: number): number {
  let [from, to] = [0, rows.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (sign * values[rows[middle]!]! >= sign * value) from = middle + 1;
    else to = middle;
  }
  return from;
}

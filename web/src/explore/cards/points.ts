/** The rows that a card draws as points. Pure. */
import { count } from '../../parts/time.tsx';
import { isEnded, isFailure, type Variable } from '../../plots/variables.ts';
import type { Rows } from '../../cards/csv.ts';
import { thinned, type Bench } from '../state.ts';

/** Points of one plot: each is an element of the page. */
const MOST = 2_500;

export const pointsOf = ({ sample }: Pick<Bench, 'sample'>): Uint32Array => thinned(sample, MOST);

export const pointsNote = (rows: Uint32Array, { table }: Bench): string =>
  rows.length < table.size
    ? `${count(rows.length)} of ${count(table.size)} runs are drawn, failed ones first.`
    : `${count(rows.length)} runs.`;

const outcomeOf = ({ status }: Pick<Bench, 'status'>, row: number): string =>
  isFailure(status[row]!) ? 'failed' : isEnded(status[row]!) ? 'completed' : 'open';

/** The table of a plot of two variables. */
export const pairRows = (bench: Bench, across: Variable, up: Variable, rows: Uint32Array): Rows => ({
  columns: ['run', across.label, up.label, 'outcome'],
  rows: Array.from(rows, (row) => [
    bench.table.runAt(row),
    across.values[row]!,
    up.values[row]!,
    outcomeOf(bench, row),
  ]),
});

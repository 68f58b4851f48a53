/** The table of a card as CSV. Pure. */
import { csvField } from '../../../src/base/text/csv.ts';

/** The table of what a card draws. */
export interface Rows {
  columns: readonly string[];
  rows: readonly (readonly (string | number | null)[])[];
}

/** A value that is missing is empty. */
const field = (value: string | number | null): string =>
  csvField(typeof value === 'number' && !Number.isFinite(value) ? null : value);

export const csvText = ({ columns, rows }: Rows): string =>
  [columns, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('');

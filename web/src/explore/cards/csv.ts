/** The table of a card as CSV. Pure. */

/** The table of what a card draws. */
export interface Rows {
  columns: readonly string[];
  rows: readonly (readonly (string | number | null)[])[];
}

/** A cell that a spreadsheet would take for a formula begins with an apostrophe. */
function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  const text = /^[\s]*[=+\-@\uff1d]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvText = ({ columns, rows }: Rows): string =>
  [columns, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');

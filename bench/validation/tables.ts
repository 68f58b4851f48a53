/** Tables of measured coverage and error for the pages of docs. */

export interface ValidationTable {
  /** The marker in the page: `<!-- validation: NAME -->` before the table, `<!-- end -->` after it. */
  name: string;
  head: readonly string[];
  rows: readonly (readonly (string | number)[])[];
}

/** GitHub's Markdown. */
export function markdown({ head, rows }: ValidationTable): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The marker before a table. */
export const placeOf = (name: string): string => `<!-- validation: ${name} -->`;

/** The page with the tables between their markers replaced. Throws where the page lacks a marker. */
export function withTables(page: string, tables: readonly ValidationTable[]): string {
  return tables.reduce((text, table) => {
    const start = placeOf(table.name);
    const [before, after] = [text.indexOf(start), text.indexOf('<!-- end -->', text.indexOf(start))];
    if (before === -1 || after === -1)
      throw new Error(`the page has no place for the table "${table.name}": ${start} ... <!-- end -->`);
    return `${text.slice(0, before)}${start}\n\n${markdown(table)}\n\n${text.slice(after)}`;
  }, page);
}

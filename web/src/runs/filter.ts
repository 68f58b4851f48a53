/** The condition of the table of runs: the text as typed, in the language of `where`, and the other filters of the page. Pure. */
import { parseWhere } from '../../../src/analysis/where/parse.ts';
import type { Ranges } from '../plots/variables.ts';

/** A text as a value. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
/** A name as a column. */
export const plainOrQuoted = (name: string): string => (/^[A-Za-z_][\w.]*$/.test(name) ? name : quoted(name));

/** The column of a variable by its key, `p.NAME` or `o.NAME`. */
export function columnOfKey(key: string): string {
  if (key === 'o.execution_secs') return 'execution_secs';
  const name = key.slice(2);
  return key.startsWith('p.') ? `parameters.${name}` : key.startsWith('o.') ? `outputs.${name}` : key;
}

export interface Filters {
  statuses: readonly string[];
  runner: string | null;
  ranges: Ranges;
  /** A `where` expression, as the command line takes it. */
  text: string;
}

/** One condition of all filters; undefined without any. @throws WhereError for a text that cannot be read, with the place in it */
export function whereOf({ statuses, runner, ranges, text }: Filters): string | undefined {
  const parts: string[] = [];
  // The text is first, so that places in errors of the coordinator are those in the text.
  if (text.trim() !== '') parts.push(text.trim());
  if (statuses.length > 0) parts.push(`status in (${statuses.join(', ')})`);
  if (runner !== null) parts.push(`runner_id = ${quoted(runner)}`);
  for (const [key, [from, to]] of ranges) {
    const column = plainOrQuoted(columnOfKey(key));
    if (Number.isFinite(from)) parts.push(`${column} >= ${from}`);
    if (Number.isFinite(to)) parts.push(`${column} <= ${to}`);
  }
  if (text.trim() !== '' && parseWhere(text).kind === 'or' && parts.length > 1) parts[0] = `(${parts[0]})`;
  return parts.length === 0 ? undefined : parts.join(' and ');
}

/**
 * The filter language of the table of runs, translated into the `where` of the table's endpoint. Names may come without
 * `parameters.` or `outputs.`, and `state:failed`, `class:crashed` and `runner:lab-1` are short forms. Pure.
 */
import { tokensOf, type Token } from '../../../src/analysis/where/tokens.ts';
import { closestMatch } from '../../../src/base/text/closest-match.ts';
import { JOB_STATUSES } from '../../../src/contract/enums.ts';
import type { Ranges } from '../plots/variables.ts';

/** The names that may come without their prefix. */
export interface Names {
  parameters: readonly string[];
  outputs: readonly string[];
  /** The axes of scenarios, which are columns without a prefix. */
  axes?: readonly string[];
}

const SHORT: Readonly<Record<string, string>> = {
  state: 'status',
  status: 'status',
  class: 'class',
  runner: 'runner_id',
};

/** @throws Error for a text that cannot be read, with the place in it */
export function translated(text: string, names: Names): string {
  const tokens = tokensOf(text);
  return tokens
    .map((token, at) => {
      if (token.kind === 'end') return '';
      const form = written(token, tokens[at - 1], names);
      if (form === token.text && isCompared(tokens[at + 1])) requireColumn(token, names);
      return form;
    })
    .join(' ')
    .trim();
}

/** True when a name comes before this token. */
const isCompared = (next: Token | undefined): boolean =>
  next !== undefined &&
  ((next.kind === 'sign' && !['(', ')', ','].includes(next.text)) ||
    (next.kind === 'word' && ['in', 'is'].includes(next.text.toLowerCase())));

/** The columns that every study has, under the names that conditions use. */
const RUN_COLUMNS = [
  'run_id replicate batch_id job_id status class reason attempt runner_id started_at ended_at execution_secs',
  'error_message terminated_by would_terminate telemetry_lost round draw',
].flatMap((it) => it.split(' '));

function requireColumn({ text, kind, at }: Token, { parameters, outputs, axes = [] }: Names): void {
  const isKnown = RUN_COLUMNS.includes(text) || axes.includes(text);
  if (kind !== 'word' || text.includes('.') || isKnown || text.toLowerCase() === 'not') return;
  const nearest = closestMatch(text, [...parameters, ...outputs, ...axes, ...RUN_COLUMNS]);
  const remedy = nearest === undefined ? 'the choice of columns lists the names' : `did you mean "${nearest}"?`;
  throw new Error(`filter not understood at character ${at}: no parameter, output or column "${text}"; ${remedy}`);
}

function written(token: Token, before: Token | undefined, names: Names): string {
  if (token.kind === 'sign') return token.text;
  // After a comparison a word is a value.
  if (before?.kind === 'sign' && before.text !== '(' && before.text !== ',') return valueOf(token);
  if (token.kind === 'word') {
    const [, short, value] = /^(state|status|class|runner):(.+)$/i.exec(token.text) ?? [];
    if (short !== undefined && value !== undefined) return shortForm(short.toLowerCase(), value);
    if (token.text.toLowerCase() === 'state') return 'status';
  }
  return columnOf(token.text, names) ?? valueOf(token);
}

/** `state:failed` means both kinds of failure that the bar of a study shows in red and amber. */
function shortForm(short: string, value: string): string {
  const column = SHORT[short]!;
  if (column !== 'status') return `${column} = ${quoted(value)}`;
  if (value.toLowerCase() === 'failed') return 'status in (Failed, Timeout)';
  const known = JOB_STATUSES.find((it) => it.toLowerCase() === value.toLowerCase());
  return `status = ${known ?? quoted(value)}`;
}

function columnOf(name: string, { parameters, outputs, axes = [] }: Names): string | undefined {
  if (name === 'run') return 'run_id';
  if (axes.includes(name)) return plainOrQuoted(name);
  if (parameters.includes(name)) return plainOrQuoted(`parameters.${name}`);
  if (outputs.includes(name)) return plainOrQuoted(`outputs.${name}`);
  return undefined;
}

const valueOf = (token: Token): string => (token.kind === 'quoted' ? quoted(token.text) : token.text);
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
  /** The text in the filter language. */
  text: string;
}

/** One condition of all filters; undefined without any. @throws as `translated` */
export function whereOf({ statuses, runner, ranges, text }: Filters, names: Names): string | undefined {
  const parts: string[] = [];
  if (statuses.length > 0) parts.push(`status in (${statuses.join(', ')})`);
  if (runner !== null) parts.push(`runner_id = ${quoted(runner)}`);
  for (const [key, [from, to]] of ranges) {
    const column = plainOrQuoted(columnOfKey(key));
    if (Number.isFinite(from)) parts.push(`${column} >= ${from}`);
    if (Number.isFinite(to)) parts.push(`${column} <= ${to}`);
  }
  if (text.trim() !== '') parts.push(`(${translated(text, names)})`);
  return parts.length === 0 ? undefined : parts.join(' and ');
}

/** The columns that the names of a `where` expression mean: `miss_m` is `outputs.miss_m` unless a parameter has the name too. */
import { closestMatch } from '../../base/text/closest-match.ts';
import { JOB_STATUSES } from '../../contract/enums.ts';
import { RUN_CLASSES } from '../table/run-class.ts';
import type { Expression, Literal, Test } from './expression.ts';
import { WhereError } from './tokens.ts';

const PREFIXES = ['parameters.', 'outputs.'] as const;
/** Words of people for columns that have the names of the API. */
const ALIASES: Readonly<Record<string, string>> = { run: 'run_id', state: 'status', runner: 'runner_id' };
/** The columns that have no other values than these: another one would select nothing without a word. */
const VALUES: Readonly<Record<string, readonly string[]>> = { status: JOB_STATUSES, class: RUN_CLASSES };
/** Names that an error lists at most. */
const LISTED = 8;

/**
 * The expression with the full name of every column. A name that is a column means this column; otherwise the parameter or the output of the name.
 * @throws WhereError for a name that means nothing, with the nearest names, for a name that a parameter and an output share,
 * and for a status or a class that there is not.
 */
export function resolveColumns(expression: Expression, columns: Iterable<string>): Expression {
  const names = new Set(columns);
  const resolve = (it: Expression): Expression => {
    switch (it.kind) {
      case 'and':
      case 'or':
        return { ...it, terms: it.terms.map(resolve) };
      case 'not':
        return { ...it, term: resolve(it.term) };
      case 'compare':
      case 'in':
      case 'null':
        return withValues({ ...it, column: columnOf(it, names) });
    }
  };
  return resolve(expression);
}

function columnOf({ column, at }: Test, names: ReadonlySet<string>): string {
  if (names.has(column)) return column;
  const [found, other] = PREFIXES.map((it) => `${it}${column}`).filter((it) => names.has(it));
  if (other !== undefined)
    throw new WhereError(at, `"${column}" is a parameter and an output`, `write ${found} or ${other}`);
  if (found !== undefined) return found;
  const alias = Object.hasOwn(ALIASES, column) ? ALIASES[column]! : undefined;
  if (alias !== undefined && names.has(alias)) return alias;
  throw new WhereError(at, `unknown column "${column}"`, remedyFor(column, names));
}

/** The test with the values of a column as the column spells them. */
function withValues(test: Test): Test {
  const known = Object.hasOwn(VALUES, test.column) ? VALUES[test.column]! : undefined;
  if (known === undefined || test.kind === 'null') return test;
  const spelled = (value: Literal): Literal => {
    if (typeof value !== 'string') return value;
    const found = known.find((it) => it.toLowerCase() === value.toLowerCase());
    if (found !== undefined) return found;
    throw new WhereError(test.at, `no ${test.column} is "${value}"`, `write one of ${known.join(', ')}`);
  };
  return test.kind === 'in' ? { ...test, values: test.values.map(spelled) } : { ...test, value: spelled(test.value) };
}

/** The nearest name, without a prefix where that is clear and the given one has none; the list of names where none is near. */
function remedyFor(column: string, names: ReadonlySet<string>): string {
  const shown = column.includes('.') ? [...names] : Array.from(names, (name) => shortName(name, names));
  const nearest = closestMatch(column, shown);
  if (nearest !== undefined) return `did you mean "${nearest}"?`;
  const more = shown.length > LISTED ? `, ... (${shown.length} columns)` : '';
  return `name one of ${shown.slice(-LISTED).join(', ')}${more}`;
}

function shortName(name: string, names: ReadonlySet<string>): string {
  const prefix = PREFIXES.find((it) => name.startsWith(it));
  if (prefix === undefined) return name;
  const bare = name.slice(prefix.length);
  return !names.has(bare) && PREFIXES.filter((it) => names.has(`${it}${bare}`)).length === 1 ? bare : name;
}

/** Any answer as lines for people: its sentence and limits, then names and values, then a table for each list of objects. */
import { limitLines, usedRunsLines } from '../../study/answer-text.ts';
import { formatNumber, printable } from '../../terminal/format.ts';
import { renderPairs, renderTable, type Pair, type TableOptions } from '../../terminal/table.ts';

/** Members that the first lines say, or that count runs beside them. */
const SAID: ReadonlySet<string> = new Set(['sentence', 'warnings', 'batch_id', 'prefix']);
/** Values of a list that a line or a cell shows. */
const MOST_VALUES = 12;

type Members = Readonly<Record<string, unknown>>;

interface Found {
  pairs: Pair[];
  tables: string[];
}

/** `answer` is JSON. A table has a column for each member that is not a list of objects. */
export function plainLines(answer: unknown, options: TableOptions = {}): readonly string[] {
  const members = answer as Members;
  const limited = { warnings: (members['warnings'] ?? []) as { code: string; message: string }[] };
  const { pairs, tables } = found(members, options);
  const sentence = typeof members['sentence'] === 'string' ? [printable(members['sentence'])] : usedRunsLines(limited);
  const first = [...sentence, ...limitLines(limited, ['runs-left-out'])];
  const blocks = [first.join('\n'), pairs.length === 0 ? '' : renderPairs(pairs, options.width), ...tables];
  return [blocks.filter((it) => it !== '').join('\n\n')];
}

function found(members: Members, options: TableOptions): Found {
  const pairs: Pair[] = [];
  const tables: string[] = [];
  for (const [name, value] of flat(members)) {
    if (SAID.has(name.split('.', 1)[0]!)) continue;
    if (!isListOfObjects(value)) pairs.push([name, cellOf(value)]);
    else if (value.length > 0) tables.push(`${name}\n${tableOf(value, options)}`);
  }
  return { pairs, tables };
}

function tableOf(items: readonly Members[], options: TableOptions): string {
  const rows = items.map((it) => new Map(flat(it).filter(([, value]) => !isListOfObjects(value))));
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const columns = names.map((name, at) => ({
    name,
    ...(rows.every((row) => typeof row.get(name) !== 'string') ? { align: 'right' as const } : { shrink: 20 }),
    // The last columns give way first.
    ...(at < 2 ? {} : { rank: at }),
  }));
  return renderTable(
    columns,
    rows.map((row) => names.map((name) => cellOf(row.get(name)))),
    options,
  );
}

/** The members of an object, those of objects inside it by their path: `completed.count`. */
const flat = (members: Members, path = ''): [string, unknown][] =>
  Object.entries(members).flatMap(([name, value]): [string, unknown][] =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? flat(value as Members, `${path}${name}.`)
      : [[path + name, value]],
  );

const isListOfObjects = (value: unknown): value is readonly Members[] =>
  Array.isArray(value) && value.some((it) => typeof it === 'object' && it !== null && !Array.isArray(it));

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'string') return printable(value);
  if (!Array.isArray(value)) return JSON.stringify(value);
  const more = value.length > MOST_VALUES ? ` and ${value.length - MOST_VALUES} more` : '';
  return value.length === 0 ? '-' : value.slice(0, MOST_VALUES).map(cellOf).join(', ') + more;
}

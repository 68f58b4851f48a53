/** The columns of a table of runs: their names, types and units, and which of them a request asks for. */
import { closestMatch } from '../../base/text/closest-match.ts';
import type { ColumnType, RunColumn, TableColumn } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { MAX_COLUMNS, type OutputTypes } from './output-types.ts';

/** `source` and `member` say where a row has the value: in its run, or under this name in its parameters or outputs. */
export interface Column extends TableColumn {
  source: 'run' | 'axis' | 'parameter' | 'output';
  member: string;
  /** The texts need no escape in any format. */
  isPlain?: true;
  /** No run is without a value. */
  isRequired?: true;
  /** Many doubles, which no codec makes shorter: Parquet has them as they are, without statistics. */
  isRaw?: true;
  /** Every part of a file has all of its values: statistics of parts would select none. */
  isUnordered?: true;
}

/** The columns that every study has. */
const RUN_COLUMNS = {
  run_id: { type: 'integer', isRequired: true },
  replicate: { type: 'integer', isRequired: true },
  batch_id: { type: 'text', isPlain: true, isRequired: true },
  job_id: { type: 'text', isPlain: true, isRequired: true },
  status: { type: 'text', isPlain: true, isRequired: true },
  class: { type: 'text', isPlain: true, isRequired: true },
  reason: { type: 'text' },
  attempt: { type: 'integer', isRequired: true },
  runner_id: { type: 'text' },
  started_at: { type: 'time' },
  ended_at: { type: 'time' },
  execution_secs: { type: 'number', units: 's' },
  error_message: { type: 'text' },
  terminated_by: { type: 'text' },
  would_terminate: { type: 'text' },
  telemetry_lost: { type: 'number' },
  code: { type: 'text', isPlain: true },
  reused_from: { type: 'text', isPlain: true },
} as const satisfies Partial<Record<RunColumn, Partial<Column> & { type: ColumnType }>>;

/** The further columns of an adaptive study. */
const ROUND_COLUMNS = {
  round: { type: 'integer', isRequired: true },
  draw: { type: 'integer', isRequired: true },
} as const satisfies Partial<Record<RunColumn, Partial<Column> & { type: ColumnType }>>;

/** A parameter or output as its study declares it. */
export interface Declared {
  name: string;
  units?: string | null | undefined;
  description?: string | null | undefined;
}

export interface ColumnSources {
  /** The declared parameters, in the order of the columns. */
  parameters: readonly Declared[];
  /** The outputs that the study declares; they have a column also while no run has reported them. */
  outputs: readonly Declared[];
  types: OutputTypes;
  /** The runs are those of rounds. */
  hasRounds?: boolean;
  /** The axes of a study with scenarios. */
  axes?: readonly string[];
}

/** All columns of a study: those of every run, its parameters, its declared outputs, its other outputs in order of appearance. */
export function allColumns({ parameters, outputs, types, hasRounds = false, axes = [] }: ColumnSources): Column[] {
  const ofRuns = hasRounds ? { ...RUN_COLUMNS, ...ROUND_COLUMNS } : RUN_COLUMNS;
  const fixed = Object.entries(ofRuns).map(([name, properties]): Column => ({
    name,
    member: name,
    source: 'run',
    units: null,
    description: null,
    ...properties,
  }));
  const declared = new Map(outputs.map((it) => [it.name, it]));
  const names = new Set([...declared.keys(), ...types.names()]);
  return [
    ...fixed,
    ...axes.map((name): Column => ({
      name,
      member: name,
      source: 'axis',
      type: 'text',
      units: null,
      description: null,
    })),
    ...parameters.map((it) => column('parameter', it, 'number')),
    ...Array.from(names, (name) => column('output', declared.get(name) ?? { name }, types.of(name))),
  ];
}

function column(source: 'parameter' | 'output', { name, units, description }: Declared, type: ColumnType): Column {
  const shown = { units: given(units), description: given(description) };
  return { name: `${source}s.${name}`, member: name, source, type, ...shown };
}

const given = (text: string | null | undefined): string | null => (text === undefined || text === '' ? null : text);

/** The names that mean all columns of a source. */
const WILDCARDS: ReadonlyMap<string, Column['source']> = new Map([
  ['parameters.*', 'parameter'],
  ['outputs.*', 'output'],
]);

/**
 * The columns of these names, in this order; all without names.
 * @throws SimbatchError `malformed-query` for an unknown or repeated name, and for more than 10,000 columns.
 */
export function chosenColumns(columns: readonly Column[], names: readonly string[] | undefined): Column[] {
  if (names === undefined) return bounded([...columns]);
  const byName = new Map(columns.map((it) => [it.name, it]));
  const chosen = new Set<Column>();
  for (const name of names) {
    const source = byName.has(name) ? undefined : WILDCARDS.get(name);
    const found = source === undefined ? [columnNamed(byName, name)] : columns.filter((it) => it.source === source);
    for (const it of found) {
      if (chosen.has(it) && source === undefined) {
        throw new SimbatchError(
          'malformed-query',
          `the columns are not unique: "${shown(name)}" is named twice; name it once`,
        );
      }
      chosen.add(it);
    }
  }
  if (chosen.size === 0) {
    throw new SimbatchError(
      'malformed-query',
      `no columns: the study has none that ${names.map((it) => `"${shown(it)}"`).join(' and ')} would mean; name others`,
    );
  }
  return bounded([...chosen]);
}

/** @throws SimbatchError `malformed-query` with the nearest name when there is no such column. */
export function columnNamed(columns: ReadonlyMap<string, Column>, name: string): Column {
  const found = columns.get(name);
  if (found !== undefined) return found;
  const nearest = closestMatch(name, columns.keys());
  const remedy = nearest === undefined ? `name one of the ${columns.size} columns` : `did you mean "${nearest}"?`;
  throw new SimbatchError('malformed-query', `column not found: the table has no column "${shown(name)}"; ${remedy}`);
}

function bounded(columns: Column[]): Column[] {
  if (columns.length <= MAX_COLUMNS) return columns;
  throw new SimbatchError(
    'malformed-query',
    `the table is too wide: it has more than ${MAX_COLUMNS} columns; name the columns to send with \`columns\``,
  );
}

const shown = (name: string): string => (name.length > 200 ? `${name.slice(0, 200)}...` : name);

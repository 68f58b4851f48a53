/** The rows of a file as the table of runs that every statistic takes. */
import { RUN_CLASSES, type RunClass } from '../../analysis/table/run-class.ts';
import type { RunTable, TableCells } from '../../analysis/table/run-table.ts';
import { type RunRecord, RunTableBuilder } from '../../analysis/table/table-builder.ts';
import { closestMatch } from '../../base/text/closest-match.ts';
import { JOB_STATUSES } from '../../contract/enums.ts';
import type { JobStatus } from '../../contract/types.ts';
import type { DesignMethod } from '../../domain/study/design-method.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { readableBatches } from './rows-file.ts';
import type { RowBatch, RowsFile } from '../../base/tables/rows.ts';
import { valueOf } from './rows.ts';

/** The runs of a file in ascending order of (replicate, run id). */
export interface Layout {
  runIds: Uint32Array;
  /** Absent where all runs are of one replicate. */
  replicates?: Uint16Array;
  /** The batch of the first run. */
  batchId?: string;
}

const MAX_RUN_ID = 2 ** 31 - 2;

/** Reads which runs the file holds. @throws Failure where it holds none, or one twice. */
export async function readLayout(path: string, file: RowsFile): Promise<Layout> {
  requireColumns(path, file);
  const keys: number[] = [];
  let batchId: string | undefined;
  for await (const batch of readableBatches(path, file, present(file, ['run_id', 'replicate', 'batch_id']))) {
    for (let at = 0; at < batch.count; at++) keys.push(keyOf(path, batch, at, keys.length));
    const first = batch.columns.get('batch_id')?.[0];
    if (typeof first === 'string') batchId ??= first;
  }
  if (keys.length === 0) throw new Failure(EXIT.invalid, `${path} holds no run: it has no row after its names`);
  const sorted = Float64Array.from(keys).sort();
  const twice = sorted.findIndex((key, at) => at > 0 && key === sorted[at - 1]);
  if (twice !== -1) {
    const run = sorted[twice]! % KEY_STEP;
    throw new Failure(EXIT.invalid, `${path} holds run ${run} twice: give a file with one row a run`);
  }
  const replicates = Uint16Array.from(sorted, (key) => Math.floor(key / KEY_STEP));
  return {
    runIds: Uint32Array.from(sorted, (key) => key % KEY_STEP),
    ...(replicates[0] === replicates.at(-1) ? {} : { replicates }),
    ...(batchId === undefined ? {} : { batchId }),
  };
}

/** A row's place in the order of (replicate, run id), as one number. */
const KEY_STEP = 2 ** 31;

function keyOf(path: string, { columns }: RowBatch, at: number, row: number): number {
  const runId = Number(columns.get('run_id')![at] ?? Number.NaN);
  const replicate = Number(columns.get('replicate')?.[at] ?? 0);
  const isValid = Number.isInteger(runId) && runId >= 0 && runId <= MAX_RUN_ID;
  if (!isValid || !Number.isInteger(replicate) || replicate < 0 || replicate > 0xffff) {
    const name = isValid ? 'replicate' : 'run_id';
    throw new Failure(EXIT.invalid, `${path} has in row ${row + 1} a ${name} that is not a number of a run`);
  }
  return replicate * KEY_STEP + runId;
}

function requireColumns(path: string, { names }: RowsFile): void {
  const wanted = ['run_id', names.includes('status') ? 'status' : 'class'];
  const missing = wanted.find((name) => !names.includes(name));
  if (missing === undefined) return;
  const nearest = closestMatch(missing, [...names]);
  const hint = nearest === undefined ? '' : ` (nearest: ${JSON.stringify(nearest)})`;
  throw new Failure(
    EXIT.invalid,
    `${path} is not a table of runs: it has no column "${missing}"${hint}; write it with \`simbatch table\``,
  );
}

const present = ({ names }: RowsFile, wanted: readonly string[]): string[] => wanted.filter((it) => names.includes(it));

export interface TableRequest {
  /** The rows of the table; runs that the file does not hold are open. */
  layout: Layout;
  batchId: string;
  method: DesignMethod;
  /** The runs of each replicate of a study that has several. */
  replicateRuns: number | undefined;
  /** The scenarios of the study. */
  cells: TableCells | undefined;
  /** Outputs that have a column even among too many. */
  kept: ReadonlySet<string>;
  /** Outputs that are text in the file whatever their type. */
  mixed: ReadonlySet<string>;
  /** Rules could end runs, so that lost telemetry makes an outcome unknown. */
  hasRules: boolean;
}

export interface ReadTable {
  table: RunTable;
  /** The file says which runs have lost telemetry. */
  knowsTelemetry: boolean;
  /** Outputs of several types with text that may have been a number or a boolean. */
  ambiguous: string[];
}

/** Reads all rows. @throws Failure for a row that is not one of a run. */
export async function readTable(
  path: string,
  file: RowsFile,
  { layout, batchId, method, replicateRuns, cells, kept, mixed, hasRules }: TableRequest,
): Promise<ReadTable> {
  const { runIds, replicates } = layout;
  const isWhole = replicates === undefined && runIds.at(-1) === runIds.length - 1;
  const builder = new RunTableBuilder({
    batchId,
    method,
    replicateRuns,
    cells,
    kept,
    runs: runIds.length,
    ...(isWhole ? {} : { runIds }),
    ...(replicates === undefined ? {} : { replicates }),
  });
  const rowOf = rowFinder(layout);
  const ambiguous = new Set<string>();
  let read = 0;
  for await (const batch of readableBatches(path, file)) {
    const recordAt = recordReader(path, batch, { mixed, hasRules }, ambiguous);
    for (let at = 0; at < batch.count; at++) {
      const key = keyOf(path, batch, at, read);
      const record = recordAt(at, read++);
      // An open run has no values, as in the coordinator's table.
      if (!OPEN.has(record.status)) builder.add({ ...record, row: rowOf(key) });
    }
  }
  return { table: builder.build(), knowsTelemetry: file.names.includes('telemetry_lost'), ambiguous: [...ambiguous] };
}

const OPEN: ReadonlySet<JobStatus> = new Set(['Pending', 'Claimed', 'Running']);

/** Finds the row of a key by bisection. */
function rowFinder({ runIds, replicates }: Layout): (key: number) => number {
  return (key) => {
    let [from, to] = [0, runIds.length - 1];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const found = replicates === undefined ? runIds[middle]! : replicates[middle]! * KEY_STEP + runIds[middle]!;
      if (found < (replicates === undefined ? key % KEY_STEP : key)) from = middle + 1;
      else to = middle;
    }
    return from;
  };
}

/** The state and reason of a class, where a file holds the class alone. */
const STATE_OF: Record<RunClass, Pick<RunRecord, 'status' | 'reason'>> = {
  ok: { status: 'Completed' },
  terminated: { status: 'Failed', reason: 'early_termination' },
  crashed: { status: 'Failed', reason: 'exit' },
  timeout: { status: 'Timeout' },
  lost: { status: 'Failed', reason: 'infrastructure' },
  cancelled: { status: 'Cancelled' },
  open: { status: 'Pending' },
};

const RULE = /^(.*\S)\s+((?:<=|>=|==|!=|<|>)\s*\S+)$/;

function recordReader(
  path: string,
  { columns }: RowBatch,
  { mixed, hasRules }: Pick<TableRequest, 'mixed' | 'hasRules'>,
  ambiguous: Set<string>,
) {
  const typed = (name: string, cell: unknown): unknown => {
    const value = typeof cell === 'string' ? valueOf(cell) : cell;
    if (typeof cell === 'string' && typeof value !== 'string' && value !== undefined) ambiguous.add(name);
    return value;
  };
  const parameters = prefixed(columns, 'parameters.');
  const outputs = prefixed(columns, 'outputs.');
  const text = (name: string, at: number): string | undefined => {
    const value = columns.get(name)?.[at];
    if (value === undefined || value === null || value === '') return undefined;
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  const number = (name: string, at: number): number | undefined => {
    const value = columns.get(name)?.[at];
    return value === undefined || value === null ? undefined : Number(value);
  };
  return (at: number, row: number): Omit<RunRecord, 'row'> => {
    const rule = RULE.exec(text('terminated_by', at) ?? '');
    const executionSecs = number('execution_secs', at);
    const batchId = text('batch_id', at);
    return {
      ...stateOf(path, text('class', at), text('status', at), text('reason', at), row),
      ...(batchId === undefined ? {} : { batchId }),
      parameters: Object.fromEntries(parameters.map(([name, values]) => [name, Number(values[at] ?? Number.NaN)])),
      outputs: outputs.flatMap(([name, values]) => {
        const value = mixed.has(name) ? typed(name, values[at]) : values[at];
        if (value === undefined || value === null) return [];
        return [[name, typeof value === 'bigint' ? Number(value) : value] as const];
      }),
      ...(executionSecs === undefined ? {} : { executionSecs }),
      errorMessage: text('error_message', at) ?? null,
      ...(rule === null ? {} : { terminatedBy: { variable: rule[1]!, condition: rule[2]! } }),
      ...(hasRules && (number('telemetry_lost', at) ?? 0) > 0 ? { telemetryLost: true } : {}),
      ...(text('would_terminate', at) === undefined ? {} : { wouldTerminate: true }),
      ...(text('reused_from', at) === undefined ? {} : { isReused: true }),
    };
  };
}

function stateOf(
  path: string,
  runClass: string | undefined,
  status: string | undefined,
  reason: string | undefined,
  row: number,
): Pick<RunRecord, 'status' | 'reason'> {
  const known = JOB_STATUSES.find((it) => it === status);
  // The class decides: the reason may be missing or unknown to this version.
  const named = RUN_CLASSES.find((it) => it === runClass);
  if (named !== undefined) return STATE_OF[named];
  if (runClass === undefined && known !== undefined) return { status: known, reason: reason ?? null };
  const [name, value, allowed] =
    runClass === undefined ? ['status', status, JOB_STATUSES] : ['class', runClass, RUN_CLASSES];
  const shown = value === undefined ? 'no value' : JSON.stringify(value);
  throw new Failure(
    EXIT.invalid,
    `${path} has in row ${row + 1} the ${name} ${shown}; expected one of ${allowed.join(', ')}`,
  );
}

const prefixed = (columns: RowBatch['columns'], prefix: string): [string, ArrayLike<unknown>][] =>
  [...columns].flatMap(([name, values]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), values] as [string, ArrayLike<unknown>]] : [],
  );

/** Builds the table of a study's runs, one run at a time. */
import { parseCondition } from '../../domain/study/condition.ts';
import { CommonParts, takeApart } from '../../domain/runs/failure-groups.ts';
import type { JobStatus } from '../../contract/types.ts';
import { CLASS_CODES, runClassOf } from './run-class.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { TableLayout } from './layout.ts';
import type { RunTable, TerminationRule, TextColumn } from './run-table.ts';

/** More outputs than this are left out, and named: each costs 8 bytes a run. */
const MAX_OUTPUTS = 200;
/** Further values of one text output share one category. */
const MAX_CATEGORIES = 1000;
export const OTHER_VALUES = '(other values)';
const OTHER_MESSAGES = '(other messages)';
/** Bytes of a row in the columns that every table has: class, execution time, pattern, rule, run id, flags. */
export const BYTES_OF_ROW = 19;

/** A terminal run; a run that is never added is open. */
export interface RunRecord {
  row: number;
  status: JobStatus;
  /** Reason of the last attempt, where the run failed. */
  reason?: string | null;
  batchId?: string;
  parameters?: Readonly<Record<string, number>>;
  /** Flat names; numbers, booleans and texts are taken, anything else is ignored. */
  outputs?: Iterable<readonly [name: string, value: unknown]>;
  executionSecs?: number;
  errorMessage?: string | null;
  terminatedBy?: { variable: string; condition: string };
  /** Telemetry was lost while a termination rule was active. */
  telemetryLost?: boolean;
  /** A rule in shadow would have ended the run. */
  wouldTerminate?: boolean;
  /** It has the result of another run and was not executed. */
  isReused?: boolean;
}

/** Collects runs in any order. A row that is added again is overwritten. */
export class RunTableBuilder {
  readonly #layout: TableLayout;
  #classes: Uint8Array;
  #executionSecs: Float64Array;
  #runIds: Uint32Array | undefined;
  /** Rows that the columns have place for. */
  #capacity: number;
  /** Rows of the table. */
  #rows: number;
  #absentClass: 'open' | 'cancelled' = 'open';
  readonly #parameters = new Map<string, Float64Array>();
  readonly #outputs = new Map<string, Float64Array>();
  /** Names of outputs that have a value that is a number, not a boolean. */
  readonly #numbers = new Set<string>();
  readonly #texts = new Map<string, TextBuilder>();
  readonly #patterns: TextBuilder;
  readonly #commonParts = new Map<string, CommonParts>();
  #ruleCodes: Uint16Array;
  readonly #rules: (TerminationRule | undefined)[] = [undefined];
  readonly #ruleByText = new Map<string, number>();
  readonly #omitted = new Set<string>();
  #batches: TextBuilder | undefined;
  #telemetryLost: Uint8Array | undefined;
  #wouldTerminate: Uint8Array | undefined;
  #reused: Uint8Array | undefined;

  constructor(layout: TableLayout) {
    this.#layout = layout;
    const { runs, runIds, runIdAt, grows } = layout;
    const capacity = grows === undefined ? runs : Math.min(runs, grows.from);
    this.#rows = grows === undefined ? runs : 0;
    this.#capacity = capacity;
    this.#requireBytes(capacity, BYTES_OF_ROW);
    this.#classes = new Uint8Array(capacity).fill(CLASS_CODES.open);
    this.#executionSecs = new Float64Array(capacity).fill(Number.NaN);
    this.#runIds = runIdAt === undefined ? runIds : Uint32Array.from({ length: capacity }, (_, row) => runIdAt(row));
    this.#patterns = new TextBuilder(capacity, OTHER_MESSAGES);
    this.#ruleCodes = new Uint16Array(capacity);
  }

  /** @throws RangeError when the table has no such row. */
  add(run: RunRecord): void {
    const { row } = run;
    if (!Number.isInteger(row) || row < 0 || row >= this.#layout.runs)
      throw new RangeError(`row ${row} is not in a table of ${this.#layout.runs} runs`);
    if (row >= this.#capacity) this.#grow(row + 1);
    this.#rows = Math.max(this.#rows, row + 1);
    if (this.#classes[row] !== CLASS_CODES.open) this.#clear(row);
    const runClass = runClassOf(run.status, run.reason);
    this.#classes[row] = CLASS_CODES[runClass];
    for (const [name, value] of Object.entries(run.parameters ?? {}))
      setNumber(this.#column(this.#parameters, name), row, value);
    for (const [name, value] of run.outputs ?? []) this.#addOutput(row, name, value);
    if (run.executionSecs !== undefined) setNumber(this.#executionSecs, row, run.executionSecs);
    if (run.batchId !== undefined && (this.#batches !== undefined || run.batchId !== this.#layout.batchId))
      (this.#batches ??= new TextBuilder(this.#capacity, '')).set(row, run.batchId);
    if (run.telemetryLost === true) (this.#telemetryLost ??= new Uint8Array(this.#capacity))[row] = 1;
    if (run.wouldTerminate === true) (this.#wouldTerminate ??= new Uint8Array(this.#capacity))[row] = 1;
    if (run.isReused === true) (this.#reused ??= new Uint8Array(this.#capacity))[row] = 1;
    if (run.terminatedBy !== undefined) this.#ruleCodes[row] = this.#ruleCode(run.terminatedBy);
    if (runClass !== 'ok' && runClass !== 'open' && runClass !== 'cancelled')
      this.#addFailure(row, run.errorMessage ?? '');
  }

  #addFailure(row: number, message: string): void {
    const taken = takeApart(message);
    const { pattern } = taken;
    this.#patterns.set(row, pattern);
    const known = this.#commonParts.get(pattern);
    if (known !== undefined) known.add(taken);
    else if (this.#commonParts.size < MAX_CATEGORIES) this.#commonParts.set(pattern, new CommonParts(taken));
  }

  /** True for a row without a run so far. */
  isOpen(row: number): boolean {
    return row >= this.#rows || this.#classes[row] === CLASS_CODES.open;
  }

  /** The rows without a run so far. */
  *openRows(): Generator<number> {
    for (let row = 0; row < this.#rows; row++) if (this.#classes[row] === CLASS_CODES.open) yield row;
  }

  /** Makes the runs after the rows cancelled ones. Returns how many these are. */
  cancelAbsent(): number {
    this.#absentClass = 'cancelled';
    return this.#layout.runs - this.#rows;
  }

  /** The table. It shares its memory with the builder: runs that are added later change it, and a new table has their new columns. */
  build(): RunTable {
    const { batchId, method, runs, replicates, replicateRuns, cells, runIdAt } = this.#layout;
    const rows = this.#rows;
    const texts = ({ column: { codes, values } }: TextBuilder): TextColumn => ({
      codes: codes.subarray(0, rows),
      values,
    });
    const numbers = (columns: ReadonlyMap<string, Float64Array>): Map<string, Float64Array> =>
      new Map([...columns].map(([name, values]) => [name, values.subarray(0, rows)]));
    return {
      batchId,
      method,
      rows,
      ...(rows === runs ? {} : { absent: { runs: runs - rows, class: this.#absentClass, runIdAt } }),
      ...(cells === undefined ? {} : { cells }),
      ...(this.#runIds === undefined ? {} : { runIds: this.#runIds.subarray(0, rows) }),
      ...(replicates === undefined ? {} : { replicates }),
      ...(replicateRuns === undefined ? {} : { replicateRuns }),
      ...(this.#batches === undefined ? {} : { batches: texts(this.#batches) }),
      ...(this.#telemetryLost === undefined ? {} : { telemetryLost: this.#telemetryLost.subarray(0, rows) }),
      ...(this.#wouldTerminate === undefined ? {} : { wouldTerminate: this.#wouldTerminate.subarray(0, rows) }),
      ...(this.#reused === undefined ? {} : { reused: this.#reused.subarray(0, rows) }),
      classes: this.#classes.subarray(0, rows),
      parameters: numbers(this.#parameters),
      outputs: numbers(this.#outputs),
      booleans: new Set([...this.#outputs.keys()].filter((name) => !this.#numbers.has(name))),
      texts: new Map([...this.#texts].map(([name, text]) => [name, texts(text)])),
      executionSecs: this.#executionSecs.subarray(0, rows),
      patterns: texts(this.#patterns),
      commonParts: this.#commonParts,
      ruleCodes: this.#ruleCodes.subarray(0, rows),
      rules: this.#rules,
      omittedOutputs: [...this.#omitted],
    };
  }

  #addOutput(row: number, name: string, value: unknown): void {
    const isText = typeof value === 'string';
    const number = typeof value === 'boolean' ? Number(value) : value;
    if (!isText && typeof number !== 'number') return;
    const known: ReadonlyMap<string, unknown> = isText ? this.#texts : this.#outputs;
    const isFull = this.#outputs.size + this.#texts.size >= MAX_OUTPUTS || !this.#hasPlaceFor(8);
    if (isFull && !known.has(name) && this.#layout.kept?.has(name) !== true) {
      if (this.#omitted.size < MAX_OUTPUTS) this.#omitted.add(name);
      return;
    }
    if (!isText) {
      if (typeof value === 'number') this.#numbers.add(name);
      setNumber(this.#column(this.#outputs, name), row, number as number);
      return;
    }
    let text = this.#texts.get(name);
    if (text === undefined) this.#texts.set(name, (text = new TextBuilder(this.#capacity, OTHER_VALUES)));
    text.set(row, value);
  }

  #column(columns: Map<string, Float64Array>, name: string): Float64Array {
    let column = columns.get(name);
    if (column === undefined) {
      this.#requireBytes(this.#capacity, this.#bytesOfRow() + 8);
      columns.set(name, (column = new Float64Array(this.#capacity).fill(Number.NaN)));
    }
    return column;
  }

  #bytesOfRow(): number {
    return BYTES_OF_ROW + 8 * (this.#parameters.size + this.#outputs.size) + 2 * this.#texts.size;
  }

  #hasPlaceFor(bytes: number): boolean {
    return this.#capacity * (this.#bytesOfRow() + bytes) <= (this.#layout.maxBytes ?? Infinity);
  }

  /** @throws SimbatchError `answer-too-large`, before anything is allocated */
  #requireBytes(rows: number, bytesOfRow: number): void {
    const { maxBytes = Infinity, pairBytes = Infinity, runs } = this.#layout;
    const limit = Math.max(0, Math.min(maxBytes, pairBytes));
    if (rows * bytesOfRow <= limit) return;
    const size = `${String(Math.ceil((rows * bytesOfRow) / 2 ** 20))} MiB, more than ${String(Math.floor(limit / 2 ** 20))}`;
    const beside = pairBytes < maxBytes ? ' beside those of the other study' : '';
    throw new SimbatchError(
      'answer-too-large',
      `the answer is not computed: the numbers of ${String(rows)} of ${String(runs)} runs take ${size}${beside}; read the runs as a table, or submit fewer runs in a study`,
    );
  }

  /** Makes room for `rows` rows, and for a fifth more. */
  #grow(rows: number): void {
    const capacity = Math.min(this.#layout.runs, Math.max(rows, Math.ceil(this.#capacity * 1.2)));
    this.#requireBytes(capacity, this.#bytesOfRow());
    const { runIdAt } = this.#layout;
    const before = this.#capacity;
    this.#capacity = capacity;
    this.#classes = grown(this.#classes, capacity, CLASS_CODES.open);
    this.#executionSecs = grown(this.#executionSecs, capacity, Number.NaN);
    this.#ruleCodes = grown(this.#ruleCodes, capacity, 0);
    if (runIdAt !== undefined) {
      const runIds = grown(this.#runIds!, capacity, 0);
      for (let row = before; row < capacity; row++) runIds[row] = runIdAt(row);
      this.#runIds = runIds;
    }
    if (this.#telemetryLost !== undefined) this.#telemetryLost = grown(this.#telemetryLost, capacity, 0);
    if (this.#wouldTerminate !== undefined) this.#wouldTerminate = grown(this.#wouldTerminate, capacity, 0);
    if (this.#reused !== undefined) this.#reused = grown(this.#reused, capacity, 0);
    for (const columns of [this.#parameters, this.#outputs])
      for (const [name, values] of columns) columns.set(name, grown(values, capacity, Number.NaN));
    for (const text of [this.#patterns, this.#batches, ...this.#texts.values()]) text?.grow(capacity);
  }

  #ruleCode({ variable, condition }: { variable: string; condition: string }): number {
    const text = `${variable}\0${condition}`;
    const known = this.#ruleByText.get(text);
    if (known !== undefined) return known;
    if (this.#rules.length > 0xffff) return 0;
    const parsed = parseCondition(condition);
    const code =
      this.#rules.push(typeof parsed === 'string' ? { variable, condition } : { variable, condition, ...parsed }) - 1;
    this.#ruleByText.set(text, code);
    return code;
  }

  /** Removes the values of an earlier record of the row. */
  #clear(row: number): void {
    for (const column of [...this.#parameters.values(), ...this.#outputs.values(), this.#executionSecs])
      column[row] = Number.NaN;
    for (const text of [...this.#texts.values(), this.#patterns]) text.column.codes[row] = 0;
    if (this.#batches !== undefined) this.#batches.column.codes[row] = 0;
    if (this.#telemetryLost !== undefined) this.#telemetryLost[row] = 0;
    if (this.#wouldTerminate !== undefined) this.#wouldTerminate[row] = 0;
    if (this.#reused !== undefined) this.#reused[row] = 0;
    this.#ruleCodes[row] = 0;
  }
}

/** Infinities and NaN count as missing. */
function setNumber(column: Float64Array, row: number, value: number): void {
  column[row] = Number.isFinite(value) ? value : Number.NaN;
}

function grown<T extends Uint8Array | Uint16Array | Uint32Array | Float64Array>(
  column: T,
  capacity: number,
  fill: number,
): T {
  const wide = new (column.constructor as new (length: number) => T)(capacity);
  wide.set(column);
  wide.fill(fill, column.length);
  return wide;
}

/** A text column with its dictionary. */
class TextBuilder {
  readonly column: TextColumn & { values: string[] };
  readonly #codes = new Map<string, number>();
  readonly #other: string;

  constructor(rows: number, other: string) {
    this.column = { codes: new Uint16Array(rows), values: [''] };
    this.#other = other;
  }

  grow(rows: number): void {
    this.column.codes = grown(this.column.codes, rows, 0);
  }

  set(row: number, value: string): void {
    this.column.codes[row] = this.#codes.get(value) ?? this.#add(value);
  }

  #add(value: string): number {
    const isFull = this.#codes.size >= MAX_CATEGORIES;
    const kept = isFull ? this.#other : value;
    const known = this.#codes.get(kept);
    if (known !== undefined) return known;
    const code = this.column.values.push(kept) - 1;
    this.#codes.set(kept, code);
    return code;
  }
}

/** Builds the table of a study's runs, one run at a time. */
import { parseCondition } from '../../domain/study/condition.ts';
import { CommonParts, takeApart } from '../../domain/runs/failure-groups.ts';
import type { JobStatus } from '../../contract/types.ts';
import type { DesignMethod } from '../../domain/study/design-method.ts';
import { CLASS_CODES, runClassOf } from './run-class.ts';
import type { RunTable, TerminationRule, TextColumn } from './run-table.ts';

/** More outputs than this are left out, and named: each costs 8 bytes a run. */
const MAX_OUTPUTS = 200;
/** Further values of one text output share one category. */
const MAX_CATEGORIES = 1000;
export const OTHER_VALUES = '(other values)';
const OTHER_MESSAGES = '(other messages)';

export interface TableLayout {
  batchId: string;
  method: DesignMethod;
  /** All runs of the study. */
  runs: number;
  /** The run id of each row, ascending within a replicate; absent where row i is run i. */
  runIds?: Uint32Array;
  replicates?: Uint16Array;
  /** Outputs that are in the table however many there are. */
  kept?: ReadonlySet<string>;
}

/** A terminal run; a run that is never added is open. */
export interface RunRecord {
  row: number;
  status: JobStatus;
  /** Of the last attempt, where the run failed. */
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
}

/** Collects runs in any order. A row that is added again is overwritten. */
export class RunTableBuilder {
  readonly #layout: TableLayout;
  readonly #classes: Uint8Array;
  readonly #executionSecs: Float64Array;
  readonly #parameters = new Map<string, Float64Array>();
  readonly #outputs = new Map<string, Float64Array>();
  /** Names of outputs that have a value that is a number, not a boolean. */
  readonly #numbers = new Set<string>();
  readonly #texts = new Map<string, TextBuilder>();
  readonly #patterns: TextBuilder;
  readonly #commonParts = new Map<string, CommonParts>();
  readonly #ruleCodes: Uint16Array;
  readonly #rules: (TerminationRule | undefined)[] = [undefined];
  readonly #ruleByText = new Map<string, number>();
  readonly #omitted = new Set<string>();
  #batches: TextBuilder | undefined;
  #telemetryLost: Uint8Array | undefined;
  #wouldTerminate: Uint8Array | undefined;

  constructor(layout: TableLayout) {
    this.#layout = layout;
    this.#classes = new Uint8Array(layout.runs).fill(CLASS_CODES.open);
    this.#executionSecs = new Float64Array(layout.runs).fill(Number.NaN);
    this.#patterns = new TextBuilder(layout.runs, OTHER_MESSAGES);
    this.#ruleCodes = new Uint16Array(layout.runs);
  }

  /** @throws RangeError when the table has no such row. */
  add(run: RunRecord): void {
    const { row } = run;
    if (!Number.isInteger(row) || row < 0 || row >= this.#layout.runs)
      throw new RangeError(`row ${row} is not in a table of ${this.#layout.runs} runs`);
    if (this.#classes[row] !== CLASS_CODES.open) this.#clear(row);
    const runClass = runClassOf(run.status, run.reason);
    this.#classes[row] = CLASS_CODES[runClass];
    for (const [name, value] of Object.entries(run.parameters ?? {}))
      setNumber(this.#column(this.#parameters, name), row, value);
    for (const [name, value] of run.outputs ?? []) this.#addOutput(row, name, value);
    if (run.executionSecs !== undefined) setNumber(this.#executionSecs, row, run.executionSecs);
    if (run.batchId !== undefined && (this.#batches !== undefined || run.batchId !== this.#layout.batchId))
      (this.#batches ??= new TextBuilder(this.#layout.runs, '')).set(row, run.batchId);
    if (run.telemetryLost === true) (this.#telemetryLost ??= new Uint8Array(this.#layout.runs))[row] = 1;
    if (run.wouldTerminate === true) (this.#wouldTerminate ??= new Uint8Array(this.#layout.runs))[row] = 1;
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
    return this.#classes[row] === CLASS_CODES.open;
  }

  /** The rows without a run so far. */
  openRows(): number[] {
    const rows: number[] = [];
    for (let row = 0; row < this.#classes.length; row++) if (this.#classes[row] === CLASS_CODES.open) rows.push(row);
    return rows;
  }

  /** The table. It shares its memory with the builder: runs that are added later change it, and a new table has their new columns. */
  build(): RunTable {
    const { batchId, method, runs, runIds, replicates } = this.#layout;
    return {
      batchId,
      method,
      rows: runs,
      ...(runIds === undefined ? {} : { runIds }),
      ...(replicates === undefined ? {} : { replicates }),
      ...(this.#batches === undefined ? {} : { batches: this.#batches.column }),
      ...(this.#telemetryLost === undefined ? {} : { telemetryLost: this.#telemetryLost }),
      ...(this.#wouldTerminate === undefined ? {} : { wouldTerminate: this.#wouldTerminate }),
      classes: this.#classes,
      parameters: this.#parameters,
      outputs: this.#outputs,
      booleans: new Set([...this.#outputs.keys()].filter((name) => !this.#numbers.has(name))),
      texts: new Map([...this.#texts].map(([name, text]) => [name, text.column])),
      executionSecs: this.#executionSecs,
      patterns: this.#patterns.column,
      commonParts: this.#commonParts,
      ruleCodes: this.#ruleCodes,
      rules: this.#rules,
      omittedOutputs: [...this.#omitted],
    };
  }

  #addOutput(row: number, name: string, value: unknown): void {
    const isText = typeof value === 'string';
    const number = typeof value === 'boolean' ? Number(value) : value;
    if (!isText && typeof number !== 'number') return;
    const known: ReadonlyMap<string, unknown> = isText ? this.#texts : this.#outputs;
    const isFull = this.#outputs.size + this.#texts.size >= MAX_OUTPUTS;
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
    if (text === undefined) this.#texts.set(name, (text = new TextBuilder(this.#layout.runs, OTHER_VALUES)));
    text.set(row, value);
  }

  #column(columns: Map<string, Float64Array>, name: string): Float64Array {
    let column = columns.get(name);
    if (column === undefined) columns.set(name, (column = new Float64Array(this.#layout.runs).fill(Number.NaN)));
    return column;
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
    this.#ruleCodes[row] = 0;
  }
}

/** Infinities and NaN count as missing. */
function setNumber(column: Float64Array, row: number, value: number): void {
  column[row] = Number.isFinite(value) ? value : Number.NaN;
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

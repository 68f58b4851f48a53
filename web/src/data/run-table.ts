/**
 * All runs of one study as columns, a row for each run in the order of run ids: filled by the loader, updated by the live feed.
 * The loader does not overwrite a run that the feed has updated.
 */
import { createStore } from '@xstate/store';
import type { RunRow } from '../../../src/contract/types.ts';
import { RunSelection } from '../../../src/domain/runs/run-selection.ts';
import type { LoaderMessage, LoaderRequest, RunChunk } from './run-columns.ts';
import { ENDPOINT } from './place.ts';
import { credentials } from './token.ts';
import { STATUS_CODE } from './run-columns.ts';
import type { Units } from './units.ts';

/** Interval of change notifications. */
const NOTIFY_MS = 400;

/** The part of the table that a page needs: nothing but the feed's changes, states and times, or the values of all variables too. */
export type Need = 'changes' | 'states' | 'values';
const LEVELS: readonly Need[] = ['changes', 'states', 'values'];

/** An output whose values are texts: `codes[row]` is the place in `values`; 0 means none. */
export interface TextValues {
  codes: Uint16Array<ArrayBuffer>;
  values: string[];
}

/** More different texts than this are not a variable to plot. */
const MOST_TEXTS = 60_000;

/** The column with more rows: in its own buffer where that has room, else in one of twice the size. */
function grown<T extends Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Float64Array<ArrayBuffer>>(
  column: T,
  size: number,
  empty = 0,
): T {
  const Column = column.constructor as new (source: number | ArrayBuffer, from?: number, count?: number) => T;
  if (size * column.BYTES_PER_ELEMENT <= column.buffer.byteLength) return new Column(column.buffer, 0, size);
  const larger = new Column(2 * size);
  larger.fill(empty, column.length);
  larger.set(column);
  return new Column(larger.buffer, 0, size);
}

export class RunTable {
  readonly batchId: string;
  readonly units: Units;
  /** Runs; it increases in a study that takes rounds. */
  size: number;
  #selection: RunSelection;
  status: Uint8Array<ArrayBuffer>;
  started: Float64Array<ArrayBuffer>;
  ended: Float64Array<ArrayBuffer>;
  readonly runners = new Map<number, string>();
  readonly errors = new Map<number, string>();
  parameters: { name: string; values: Float64Array<ArrayBuffer> }[] = [];
  readonly outputs = new Map<string, Float64Array<ArrayBuffer>>();
  /** Outputs that are booleans, among `outputs` as 0 and 1. */
  readonly booleans = new Set<string>();
  readonly texts = new Map<string, TextValues>();
  isLoaded = false;
  failure: string | undefined;
  /**
   * `version` increases with each change notification, and `layout` with those after a new column or the end of a reading. The columns
   * are too large to be copied into a store's context, and change before the notification: in a render, what is derived from them is
   * remembered by these numbers alone. React may discard a render that no state has caused, with its effects but not their dependencies.
   */
  readonly store = createStore({
    context: { version: 0, layout: 0 },
    on: { changed: ({ version }, { layout }: { layout: number }) => ({ version: version + 1, layout }) },
  });
  #layout = 0;
  /** Increases with each change of a parameter or output. */
  valuesVersion = 0;
  /** 1 for runs that the feed has updated. */
  live: Uint8Array<ArrayBuffer>;
  #need: Need = 'changes';
  #worker: Worker | undefined;
  /** The first of the runs that came while others were read, and are read after them. */
  #next: number | undefined;
  #timer: number | undefined;

  /** `selection`: the runs that the batch holds. */
  constructor(batchId: string, selection: RunSelection, units: Units) {
    const size = selection.count;
    this.batchId = batchId;
    this.units = units;
    this.#selection = selection;
    this.size = size;
    this.status = new Uint8Array(size);
    this.started = new Float64Array(size).fill(Number.NaN);
    this.ended = new Float64Array(size).fill(Number.NaN);
    this.live = new Uint8Array(size);
  }

  /** The run id of a row. */
  runAt(row: number): number {
    return this.#selection.nth(row);
  }

  /** The row of a run id. */
  rowOf(run: number): number {
    return this.#selection.indexFrom(run);
  }

  /** Reads as much as a page needs, unless it was read before. */
  require(need: Need): void {
    if (LEVELS.indexOf(need) <= LEVELS.indexOf(this.#need)) return;
    this.#need = need;
    this.isLoaded = false;
    this.load();
  }

  /** Adds runs that were appended: a study that takes rounds holds the runs from 0 on. All of them are Pending until the feed reports them. */
  grow(size: number): void {
    const from = this.size;
    if (size <= from) return;
    this.size = size;
    this.#selection = RunSelection.between(0, size);
    this.status = grown(this.status, size);
    this.live = grown(this.live, size);
    this.started = grown(this.started, size, Number.NaN);
    this.ended = grown(this.ended, size, Number.NaN);
    this.parameters = this.parameters.map(({ name, values }) => ({ name, values: grown(values, size, Number.NaN) }));
    for (const [name, values] of this.outputs) this.outputs.set(name, grown(values, size, Number.NaN));
    for (const column of this.texts.values()) column.codes = grown(column.codes, size);
    this.valuesVersion += 1;
    if (this.#need === 'values') {
      if (this.#worker === undefined) this.#read(from);
      else this.#next ??= from;
    }
    this.#changed();
  }

  /** Reads all runs again, in the background. */
  load(): void {
    this.#worker?.terminate();
    this.#next = undefined;
    this.live.fill(0);
    if (this.#need !== 'changes') this.#read(0);
  }

  #read(from: number): void {
    const worker = new Worker(new URL('./load-runs.worker.ts', import.meta.url), { type: 'module' });
    this.#worker = worker;
    worker.addEventListener('message', (event: MessageEvent<LoaderMessage>) => this.#take(event.data));
    const request: LoaderRequest = {
      headers: credentials(),
      endpoint: ENDPOINT,
      batchId: this.batchId,
      withValues: this.#need === 'values',
      from,
    };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
    worker.postMessage(request);
  }

  close(): void {
    this.#worker?.terminate();
    window.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #take(message: LoaderMessage): void {
    if (message.type === 'runs') this.#takeRuns(message.chunk);
    else {
      this.isLoaded = true;
      this.#layout += 1;
      this.failure = message.type === 'error' ? message.detail : undefined;
      this.#worker?.terminate();
      this.#worker = undefined;
      const next = this.#next;
      this.#next = undefined;
      if (next !== undefined) this.#read(next);
    }
    this.#changed();
  }

  #takeRuns(chunk: RunChunk): void {
    // Pages list the runs of the batch without gaps.
    const from = this.#selection.indexFrom(chunk.runs[0]!);
    const { live } = this;
    for (let at = 0; at < chunk.status.length; at += 1) {
      const run = from + at;
      if (live[run] === 1) continue;
      this.status[run] = chunk.status[at]!;
      this.started[run] = chunk.started[at]!;
      this.ended[run] = chunk.ended[at]!;
    }
    for (const [at, runner] of chunk.runners) if (live[from + at] === 0) this.runners.set(from + at, runner);
    for (const [at, error] of chunk.errors) if (live[from + at] === 0) this.errors.set(from + at, error);
    if (chunk.values.length + chunk.texts.length === 0) return;
    this.valuesVersion += 1;
    for (const { key, values, isBoolean } of chunk.values) {
      const column = this.#column(key);
      if (isBoolean) this.booleans.add(key.slice(2));
      for (let at = 0; at < values.length; at += 1) if (!Number.isNaN(values[at]!)) column[from + at] = values[at]!;
    }
    for (const { key, values } of chunk.texts) this.#takeTexts(key.slice(2), from, values);
  }

  #takeTexts(name: string, from: number, texts: readonly (string | null)[]): void {
    const column = this.texts.get(name) ?? { codes: new Uint16Array(this.size), values: [''] };
    this.texts.set(name, column);
    const codes = new Map(column.values.map((it, code) => [it, code]));
    for (const [at, text] of texts.entries()) {
      if (text === null) continue;
      let code = codes.get(text);
      if (code === undefined && column.values.length < MOST_TEXTS) {
        code = column.values.push(text) - 1;
        codes.set(text, code);
      }
      column.codes[from + at] = code ?? 0;
    }
  }

  #column(key: string): Float64Array<ArrayBuffer> {
    const name = key.slice(2);
    if (key.startsWith('o.')) return this.#output(name);
    let found = this.parameters.find((it) => it.name === name);
    if (found === undefined) {
      found = { name, values: new Float64Array(this.size).fill(Number.NaN) };
      this.parameters = [...this.parameters, found];
      this.#layout += 1;
    }
    return found.values;
  }

  #output(name: string): Float64Array<ArrayBuffer> {
    let column = this.outputs.get(name);
    if (column === undefined) {
      column = new Float64Array(this.size).fill(Number.NaN);
      this.outputs.set(name, column);
    }
    return column;
  }

  /** Applies changed runs from the feed. */
  apply(rows: readonly RunRow[]): void {
    for (const row of rows) {
      const run = this.#selection.indexFrom(row.run);
      this.live[run] = 1;
      this.status[run] = STATUS_CODE[row.status];
      this.started[run] = row.started ?? Number.NaN;
      this.ended[run] = row.ended ?? Number.NaN;
      if (row.runner === undefined) this.runners.delete(run);
      else this.runners.set(run, row.runner);
      if (row.error === undefined) this.errors.delete(run);
      else this.errors.set(run, row.error);
      if (row.outputs !== undefined) {
        this.valuesVersion += 1;
        for (const [name, value] of Object.entries(row.outputs)) this.#output(name)[run] = value;
      }
    }
    if (rows.length > 0) this.#changed();
  }

  #changed(): void {
    this.#timer ??= window.setTimeout(() => {
      this.#timer = undefined;
      this.store.trigger.changed({ layout: this.#layout });
    }, NOTIFY_MS);
  }
}

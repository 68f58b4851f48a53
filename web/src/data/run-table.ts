/**
 * All runs of one study as columns, a row for each run in the order of run ids: filled by the loader, updated by the live feed.
 * The loader does not overwrite a run that the feed has updated.
 */
import { createStore } from '@xstate/store';
import type { RunRow } from '../../../src/contract/types.ts';
import type { RunSelection } from '../../../src/domain/run-selection.ts';
import type { LoaderMessage, LoaderRequest, OutputChunk, RunChunk } from './run-columns.ts';
import { credentials } from './token.ts';
import { STATUS_CODE } from './run-columns.ts';
import type { Units } from './units.ts';

/** Interval of change notifications. */
const NOTIFY_MS = 400;

export class RunTable {
  readonly batchId: string;
  readonly units: Units;
  readonly size: number;
  readonly #selection: RunSelection;
  readonly status: Uint8Array;
  readonly retries: Uint8Array;
  readonly started: Float64Array;
  readonly ended: Float64Array;
  readonly runners = new Map<number, string>();
  readonly errors = new Map<number, string>();
  parameters: { name: string; values: Float64Array }[] = [];
  readonly outputs = new Map<string, Float64Array>();
  isLoaded = false;
  failure: string | undefined;
  /** `version` increases with each change notification. The columns are too large to be copied into a store's context. */
  readonly store = createStore({
    context: { version: 0 },
    on: { changed: ({ version }) => ({ version: version + 1 }) },
  });
  /** Increases with each change of a parameter or output. */
  valuesVersion = 0;
  #live: Uint8Array;
  /** Parameters never change: they are read once. */
  #hasParameters = false;
  #worker: Worker | undefined;
  #timer: number | undefined;

  /** `selection`: the runs that the batch holds. */
  constructor(batchId: string, selection: RunSelection, units: Units) {
    const size = selection.count;
    this.batchId = batchId;
    this.units = units;
    this.#selection = selection;
    this.size = size;
    this.status = new Uint8Array(size);
    this.retries = new Uint8Array(size);
    this.started = new Float64Array(size).fill(Number.NaN);
    this.ended = new Float64Array(size).fill(Number.NaN);
    this.#live = new Uint8Array(size);
  }

  /** The run id of a row. */
  runAt(row: number): number {
    return this.#selection.nth(row);
  }

  /** Reads all runs, in the background. */
  load(): void {
    this.#worker?.terminate();
    this.#live.fill(0);
    const worker = new Worker(new URL('./load-runs.worker.ts', import.meta.url), { type: 'module' });
    this.#worker = worker;
    worker.addEventListener('message', (event: MessageEvent<LoaderMessage>) => this.#take(event.data));
    const request: LoaderRequest = {
      headers: credentials(),
      origin: window.location.origin,
      batchId: this.batchId,
      withParameters: !this.#hasParameters,
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
    else if (message.type === 'outputs') this.#takeOutputs(message.chunk);
    else {
      this.isLoaded = true;
      this.failure = message.type === 'error' ? message.detail : undefined;
      this.#hasParameters ||= message.type === 'done';
      this.#worker?.terminate();
      this.#worker = undefined;
    }
    this.#changed();
  }

  #takeRuns(chunk: RunChunk): void {
    // Pages list the runs of the batch without gaps.
    const from = this.#selection.indexFrom(chunk.from);
    if (chunk.parameters.length > 0) this.#takeParameters(from, chunk.parameters);
    for (let at = 0; at < chunk.status.length; at += 1) {
      const run = from + at;
      if (this.#live[run] === 1) continue;
      this.status[run] = chunk.status[at]!;
      this.retries[run] = chunk.retries[at]!;
      this.started[run] = chunk.started[at]!;
      this.ended[run] = chunk.ended[at]!;
    }
    for (const [at, runner] of chunk.runners) if (this.#live[from + at] === 0) this.runners.set(from + at, runner);
    for (const [at, error] of chunk.errors) if (this.#live[from + at] === 0) this.errors.set(from + at, error);
  }

  #takeParameters(from: number, columns: RunChunk['parameters']): void {
    if (this.parameters.length === 0) {
      this.parameters = columns.map(([name]) => ({ name, values: new Float64Array(this.size).fill(Number.NaN) }));
    }
    for (const [at, [, values]] of columns.entries()) this.parameters[at]!.values.set(values, from);
    this.valuesVersion += 1;
  }

  #takeOutputs({ runs, columns }: OutputChunk): void {
    this.valuesVersion += 1;
    const rows = runs.map((run) => this.#selection.indexFrom(run));
    for (const [name, values] of Object.entries(columns)) {
      const column = this.#output(name);
      for (let at = 0; at < rows.length; at += 1) if (!Number.isNaN(values[at]!)) column[rows[at]!] = values[at]!;
    }
  }

  #output(name: string): Float64Array {
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
      this.#live[run] = 1;
      this.status[run] = STATUS_CODE[row.status];
      this.retries[run] = Math.min(row.retries, 255);
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
      this.store.trigger.changed();
    }, NOTIFY_MS);
  }
}

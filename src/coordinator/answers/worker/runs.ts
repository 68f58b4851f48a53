/** The runs of a study in the analysis worker, read through the coordinator: the one reader of stored records for answers, manifests and tables. */
import type { JobRecord, StoredResult } from '../../../contract/types.ts';
import { runIdOf } from '../../../domain/ids.ts';
import { idOf } from '../../kernel/storage/keys.ts';
import type { RowKind } from '../row-readings.ts';

/** Returns the next chunk of records, null after the last one; see `RowReadings.next`. */
export type NextRows = (kind: RowKind) => Promise<Uint8Array | null>;

/** Runs whose records are asked for at once. */
const RUNS_AT_ONCE = 500;

/** The records of some runs, in ascending order, as `NextRows` gives them. */
export function nextOf(
  runIds: Uint32Array,
  rows: (kind: RowKind, runIds: Uint32Array) => Promise<Uint8Array>,
): NextRows {
  const read = { job: 0, result: 0 };
  return async (kind) => {
    while (read[kind] < runIds.length) {
      const from = read[kind];
      read[kind] += RUNS_AT_ONCE;
      const chunk = await rows(kind, runIds.slice(from, from + RUNS_AT_ONCE));
      // None of these runs may have a result.
      if (chunk.length > 0) return chunk;
    }
    return null;
  };
}

/** The records of a run. Each is parsed when it is asked for, once; undefined where there is none, or where they are not read. */
export class StoredRun {
  readonly runId: number;
  readonly #jobText: string | undefined;
  readonly #resultText: string | undefined;
  #job: JobRecord | undefined;
  #result: StoredResult | undefined;

  constructor(runId: number, jobText?: string, resultText?: string) {
    this.runId = runId;
    this.#jobText = jobText;
    this.#resultText = resultText;
  }

  get job(): JobRecord | undefined {
    if (this.#jobText !== undefined) this.#job ??= JSON.parse(this.#jobText) as JobRecord;
    return this.#job;
  }

  get result(): StoredResult | undefined {
    if (this.#resultText !== undefined) this.#result ??= JSON.parse(this.#resultText) as StoredResult;
    return this.#result;
  }
}

/**
 * The runs that have a record of one of the kinds, in ascending order, in blocks: a turn of the event loop for each run would take
 * as long as reading it. With both kinds, a run needs a job record.
 */
export async function* runBlocks(
  next: NextRows,
  kinds: readonly RowKind[] = ['job', 'result'],
): AsyncGenerator<StoredRun[]> {
  const jobs = kinds.includes('job') ? new Records(() => next('job')) : undefined;
  const results = kinds.includes('result') ? new Records(() => next('result')) : undefined;
  for (;;) {
    if (jobs?.isUsedUp === true) await jobs.fill();
    if (results?.isUsedUp === true) await results.fill();
    const block: StoredRun[] = [];
    // The two readings advance together until a chunk is used up.
    while (jobs?.isUsedUp !== true && results?.isUsedUp !== true) {
      const jobRun = jobs?.runId ?? Infinity;
      const resultRun = results?.runId ?? Infinity;
      if ((jobs === undefined ? resultRun : jobRun) === Infinity) {
        if (block.length > 0) yield block;
        return;
      }
      const runId = Math.min(jobRun, resultRun);
      const job = jobRun === runId ? jobs!.take() : undefined;
      const result = resultRun === runId ? results!.take() : undefined;
      // A result without a job record belongs to no row.
      if (jobs === undefined || job !== undefined) block.push(new StoredRun(runId, job, result));
    }
    if (block.length > 0) yield block;
  }
}

/** The records of chunks, with the first of those left in view. */
class Records {
  #records: readonly (readonly [number, string])[] = [];
  #at = 0;
  #isOver = false;
  readonly #nextChunk: () => Promise<Uint8Array | null>;
  /** The chunk after the current one: the coordinator reads it while this thread parses. */
  #ahead: Promise<Uint8Array | null> | undefined;

  constructor(nextChunk: () => Promise<Uint8Array | null>) {
    this.#nextChunk = nextChunk;
  }

  /** The run of the record in view; Infinity while the chunk is used up, and after the last one. */
  get runId(): number {
    return this.#records[this.#at]?.[0] ?? Infinity;
  }

  /** True where `fill` must be called to see a record. */
  get isUsedUp(): boolean {
    return this.#at === this.#records.length && !this.#isOver;
  }

  /** Reads the next chunk. */
  async fill(): Promise<void> {
    const chunk = await (this.#ahead ?? this.#nextChunk());
    if (chunk === null) {
      this.#isOver = true;
      return;
    }
    this.#ahead = this.#nextChunk();
    // A rejection is reported when the chunk is used.
    this.#ahead.catch(() => {});
    this.#records = recordsIn(chunk);
    this.#at = 0;
  }

  /** The text of the record in view; the next one comes into view. */
  take(): string {
    return this.#records[this.#at++]![1];
  }
}

const decoder = new TextDecoder();

/** The runs and texts of the records in a chunk of lines as `StoreView.lines` makes them. */
export function recordsIn(chunk: Uint8Array): (readonly [runId: number, text: string])[] {
  if (chunk.length === 0) return [];
  const lines = decoder.decode(chunk).split('\n');
  return lines.map((line) => {
    const tab = line.indexOf('\t');
    return [runIdOf(idOf(line.slice(0, tab))), line.slice(tab + 1)];
  });
}

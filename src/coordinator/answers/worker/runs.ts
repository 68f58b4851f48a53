/** The runs of a study in the analysis worker, read through the coordinator. */
import type { JobRecord } from '../../../contract/types.ts';
import type { RowKind } from '../row-readings.ts';
import { ChunkLines, parseJob, type RecordBytes } from './records/chunk.ts';

/** Returns the next chunk of records, null after the last one; see `RowReadings.next`. */
export type NextRows = (kind: RowKind) => Promise<Uint8Array | null>;

/** The records of a run as stored; undefined where there is none, or where they are not read. */
export interface RunRecords {
  runId: number;
  job: RecordBytes | undefined;
  result: RecordBytes | undefined;
}

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

/** A run that has a record. */
export interface StoredRun {
  runId: number;
  job: JobRecord;
  /** As stored; undefined where the run has left none. */
  resultText: string | undefined;
}

/** The runs that have a record, in ascending order. */
export async function* storedRuns(next: NextRows): AsyncGenerator<StoredRun> {
  for await (const block of runBlocks(next)) {
    for (const { runId, job, result } of block) yield { runId, job: parseJob(job!), resultText: result?.text };
  }
}

/**
 * The runs that have a record of one of the kinds, in ascending order, in blocks: a turn of the event loop for each run would take
 * as long as reading it. With both kinds, a run needs a job record.
 */
export async function* runBlocks(
  next: NextRows,
  kinds: readonly RowKind[] = ['job', 'result'],
): AsyncGenerator<RunRecords[]> {
  const jobs = kinds.includes('job') ? new Lines(() => next('job')) : undefined;
  const results = kinds.includes('result') ? new Lines(() => next('result')) : undefined;
  for (;;) {
    if (jobs?.isUsedUp === true) await jobs.fill();
    if (results?.isUsedUp === true) await results.fill();
    const block: RunRecords[] = [];
    // Until a chunk is used up.
    while (jobs?.isUsedUp !== true && results?.isUsedUp !== true) {
      const jobRun = jobs?.runId ?? -1;
      const resultRun = results?.runId ?? -1;
      if (jobs === undefined ? resultRun < 0 : jobRun < 0) {
        if (block.length > 0) yield block;
        return;
      }
      const runId = jobRun < 0 || (resultRun >= 0 && resultRun < jobRun) ? resultRun : jobRun;
      const job = jobRun === runId ? jobs!.take() : undefined;
      const result = resultRun === runId ? results!.take() : undefined;
      // A result without a job record belongs to no row.
      if (jobs === undefined || job !== undefined) block.push({ runId, job, result });
    }
    if (block.length > 0) yield block;
  }
}

/** The lines of chunks, with the first of those left in view. */
class Lines {
  #lines = new ChunkLines(new Uint8Array());
  #isOver = false;
  readonly #nextChunk: () => Promise<Uint8Array | null>;
  /** The chunk after the current one: the coordinator reads it while this thread parses. */
  #ahead: Promise<Uint8Array | null> | undefined;

  constructor(nextChunk: () => Promise<Uint8Array | null>) {
    this.#nextChunk = nextChunk;
  }

  /** The run of the line in view; -1 while the chunk is used up, and after the last one. */
  get runId(): number {
    return this.#lines.runId;
  }

  /** True where `fill` must be called to see a line. */
  get isUsedUp(): boolean {
    return this.#lines.runId < 0 && !this.#isOver;
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
    this.#lines = new ChunkLines(chunk);
  }

  /** The record in view; the next one comes into view. */
  take(): RecordBytes {
    const record = this.#lines.record();
    this.#lines.drop();
    return record;
  }
}

/** The records of a chunk by run. */
export function recordsByRun(chunk: Uint8Array): Map<number, RecordBytes> {
  const records = new Map<number, RecordBytes>();
  for (const lines = new ChunkLines(chunk); lines.runId >= 0; lines.drop()) records.set(lines.runId, lines.record());
  return records;
}

/** The runs of a study in the analysis worker, read through the coordinator. */
import type { JobRecord, StoredResult } from '../../../contract/types.ts';
import { runIdOf } from '../../../domain/ids.ts';
import type { RowKind } from '../row-readings.ts';

/** Returns the next chunk of records, null after the last one; see `RowReadings.next`. */
export type NextRows = (kind: RowKind) => Promise<Uint8Array | null>;

/** The records of a run as stored; undefined where there is none, or where they are not read. */
export interface RunTexts {
  runId: number;
  jobText: string | undefined;
  resultText: string | undefined;
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
    for (const { runId, jobText, resultText } of block) {
      yield { runId, job: JSON.parse(jobText!) as JobRecord, resultText };
    }
  }
}

/**
 * The runs that have a record of one of the kinds, in ascending order, in blocks: a turn of the event loop for each run would take
 * as long as reading it. With both kinds, a run needs a job record.
 */
export async function* runBlocks(
  next: NextRows,
  kinds: readonly RowKind[] = ['job', 'result'],
): AsyncGenerator<RunTexts[]> {
  const jobs = kinds.includes('job') ? new Lines(() => next('job')) : undefined;
  const results = kinds.includes('result') ? new Lines(() => next('result')) : undefined;
  for (;;) {
    if (jobs?.isUsedUp === true) await jobs.fill();
    if (results?.isUsedUp === true) await results.fill();
    const block: RunTexts[] = [];
    // Until a chunk is used up.
    while (jobs?.isUsedUp !== true && results?.isUsedUp !== true) {
      const job = jobs?.first;
      const result = results?.first;
      if (jobs === undefined ? result === undefined : job === undefined) {
        if (block.length > 0) yield block;
        return;
      }
      const runId = Math.min(job?.runId ?? Infinity, result?.runId ?? Infinity);
      const isOfRun = result?.runId === runId;
      if (jobs === undefined || job!.runId === runId) {
        block.push({ runId, jobText: job?.text, resultText: isOfRun ? result.text : undefined });
        jobs?.drop();
      }
      if (isOfRun) results!.drop();
    }
    if (block.length > 0) yield block;
  }
}

export const parseResult = (text: string): StoredResult => JSON.parse(text) as StoredResult;

interface Line {
  runId: number;
  text: string;
}

/** The lines of chunks, with the first one in view. */
class Lines {
  /** Undefined while the chunk is used up, and after the last one. */
  first: Line | undefined;
  #lines: string[] = [];
  #at = 0;
  #isOver = false;
  readonly #nextChunk: () => Promise<Uint8Array | null>;
  /** The chunk after the current one: the coordinator reads it while this thread parses. */
  #ahead: Promise<Uint8Array | null> | undefined;

  constructor(nextChunk: () => Promise<Uint8Array | null>) {
    this.#nextChunk = nextChunk;
  }

  /** True where `fill` must be called to see a line. */
  get isUsedUp(): boolean {
    return this.first === undefined && !this.#isOver;
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
    this.#lines = linesOf(chunk);
    this.#at = -1;
    this.drop();
  }

  drop(): void {
    const line = this.#lines[++this.#at];
    this.first = line === undefined ? undefined : readLine(line);
  }
}

const decoder = new TextDecoder();

function linesOf(chunk: Uint8Array): string[] {
  return chunk.length === 0 ? [] : decoder.decode(chunk).split('\n');
}

function readLine(line: string): Line {
  const tab = line.indexOf('\t');
  return { runId: runIdOf(line.slice(0, tab)), text: line.slice(tab + 1) };
}

/** The records of a chunk by run. */
export function textsByRun(chunk: Uint8Array): Map<number, string> {
  return new Map(
    linesOf(chunk).map((line) => {
      const { runId, text } = readLine(line);
      return [runId, text];
    }),
  );
}

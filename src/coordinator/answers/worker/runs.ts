/** The runs of a study in the analysis worker, read through the coordinator. */
import type { JobRecord, StoredResult } from '../../../contract/types.ts';
import { runIdOf } from '../../../domain/ids.ts';
import type { RowKind } from '../row-readings.ts';

/** Returns the next chunk of records, null after the last one; see `RowReadings.next`. */
export type NextRows = (kind: RowKind) => Promise<Uint8Array | null>;

/** A run that has a record. */
export interface StoredRun {
  runId: number;
  job: JobRecord;
  /** As stored; undefined where the run has left none. */
  resultText: string | undefined;
}

/** The runs that have a record, in ascending order. */
export async function* storedRuns(next: NextRows): AsyncGenerator<StoredRun> {
  const jobs = new Lines(() => next('job'));
  const results = new Lines(() => next('result'));
  for (;;) {
    // Awaited only where a chunk is used up: most runs need no turn of the event loop.
    const job = jobs.first ?? (await jobs.fill());
    if (job === undefined) return;
    let result = results.first ?? (await results.fill());
    while (result !== undefined && result.runId < job.runId) {
      results.drop();
      result = results.first ?? (await results.fill());
    }
    const hasResult = result?.runId === job.runId;
    jobs.drop();
    if (hasResult) results.drop();
    const record = JSON.parse(job.text) as JobRecord;
    yield { runId: job.runId, job: record, resultText: hasResult ? result?.text : undefined };
  }
}

export const parseResult = (text: string): StoredResult => JSON.parse(text) as StoredResult;

interface Line {
  runId: number;
  text: string;
}

/** The lines of chunks, with the first one in view. */
class Lines {
  first: Line | undefined;
  #lines: string[] = [];
  #at = 0;
  readonly #nextChunk: () => Promise<Uint8Array | null>;
  readonly #decoder = new TextDecoder();
  /** The chunk after the current one: the coordinator reads it while this thread parses. */
  #ahead: Promise<Uint8Array | null> | undefined;

  constructor(nextChunk: () => Promise<Uint8Array | null>) {
    this.#nextChunk = nextChunk;
  }

  /** Reads the next chunk; returns its first line, undefined after the last chunk. */
  async fill(): Promise<Line | undefined> {
    const chunk = await (this.#ahead ?? this.#nextChunk());
    if (chunk === null) {
      this.#ahead = Promise.resolve(null);
      return undefined;
    }
    this.#ahead = this.#nextChunk();
    // A rejection is reported when the chunk is used.
    this.#ahead.catch(() => {});
    this.#lines = this.#decoder.decode(chunk).split('\n');
    this.#at = -1;
    this.drop();
    return this.first;
  }

  drop(): void {
    const line = this.#lines[++this.#at];
    if (line === undefined) {
      this.first = undefined;
      return;
    }
    const tab = line.indexOf('\t');
    this.first = { runId: runIdOf(line.slice(0, tab)), text: line.slice(tab + 1) };
  }
}

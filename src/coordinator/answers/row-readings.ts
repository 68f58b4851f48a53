/**
 * The rows of studies for the analysis worker: stored records as bytes, in chunks. The thread that answers requests parses none
 * of them; between two chunks it serves other requests.
 */
import type { BatchContext, CodeIdentity, RoundRecord, Uuid } from '../../contract/types.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { jobId } from '../../domain/ids.ts';
import { missingRecord } from '../kernel/actors/actor-kinds.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import type { StudyCache } from '../kernel/records/study-cache.ts';
import { historiesOf, keys, ofBatch } from '../kernel/storage/keys.ts';
import { linesOf } from '../kernel/storage/lines.ts';
import type { Entry, Store, StoreView } from '../kernel/storage/store.ts';
import { EndedRuns } from './ended-runs.ts';
import { rowsOfRecord, type RoundLookup } from '../../domain/adaptive/rows.ts';
import { versionOf } from '../kernel/records/study-version.ts';

/** The start of a reading: the study as of the instant that the rows show. */
export interface ReadingHead {
  reading: number;
  batchId: Uuid;
  version: string;
  /** The submission as stored; see `decodeSubmission`. */
  submission: string;
  /** The labels and the judgement in force; absent where it was never amended. */
  amended?: Pick<BatchContext, 'labels' | 'judgement'>;
  samplingScheme: string;
  configHash: string;
  totalJobs: number;
  /** Creation of the batch, in ms since the epoch. */
  createdAtMs: number;
  /** Time limit of each run; 0: none. */
  timeLimitMs: number;
  /** True where runs without a record are Cancelled. */
  isCancelled: boolean;
  /** ms since the epoch, where the batch has ended. */
  endedAtMs: number | undefined;
  /** Runs that have not ended. */
  openRuns: number;
  /** Runs that have the result of another run. */
  reusedRuns: number;
  /** The versions of the code that were started; absent: none is known. */
  codes?: readonly CodeIdentity[];
  /** The runs by which it was extended; absent: it was not. */
  extensions?: readonly number[];
  /** Of an adaptive study: its rounds, which the worker reads. */
  rounds?: RoundLookup;
}

/** A round as stored, with its blocks of rows. */
export interface StoredRound {
  record: string;
  blocks: string[];
}

/** The start of a reading of a study that the worker keeps. */
export interface StudyHead extends ReadingHead {
  /** For the next reading; undefined where no further one can differ. */
  mark: number | undefined;
  /** The runs that have ended since the last reading, ascending; undefined where all must be read. */
  ended: Uint32Array | undefined;
}

/** The kinds of records of a run. */
export type RowKind = 'job' | 'result';

/** Characters of the rounds of one answer, or a little more. */
const ROUND_CHARS = 1_048_576;
/** Rows of one chunk: few enough that a chunk takes a few milliseconds; LevelDB also bounds it to about 1 MiB. */
const CHUNK = 250;

/** Some records of a reading, by run. */
export interface RowsRequest {
  reading: number;
  kind: RowKind;
  runIds: Uint32Array;
}

interface Reading {
  view: StoreView;
  batchId: Uuid;
  rows: Record<RowKind, AsyncIterator<Uint8Array>>;
  /** The histories that are being read, by their places. */
  histories: Map<number, AsyncIterator<Uint8Array>>;
}

/** The open readings. Each holds a store view until it is closed. */
export class RowReadings {
  readonly #parts: { store: Store; share: EventLoopShare; studyCache: StudyCache };
  readonly #readings = new Map<number, Reading>();
  /** The runs that have ended since the worker read their studies. */
  readonly ended = new EndedRuns();
  #next = 0;

  constructor(parts: { store: Store; share: EventLoopShare; studyCache: StudyCache }) {
    this.#parts = parts;
  }

  /** @throws SimbatchError `unknown-batch` */
  open(batchId: Uuid): Promise<ReadingHead> {
    return this.openAll([batchId]).then(([head]) => head!);
  }

  /** Opens a reading of a study that the worker keeps; `since`: the mark of its last reading. */
  async openStudy({ batchId, since }: { batchId: Uuid; since: number | undefined }): Promise<StudyHead> {
    const head = await this.open(batchId);
    const { mark, runIds } = this.ended.read(batchId, since);
    if (head.endedAtMs !== undefined && head.openRuns === 0) this.ended.forget(batchId);
    return { ...head, mark, ended: runIds };
  }

  /** Opens readings of several studies as of one instant: no turn of the event loop is between their views. */
  async openAll(batchIds: readonly Uuid[]): Promise<ReadingHead[]> {
    const heads: ReadingHead[] = [];
    try {
      for (const batchId of batchIds) heads.push(this.#begin(batchId));
      return heads;
    } catch (error) {
      for (const { reading } of heads) await this.close(reading);
      throw error;
    }
  }

  #begin(batchId: Uuid): ReadingHead {
    const view = this.#parts.store.snapshot();
    try {
      const state = readBatch(view, batchId);
      const { samplingScheme, configHash, totalJobs, cancelRequested: isCancelled, endedAtMs } = state.context;
      const {
        completed,
        failed,
        timedOut,
        cancelled,
        createdAtMs,
        timeLimitMs,
        codes,
        labels,
        judgement,
        reused,
        extensions,
      } = state.context;
      const reading = this.#next++;
      this.#readings.set(reading, { view, batchId, rows: this.#rowsOf(view, batchId), histories: new Map() });
      return {
        reading,
        batchId,
        version: versionOf(state),
        submission: view.get(keys.submission(batchId))!,
        samplingScheme,
        configHash,
        totalJobs,
        createdAtMs,
        timeLimitMs,
        isCancelled,
        endedAtMs,
        openRuns: totalJobs - completed - failed - timedOut - cancelled,
        reusedRuns: reused ?? 0,
        ...(extensions === undefined ? {} : { extensions }),
        ...(judgement === undefined ? {} : { amended: { labels, judgement } }),
        ...(codes === undefined ? {} : { codes: codes.map(({ identity }) => identity) }),
      };
    } catch (error) {
      void view.close();
      throw error;
    }
  }

  /** The next records of a kind, one line each: key, a tab, the record. Null at the end. */
  async next({ reading, kind }: { reading: number; kind: RowKind }): Promise<Uint8Array | null> {
    const chunk = await this.#open(reading).rows[kind].next();
    return chunk.done === true ? null : chunk.value;
  }

  /** The next records of the history at a place of the study, for `unpacked`. Null at the end; then it begins again. */
  async nextHistories({ reading, place }: { reading: number; place: number }): Promise<Uint8Array | null> {
    const { view, batchId, histories } = this.#open(reading);
    let records = histories.get(place);
    if (records === undefined) {
      records = this.#parts.share.paced(view.sealed(historiesOf(batchId, place), { chunkSize: CHUNK }));
      histories.set(place, records);
    }
    const chunk = await records.next();
    if (chunk.done !== true) return chunk.value;
    histories.delete(place);
    return null;
  }

  /** The records of these runs, in this order and in the form of `next`; runs without one are left out. */
  async rows({ reading, kind, runIds }: RowsRequest): Promise<Uint8Array> {
    const open = this.#open(reading);
    const entries: Entry[] = [];
    const read = (runId: number): Entry | undefined => {
      const key = keys[kind](jobId(open.batchId, runId));
      const record = open.view.get(key);
      return record === undefined ? undefined : [key, record];
    };
    for await (const part of this.#parts.share.mapped(runIds, read)) {
      for (const entry of part) if (entry !== undefined) entries.push(entry);
    }
    return linesOf(entries);
  }

  /** The rounds from the number `from` on, some of them; none after the last one. */
  async rounds({ reading, from }: { reading: number; from: number }): Promise<StoredRound[]> {
    const { view, batchId } = this.#open(reading);
    const found: StoredRound[] = [];
    for (let chars = 0, round = from; chars < ROUND_CHARS; round++) {
      await this.#parts.share.slice();
      const record = view.get(keys.round(batchId, round));
      if (record === undefined) break;
      const blocks: string[] = [];
      const { count } = JSON.parse(record) as RoundRecord;
      for (let known = 0, block = 0; known < count; block++) {
        if (block > 0) await this.#parts.share.slice();
        const key = keys.rows(batchId, round, block);
        const rows = view.get(key);
        if (rows === undefined) throw missingRecord(`the rows ${key}`);
        blocks.push(rows);
        known += rowsOfRecord(rows);
        chars += rows.length;
      }
      found.push({ record, blocks });
      chars += record.length;
    }
    return found;
  }

  /** Begins again with the run `from`, or the first one, of the same instant. */
  async restart({ reading, from = 0 }: { reading: number; from?: number }): Promise<void> {
    const open = this.#open(reading);
    await closeRows(open);
    open.rows = this.#rowsOf(open.view, open.batchId, from);
  }

  /** Never taken for the end of the rows: an answer from a part of them would be wrong. */
  #open(reading: number): Reading {
    const open = this.#readings.get(reading);
    if (open === undefined) throw new Error(`the reading ${reading} is closed`);
    return open;
  }

  async close(reading: number): Promise<void> {
    const open = this.#readings.get(reading);
    this.#readings.delete(reading);
    if (open === undefined) return;
    await closeRows(open);
    await open.view.close();
  }

  /** Reads the rows in slices of the event loop, as all long work. */
  #rowsOf(view: StoreView, batchId: Uuid, from = 0): Reading['rows'] {
    const rows = (kind: RowKind) => {
      const range = { ...ofBatch(kind, batchId), gte: keys[kind](jobId(batchId, from)) };
      return this.#parts.share.paced(view.lines(range, { chunkSize: CHUNK }));
    };
    return { job: rows('job'), result: rows('result') };
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#readings.keys()].map((reading) => this.close(reading)));
  }
}

async function closeRows({ rows, histories }: Reading): Promise<void> {
  for (const records of histories.values()) await records.return?.();
  histories.clear();
  await rows.job.return?.();
  await rows.result.return?.();
}

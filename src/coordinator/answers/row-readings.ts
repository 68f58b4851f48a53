/**
 * The rows of studies for the analysis worker: stored records as bytes, in chunks. The thread that answers requests parses none
 * of them; between two chunks it serves other requests.
 */
import type { SamplingMethod, Uuid } from '../../contract/types.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { readBatch } from '../resources/read-batch.ts';
import type { StudyCache } from '../resources/study-cache.ts';
import { idOf, keys, ofBatch } from '../storage/keys.ts';
import type { Entry, Store, StoreView } from '../storage/store.ts';
import { versionOf } from './study-version.ts';

/** The start of a reading: the study as of the instant that the rows show. */
export interface ReadingHead {
  reading: number;
  batchId: Uuid;
  version: string;
  /** The submission as stored; see `decodeSubmission`. */
  submission: string;
  samplingScheme: string;
  method: SamplingMethod;
  configHash: string;
  totalJobs: number;
  /** True where runs without a record are Cancelled. */
  isCancelled: boolean;
}

/** The kinds of records of a run. */
export type RowKind = 'job' | 'result';

/** Rows of one chunk: few enough that a chunk takes a few milliseconds; LevelDB also bounds it to about 1 MiB. */
const CHUNK = 250;

interface Reading {
  view: StoreView;
  batchId: Uuid;
  rows: Record<RowKind, AsyncIterator<readonly Entry[]>>;
}

/** The open readings. Each holds a store view until it is closed. */
export class RowReadings {
  readonly #parts: { store: Store; share: EventLoopShare; studyCache: StudyCache };
  readonly #readings = new Map<number, Reading>();
  #next = 0;

  constructor(parts: { store: Store; share: EventLoopShare; studyCache: StudyCache }) {
    this.#parts = parts;
  }

  /** @throws SimbatchError `unknown-batch` */
  async open(batchId: Uuid): Promise<ReadingHead> {
    const view = this.#parts.store.snapshot();
    try {
      const state = readBatch(view, batchId);
      const { samplingScheme, configHash, totalJobs, cancelRequested: isCancelled } = state.context;
      const { metadata } = this.#parts.studyCache.of(state.context, { read: (key) => view.get(key) });
      const reading = this.#next++;
      this.#readings.set(reading, { view, batchId, rows: this.#rowsOf(view, batchId) });
      return {
        reading,
        batchId,
        version: versionOf(state),
        submission: view.get(keys.submission(batchId))!,
        samplingScheme,
        method: metadata.sampling_method,
        configHash,
        totalJobs,
        isCancelled,
      };
    } catch (error) {
      await view.close();
      throw error;
    }
  }

  /** The next records of a kind, one line each: the job's id, a tab, the record. Null at the end. */
  async next({ reading, kind }: { reading: number; kind: RowKind }): Promise<Uint8Array | null> {
    const chunk = await this.#readings.get(reading)?.rows[kind].next();
    if (chunk === undefined || chunk.done === true) return null;
    // Not Buffer.from: its memory may be shared with other buffers and then cannot be transferred.
    return new TextEncoder().encode(chunk.value.map(([key, record]) => `${idOf(key)}\t${record}`).join('\n'));
  }

  /** Begins again with the first rows, of the same instant. */
  async restart(reading: number): Promise<void> {
    const open = this.#readings.get(reading);
    if (open === undefined) return;
    await closeRows(open);
    open.rows = this.#rowsOf(open.view, open.batchId);
  }

  async close(reading: number): Promise<void> {
    const open = this.#readings.get(reading);
    this.#readings.delete(reading);
    if (open === undefined) return;
    await closeRows(open);
    await open.view.close();
  }

  /** In slices of the event loop, as all long work. */
  #rowsOf(view: StoreView, batchId: Uuid): Reading['rows'] {
    const rows = (kind: RowKind) => this.#parts.share.paced(view.entries(ofBatch(kind, batchId), { chunkSize: CHUNK }));
    return { job: rows('job'), result: rows('result') };
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#readings.keys()].map((reading) => this.close(reading)));
  }
}

async function closeRows({ rows }: Reading): Promise<void> {
  await rows.job.return?.();
  await rows.result.return?.();
}

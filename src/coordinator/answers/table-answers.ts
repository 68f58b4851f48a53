/** Tables of runs, their histories and manifests, which the analysis worker writes piece by piece. */
import type { Abandoned } from '../../base/abandonment.ts';
import type { GivenBack } from '../../base/async/sent-pieces.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { Uuid } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { type BatchState, isTerminal } from '../kernel/actors/actor-kinds.ts';
import { familyOf, mergeable } from '../kernel/records/family.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { AnalysisThread } from './analysis-thread.ts';
import { versionOf } from '../kernel/records/study-version.ts';
import type { ExtractedBatch } from '../../analysis/table/extracted.ts';
import type { HistoriesRequest, TableRequest } from './table-request.ts';

/** The most tables that are sent at once: each has a view of the store and the memory of a chunk of rows. */
const MAX_TABLES = 32;

/** A whole table in pieces, or a page of it as bytes. */
export type TableAnswer =
  | {
      state: 'ready';
      /** Absent while the runs may change. */
      tag: string | undefined;
      body: Uint8Array | AsyncIterable<Uint8Array>;
      /** The position of the page after this one, if there is one; beside it the number of rows on all pages. */
      next?: string | undefined;
      matched?: number;
    }
  /** The client has this version. */
  | { state: 'unchanged'; tag: string };

export interface TableOptions {
  /** Rows of a page; absent: the whole table. */
  limit?: number | undefined;
  /** The position after an earlier page. */
  after?: string | undefined;
  /** True for the tag of a table that the client has. */
  isKnown?: (tag: string) => boolean;
  /** Ends the reading for a client that is gone. */
  abandoned?: Abandoned;
}

interface Parts {
  store: Store;
  share: EventLoopShare;
  thread: AnalysisThread;
  /** The extractions of a batch, oldest first. */
  extractionsOf: (batchId: Uuid) => Promise<ExtractedBatch[]>;
  /** The entity tag of a question for these versions of its studies. */
  tag: (key: string, versions: readonly string[]) => string;
}

export class TableAnswers {
  readonly #parts: Parts;
  #open = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * A table as of one instant. A body in pieces must be iterated to its end or returned from.
   * @throws SimbatchError `unknown-batch`; `malformed-query` for an unknown column and for a condition or order that is not understood;
   * `too-many-requests`; `unavailable` when the worker crashes.
   */
  async table(request: TableRequest, options: TableOptions = {}): Promise<TableAnswer> {
    const { limit, after, isKnown } = options;
    const batches = await this.#batches(request);
    const extracted = await this.#extracted(batches);
    const merged = { ...request, batchIds: batches.map((it) => it.context.batchId), extracted };
    const besides = extracted.map(({ batchId }) => readBatch(this.#parts.store, batchId));
    const tag = this.#tagOf(['table', merged, limit, after], [...batches, ...besides]);
    if (tag !== undefined && isKnown?.(tag) === true) return { state: 'unchanged', tag };
    if (limit === undefined)
      return {
        state: 'ready',
        tag,
        body: await this.#opened(() => this.#parts.thread.call('openTable', merged), options.abandoned),
      };
    const page = await this.#parts.thread.call('tablePage', { ...merged, limit, after });
    return { state: 'ready', tag, body: page.bytes, next: page.next, matched: page.matched };
  }

  /**
   * One history of the runs of a study as of one instant. Its body must be iterated to its end or returned from.
   * @throws SimbatchError `unknown-batch`; `malformed-query` for an unknown history or condition; `too-many-requests`; `unavailable`.
   */
  async histories(
    request: HistoriesRequest,
    { isKnown, abandoned }: Pick<TableOptions, 'isKnown' | 'abandoned'> = {},
  ): Promise<TableAnswer> {
    const batches = await this.#batches(request);
    const extracted = request.where === undefined ? [] : await this.#extracted(batches);
    const merged = { ...request, batchIds: batches.map((it) => it.context.batchId), extracted };
    const besides = extracted.map(({ batchId }) => readBatch(this.#parts.store, batchId));
    const tag = this.#tagOf(['histories', merged], [...batches, ...besides]);
    if (tag !== undefined && isKnown?.(tag) === true) return { state: 'unchanged', tag };
    const { thread } = this.#parts;
    return { state: 'ready', tag, body: await this.#opened(() => thread.call('openHistories', merged), abandoned) };
  }

  async #extracted(batches: readonly BatchState[]): Promise<ExtractedBatch[]> {
    const found: ExtractedBatch[] = [];
    for (const { context } of batches) found.push(...(await this.#parts.extractionsOf(context.batchId)));
    return found;
  }

  /** The entity tag of a question to batches; undefined while their runs may change. */
  #tagOf(question: readonly unknown[], batches: readonly BatchState[]): string | undefined {
    if (!batches.every(({ value }) => isTerminal(value))) return undefined;
    return this.#parts.tag(JSON.stringify(question), batches.map(versionOf));
  }

  async #batches({ batchId, family }: Pick<TableRequest, 'batchId' | 'family'>): Promise<BatchState[]> {
    const { store, share } = this.#parts;
    const state = readBatch(store, batchId);
    if (family !== true) return [state];
    const members = await familyOf(share, (key) => store.get(key), state.context);
    return mergeable(members).map((it) => it.state);
  }

  /** The manifest of a study in pieces, as of now. Must be iterated to its end or returned from. */
  async manifest(batchId: Uuid): Promise<AsyncIterable<Uint8Array>> {
    readBatch(this.#parts.store, batchId);
    const { thread } = this.#parts;
    return new WorkerStream(thread, await thread.call('openManifest', batchId));
  }

  async #opened(open: () => Promise<number>, abandoned: Abandoned | undefined): Promise<AsyncIterable<Uint8Array>> {
    if (this.#open >= MAX_TABLES) {
      const why = `${MAX_TABLES} tables are being sent`;
      throw new SimbatchError('too-many-requests', `the table is not sent: ${why}; repeat the request in a minute`);
    }
    this.#open++;
    const close = (): void => void this.#open--;
    const { thread } = this.#parts;
    const opened = await open().catch((error: unknown) => {
      close();
      throw error;
    });
    const stop = (): void => void stream.return();
    const stream = new WorkerStream(thread, opened, () => {
      abandoned?.removeEventListener('abort', stop);
      close();
    });
    abandoned?.addEventListener('abort', stop, { once: true });
    if (abandoned?.aborted === true) stop();
    // The first piece is read before the answer begins, so that an error of the request still gets its own status.
    try {
      await stream.prepare();
      return stream;
    } catch (error) {
      await stream.return();
      throw error;
    }
  }
}

/**
 * A stream of the worker as an iterable of its pieces. The worker writes the next piece while the client takes one. Pieces that are not given back
 * are garbage of this thread, for which V8 marks its whole heap again and again.
 */
class WorkerStream implements AsyncIterableIterator<Uint8Array>, GivenBack {
  readonly #thread: AnalysisThread;
  readonly #stream: number;
  readonly #onClose: () => void;
  #ahead: Promise<Uint8Array | null> | undefined;
  /** The memory of pieces in flight. */
  readonly #inFlight = new WeakSet<ArrayBufferLike>();
  #sent: Uint8Array | undefined;
  #closed: Promise<void> | undefined;

  constructor(thread: AnalysisThread, stream: number, onClose: () => void = () => {}) {
    this.#thread = thread;
    this.#stream = stream;
    this.#onClose = onClose;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Takes back a piece that has been sent; nothing may read it any more. */
  giveBack(piece: Uint8Array): void {
    if (this.#inFlight.delete(piece.buffer)) this.#sent = piece;
  }

  /** Waits for the first piece; rejects with its error. */
  async prepare(): Promise<void> {
    this.#ahead = this.#read();
    await this.#ahead;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#closed !== undefined) return { done: true, value: undefined };
    try {
      const piece = await (this.#ahead ?? this.#read());
      if (piece === null) return await this.return();
      this.#inFlight.add(piece.buffer);
      this.#ahead = this.#read();
      return { done: false, value: piece };
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  /** Closes the stream in the worker, also while it writes a piece. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#closed ??= this.#close();
    await this.#closed;
    return { done: true, value: undefined };
  }

  async #close(): Promise<void> {
    this.#onClose();
    // A worker that has ended has nothing open.
    await this.#thread.call('closeStream', this.#stream).catch(() => {});
  }

  #read(): Promise<Uint8Array | null> {
    const bytes = this.#sent;
    this.#sent = undefined;
    const piece = this.#thread.call('nextPiece', { stream: this.#stream, bytes });
    // A rejection is reported when the piece is used.
    piece.catch(() => {});
    return piece;
  }
}

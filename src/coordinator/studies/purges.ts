/**
 * Deletes the records of deleted studies in small steps, one study after the other, and the mark of the deletion last. After
 * a crash in between the next start finds the mark and continues.
 */
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { Uuid } from '../../contract/types.ts';
import type { Turns } from '../kernel/turn/turn.ts';
import {
  allOf,
  historiesOf,
  idOf,
  keys,
  ofBatch,
  ROUND_KINDS,
  roundsOf,
  type KeyRange,
} from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';

/** Records deleted in one turn: a write of some milliseconds, between which other turns run. */
const STEP = 500;
/** Deletions after which the store is compacted. */
const COMPACT_AFTER = 10_000;

export class Purges {
  readonly #parts: { share: EventLoopShare; store: Store; turns: Turns };
  #deleted = 0;
  #isStopped = false;
  /** The running tasks, one after the other. */
  #work: Promise<void> = Promise.resolve();

  constructor(parts: { share: EventLoopShare; store: Store; turns: Turns }) {
    this.#parts = parts;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Continues the deletions that a stop interrupted. */
  async restore(): Promise<void> {
    const { share, store } = this.#parts;
    const snapshot = store.snapshot();
    try {
      for await (const chunk of share.paced(snapshot.entries(allOf('deletion'))))
        for (const [key] of chunk) this.add(idOf(key));
    } finally {
      await snapshot.close();
    }
  }

  /** Deletes the records of a study after those of the studies added before. */
  add(batchId: Uuid): void {
    this.run(() => this.#purge(batchId));
  }

  /** Runs a task after the running purges; the caller does not wait for it. */
  run(task: () => Promise<void>): void {
    // The turn logs a refused step; the mark stays, and the next start continues.
    this.#work = this.#work.then(() => (this.#isStopped ? undefined : task())).catch(() => {});
  }

  /** Resolves when no task runs. The next start continues the remaining purges. */
  async close(): Promise<void> {
    this.#isStopped = true;
    await this.idle();
  }

  /** Resolves when the records of all deleted studies are gone. */
  async idle(): Promise<void> {
    for (let seen; seen !== this.#work; await seen) seen = this.#work;
  }

  async #purge(batchId: Uuid): Promise<void> {
    const { store, turns } = this.#parts;
    const ranges = [
      ...(['job', 'result', 'requeue', 'outbox'] as const).map((kind) => ofBatch(kind, batchId)),
      historiesOf(batchId),
      ...ROUND_KINDS.map((kind) => roundsOf(kind, batchId)),
    ];
    for (const range of ranges) {
      for (;;) {
        if (this.#isStopped) return;
        const found = await this.#first(range);
        const last = found.at(-1);
        if (last === undefined) break;
        await turns.run('purge', (turn) => found.forEach((key) => turn.put(key, null)));
        this.#deleted += found.length;
        // The next key that there can be.
        range.gte = `${last}\0`;
      }
    }
    await turns.run('purge', (turn) => turn.put(keys.deletion(batchId), null));
    if (this.#deleted < COMPACT_AFTER) return;
    this.#deleted = 0;
    await store.compact?.(allOf('job'));
    await store.compact?.(allOf('result'));
    await store.compact?.(allOf('history'));
  }

  /**
   * The first keys of the range. Their view is closed before they are deleted: LevelDB keeps a deleted record that an open view can
   * see, and keeps it for good once it has moved it to its last level.
   */
  async #first(range: KeyRange): Promise<string[]> {
    const { share, store } = this.#parts;
    const view = store.snapshot();
    try {
      for await (const chunk of share.paced(view.entries(range, { chunkSize: STEP }))) return chunk.map(([key]) => key);
      return [];
    } finally {
      await view.close();
    }
  }
}

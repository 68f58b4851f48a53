/**
 * Deletes ended studies with their jobs and results, and forgets runners that are gone. One turn hides a study from every
 * reader and leaves a mark; its records are then deleted in small steps, and the mark last. After a crash in between the
 * next start finds the mark and continues.
 */
import { SimbatchError } from '../../domain/errors.ts';
import type { Batch, Runner, Uuid } from '../../contract/types.ts';
import type { Core } from '../core.ts';
import { stateOf } from '../actors/directory.ts';
import { allOf, idOf, keys, ofBatch } from './keys.ts';
import { batchOrThrow } from '../operations/cancel.ts';
import { runnerOrThrow } from '../operations/pool.ts';
import { toBatch, toRunner } from '../resources/to-resource.ts';
import { decodeBatch, decodeRunner, isTerminal } from '../actors/actor-kinds.ts';

/** Records deleted in one turn: a write of some milliseconds, between which other turns run. */
const STEP = 500;
/** Deletions after which the store is compacted. */
const COMPACT_AFTER = 10_000;

export class Retention {
  readonly #core: Core;
  #deleted = 0;
  #isStopped = false;
  /** The running purges, one after the other. */
  #work: Promise<void> = Promise.resolve();

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Deletes an ended study. Resolves when no reader sees it any more; its records are deleted afterwards.
   * @throws SimbatchError `unknown-batch`, or `illegal-transition` while it has not ended
   */
  async deleteBatch(batchId: Uuid): Promise<Batch> {
    const { turns, groupCommit: commits, directory, studyCache: studies } = this.#core;
    // A change of it that is being written would overwrite the deletion.
    await commits.durable();
    const batch = await turns.run('delete-batch', (turn) => {
      const state = batchOrThrow(turn, batchId);
      if (!isTerminal(state.value)) {
        throw new SimbatchError(
          'illegal-transition',
          `batch ${batchId} is ${state.value}; only an ended batch can be deleted; cancel it first`,
        );
      }
      if (directory.batches.has(batchId)) throw new Error(`the ended batch ${batchId} is still active`);
      turn.put(keys.batch(batchId), null);
      turn.put(keys.submission(batchId), null);
      turn.put(keys.deletion(batchId), '');
      turn.emit({ type: 'batch.deleted', batchId, now: turn.now });
      directory.forgetBatch(batchId);
      studies.forget(batchId);
      return toBatch(state);
    });
    this.#enqueue(batchId);
    return batch;
  }

  /**
   * Forgets a runner that is gone. It may register again as a new one.
   * @throws SimbatchError `unknown-runner`, or `illegal-transition` while it is connected or still holds jobs
   */
  async forgetRunner(runnerId: string): Promise<Runner> {
    const { turns, groupCommit: commits, directory } = this.#core;
    for (;;) {
      await commits.durable();
      const forgotten = await turns.run('forget-runner', (turn) => {
        const { value, context } = runnerOrThrow(turn, runnerId);
        if (value !== 'Offline' || context.held.length > 0) {
          const why = value !== 'Offline' ? `is ${value}` : 'still holds jobs, which are requeued when its lease ends';
          throw new SimbatchError(
            'illegal-transition',
            `runner "${runnerId}" ${why}; only an Offline runner without jobs can be forgotten`,
          );
        }
        const live = directory.runners.get(runnerId);
        // A change of it that is being written would overwrite the deletion.
        if (live !== undefined && commits.holds(live)) return undefined;
        turn.put(keys.runner(runnerId), null);
        turn.emit({ type: 'runner.forgotten', runnerId, now: turn.now });
        directory.forgetRunner(runnerId);
        this.#core.longPolls.forget(runnerId);
        return toRunner({ value, context });
      });
      if (forgotten !== undefined) return forgotten;
    }
  }

  /** Starts a sweep after the running purges, and does not wait for it: a tick must not wait. */
  sweepLater(): void {
    if (this.#core.options.retainMs !== undefined) this.#do(() => this.sweep());
  }

  /** Continues the deletions that a stop interrupted. */
  async resume(): Promise<void> {
    const snapshot = this.#core.store.snapshot();
    try {
      for await (const chunk of snapshot.entries(allOf('deletion')))
        for (const [key] of chunk) this.#enqueue(idOf(key));
    } finally {
      await snapshot.close();
    }
  }

  /** Deletes studies that ended, and forgets runners last seen, before the retention time. */
  async sweep(): Promise<void> {
    const { retainMs } = this.#core.options;
    if (retainMs === undefined) return;
    const before = this.#core.clock.now() - retainMs;
    const snapshot = this.#core.store.snapshot();
    try {
      for await (const chunk of snapshot.entries(allOf('batch'))) {
        for (const [, record] of chunk) {
          if (this.#isStopped) return;
          const { value, context } = decodeBatch(record);
          const isOld = isTerminal(value) && (context.endedAtMs ?? Infinity) < before;
          if (isOld) await unlessGone(this.deleteBatch(context.batchId));
        }
      }
      for await (const chunk of snapshot.entries(allOf('runner'))) {
        for (const [, record] of chunk) {
          const { context } = decodeRunner(record);
          const live = this.#core.directory.runners.get(context.runnerId);
          // An operator's drain of this runner outlives its absence.
          const isGone = live !== undefined && stateOf(live).value === 'Offline' && !context.drained;
          if (isGone && context.lastHeartbeatMs < before) await unlessGone(this.forgetRunner(context.runnerId));
        }
      }
    } finally {
      await snapshot.close();
    }
  }

  /** Resolves when no purge runs. The next start continues the remaining ones. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.idle();
  }

  /** Resolves when the records of all deleted studies are gone. */
  async idle(): Promise<void> {
    for (let seen; seen !== this.#work; await seen) seen = this.#work;
  }

  #enqueue(batchId: Uuid): void {
    this.#do(() => this.#purge(batchId));
  }

  #do(task: () => Promise<void>): void {
    // The turn logs a refused step; the mark stays, and the next start continues.
    this.#work = this.#work.then(() => (this.#isStopped ? undefined : task())).catch(() => {});
  }

  async #purge(batchId: Uuid): Promise<void> {
    const { store, turns } = this.#core;
    const snapshot = store.snapshot();
    try {
      for (const kind of ['job', 'result', 'requeue'] as const) {
        for await (const chunk of snapshot.entries(ofBatch(kind, batchId), { chunkSize: STEP })) {
          if (this.#isStopped) return;
          await turns.run('purge', (turn) => chunk.forEach(([key]) => turn.put(key, null)));
          this.#deleted += chunk.length;
        }
      }
    } finally {
      await snapshot.close();
    }
    await turns.run('purge', (turn) => turn.put(keys.deletion(batchId), null));
    if (this.#deleted < COMPACT_AFTER) return;
    this.#deleted = 0;
    await store.compact?.(allOf('job'));
    await store.compact?.(allOf('result'));
  }
}

/** Skips an actor that changed since it was read; the next sweep sees it. */
async function unlessGone(deletion: Promise<unknown>): Promise<void> {
  await deletion.catch((error: unknown) => {
    const { code } = error as { code?: string };
    if (code !== 'illegal-transition' && code !== 'unknown-batch' && code !== 'unknown-runner') throw error;
  });
}

/**
 * Ids for new batches, each above all that were given before: batches sort in the order of their submission, whether they
 * come in the same millisecond, after the clock was set back or after a restart.
 */
import { newBatchId, nextBatchId } from '../../domain/ids.ts';
import type { Uuid } from '../../contract/types.ts';
import { allOf, idOf } from './keys.ts';
import type { StoreView } from './store.ts';

export class BatchIdGenerator {
  #highest: Uuid = '';

  /** Goes on above the batches that are stored. */
  async restore(snapshot: StoreView): Promise<void> {
    for await (const [last] of snapshot.entries(allOf('batch'), { reverse: true, chunkSize: 1 })) {
      if (last !== undefined) this.#highest = idOf(last[0]);
      return;
    }
  }

  /** A new id. `random`: at least 6 bytes. */
  next(nowMs: number, random: Uint8Array): Uuid {
    const fresh = newBatchId(nowMs, random);
    this.#highest = fresh > this.#highest ? fresh : nextBatchId(this.#highest);
    return this.#highest;
  }
}

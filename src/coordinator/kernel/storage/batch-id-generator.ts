/**
 * Generates batch ids, each above all earlier ones: batches sort in the order of submission, also within one millisecond,
 * after the clock was set back and after a restart.
 */
import { newBatchId, nextBatchId } from '../../../domain/ids.ts';
import type { Uuid } from '../../../contract/types.ts';
import { allOf, idOf } from './keys.ts';
import type { StoreView } from './store.ts';

export class BatchIdGenerator {
  #highest: Uuid = '';

  /** Continues above the stored batches, of which the last may be damaged: its id is in its key. */
  async restore(snapshot: StoreView): Promise<void> {
    const found = (key: string): void => {
      if (idOf(key) > this.#highest) this.#highest = idOf(key);
    };
    for await (const [last] of snapshot.entries(allOf('batch'), { reverse: true, chunkSize: 1, onDamage: found })) {
      if (last !== undefined) found(last[0]);
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

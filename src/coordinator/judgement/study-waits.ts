/** Requests that wait for the end of a study. It follows from committed facts, and is empty after a restart, as its requests are gone. */
import type { Fact } from '../../../machines/protocol.ts';
import type { Abandoned } from '../../base/abandonment.ts';
import { Waiters } from '../../base/async/waiters.ts';
import type { Clock } from '../../base/clock.ts';
import type { Uuid } from '../../contract/types.ts';
import { isDamage } from '../../domain/errors.ts';
import type { Judgements } from './judgements.ts';
import type { Directory } from '../kernel/actors/directory.ts';
import { isTerminal, type BatchState } from '../kernel/actors/actor-kinds.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { awaitsClient } from '../kernel/records/to-resource.ts';
import type { Store } from '../kernel/storage/store.ts';

interface WaitParts {
  clock: Clock;
  store: Store;
  directory: Pick<Directory, 'state'>;
  judgements: Pick<Judgements, 'isFinal'>;
}

export class StudyWaits {
  readonly #parts: WaitParts;
  readonly #waiting: Waiters;

  constructor(parts: WaitParts) {
    this.#parts = parts;
    this.#waiting = new Waiters(parts.clock);
  }

  committed(facts: readonly Fact[]): void {
    if (this.#waiting.isEmpty) return;
    const changed = new Set<Uuid>();
    for (const fact of facts) if ('batchId' in fact && this.#waiting.has(fact.batchId)) changed.add(fact.batchId);
    for (const batchId of changed) if (this.#isOverNow(batchId)) this.#waiting.release(batchId);
  }

  /** True also where a record is damaged: the answer reports it. */
  #isOverNow(batchId: Uuid): boolean {
    try {
      const state = this.#parts.directory.state('batch', batchId);
      return state === undefined || this.#isOver(state);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return true;
    }
  }

  /**
   * Resolves when the study has ended and is judged, waits for rows or for the decision about a failed canary, after `waitMs`, or when the client has disconnected.
   * @throws SimbatchError `unknown-batch`
   */
  async wait(batchId: Uuid, waitMs: number, abandoned?: Abandoned): Promise<void> {
    if (!this.#isOver(readBatch(this.#parts.store, batchId))) await this.#waiting.wait(batchId, waitMs, abandoned);
  }

  #isOver(state: BatchState): boolean {
    const { store, judgements } = this.#parts;
    return isTerminal(state.value) ? judgements.isFinal(state) : awaitsClient((key) => store.get(key), state);
  }

  /** Answers all waiting requests. */
  close(): void {
    this.#waiting.close();
  }
}

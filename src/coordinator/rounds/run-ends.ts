/** Requests that wait for the end of runs of any rounds. It follows from committed facts, and is empty after a restart, as its requests are gone. */
import type { Fact } from '../../../machines/protocol.ts';
import type { Abandoned } from '../../base/abandonment.ts';
import { untilEnded } from '../../base/async/waiters.ts';
import type { Clock } from '../../base/clock.ts';
import type { Uuid } from '../../contract/types.ts';

/** A request that waits. */
export interface RunsWait {
  batchId: Uuid;
  runs: readonly number[];
  /** Its runs that have not ended, as far as is known. */
  open: Set<number>;
  resolve: () => void;
}

export class RunEnds {
  readonly #clock: Clock;
  readonly #byRun = new Map<Uuid, Map<number, Set<RunsWait>>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  committed(facts: readonly Fact[]): void {
    if (this.#byRun.size === 0) return;
    for (const fact of facts) {
      if (fact.type === 'job.ended') {
        for (const wait of this.#byRun.get(fact.batchId)?.get(fact.runId) ?? []) {
          wait.open.delete(fact.runId);
          if (wait.open.size === 0) wait.resolve();
        }
      } else if (fact.type === 'batch.cancelling' || fact.type === 'batch.ended') {
        // Untouched runs are cancelled by number, without a fact of their own.
        for (const waits of this.#byRun.get(fact.batchId)?.values() ?? []) {
          for (const wait of waits) {
            wait.open.clear();
            wait.resolve();
          }
        }
      }
    }
  }

  /** Takes the ends of these runs from now on, so that none is missed between a reading and the wait. `end` must be called. */
  watch(batchId: Uuid, runs: readonly number[]): RunsWait {
    const wait: RunsWait = { batchId, runs, open: new Set(runs), resolve: () => {} };
    let ofBatch = this.#byRun.get(batchId);
    if (ofBatch === undefined) this.#byRun.set(batchId, (ofBatch = new Map()));
    for (const run of runs) {
      const waits = ofBatch.get(run);
      if (waits === undefined) ofBatch.set(run, new Set([wait]));
      else waits.add(wait);
    }
    return wait;
  }

  end(wait: RunsWait): void {
    const ofBatch = this.#byRun.get(wait.batchId);
    if (ofBatch === undefined) return;
    for (const run of wait.runs) {
      const waits = ofBatch.get(run);
      waits?.delete(wait);
      if (waits?.size === 0) ofBatch.delete(run);
    }
    if (ofBatch.size === 0) this.#byRun.delete(wait.batchId);
    wait.resolve();
  }

  /** Resolves when all runs have ended, when the study was cancelled, after `waitMs`, or when the client has disconnected. */
  until(wait: RunsWait, waitMs: number, abandoned?: Abandoned): Promise<void> {
    if (wait.open.size === 0) return Promise.resolve();
    return untilEnded(this.#clock, waitMs, abandoned, (end) => {
      wait.resolve = end;
      return () => {};
    });
  }

  /** Answers all waiting requests. */
  close(): void {
    for (const ofBatch of this.#byRun.values())
      for (const waits of ofBatch.values()) for (const wait of waits) wait.resolve();
  }
}

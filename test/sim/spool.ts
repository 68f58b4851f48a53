/** The outcomes that a runner must not forget: an abstraction of its spool, with the model of power loss. */
import type { AttemptRef, OutcomeReport, ReleaseReport } from '../../src/contract/types.ts';

export type Outcome = OutcomeReport | ReleaseReport;

const keyOf = ({ job_id, attempt }: AttemptRef): string => `${job_id} ${attempt}`;

export class SimSpool {
  readonly #durable = new Map<string, Outcome>();
  readonly #unsynced = new Map<string, Outcome>();

  put(outcome: Outcome, { sync }: { sync: boolean }): void {
    (sync ? this.#durable : this.#unsynced).set(keyOf(outcome), outcome);
  }

  /** The outcome that the next process finds. */
  find(attempt: AttemptRef): Outcome | undefined {
    return this.#durable.get(keyOf(attempt)) ?? this.#unsynced.get(keyOf(attempt));
  }

  losePower(): void {
    this.#unsynced.clear();
  }
}

/** Serves the pending long polls after the running requests, when work or capacity may have been added. */
import { servePendingPolls, type ClaimParts } from './claims.ts';

export class PendingPolls {
  readonly #parts: ClaimParts;
  #isScheduled = false;

  constructor(parts: ClaimParts) {
    this.#parts = parts;
  }

  schedule(): void {
    const { longPolls, scheduler, crowded } = this.#parts;
    if (this.#isScheduled || longPolls.size === 0 || (!scheduler.hasWork && crowded.size === 0)) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      servePendingPolls(this.#parts).catch(() => {
        // The turn or the failed write has logged the error; the polls keep waiting.
      });
    });
  }

  tick(): void {
    this.schedule();
  }
}

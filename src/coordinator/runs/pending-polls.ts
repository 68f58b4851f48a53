/** Serves the pending long polls after the running requests, when work or capacity may have been added. */
import type { Clock } from '../../base/clock.ts';
import { servePendingPolls, type ClaimParts } from './claims.ts';

export class PendingPolls {
  readonly #parts: ClaimParts & { clock: Pick<Clock, 'soon'> };
  #isScheduled = false;

  constructor(parts: ClaimParts & { clock: Pick<Clock, 'soon'> }) {
    this.#parts = parts;
  }

  schedule(): void {
    const { longPolls, scheduler, crowded, taking, clock } = this.#parts;
    if (this.#isScheduled || longPolls.size === 0 || (!scheduler.hasWork && crowded.size === 0)) return;
    this.#isScheduled = true;
    // Thousands of known results are taken turn by turn: requests come between these.
    const schedule = taking.continues ? (action: () => void) => clock.soon(action) : queueMicrotask;
    taking.continues = false;
    schedule(() => {
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

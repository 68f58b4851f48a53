/** The deadlines of actors: they are restored with their actors, and each that has expired is sent in a turn. */
import type { DueDeadline } from '../../../machines/protocol.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import { updateIndex } from './indexes.ts';
import { recover, type RecoveryParts } from './recovery.ts';

interface DeadlineParts extends RecoveryParts {
  turns: Turns;
}

export class Deadlines {
  readonly #parts: DeadlineParts;
  readonly #send: (due: DueDeadline, turn: Turn) => void;

  /** @param send reports an expired deadline, within a turn. */
  constructor(parts: DeadlineParts, send: (due: DueDeadline, turn: Turn) => void) {
    this.#parts = parts;
    this.#send = send;
  }

  restore(): Promise<void> {
    return recover(this.#parts);
  }

  async tick(now: number): Promise<void> {
    const { deadlines, turns } = this.#parts;
    const written: Promise<void>[] = [];
    // Each deadline has a turn of its own, so that a turn that fails does not block the other deadlines.
    for (const due of deadlines.due(now)) {
      try {
        written.push(turns.runNow('tick', (turn) => this.#send(due, turn)).written);
      } catch (error) {
        // The turn has logged the refusal.
        if (!(error instanceof SimbatchError)) throw error;
      }
      this.#requeue(due);
    }
    await Promise.all(written);
  }

  /** Queues a deadline again that was not acted on, because its turn was rolled back or the clock was set back. */
  #requeue({ address }: DueDeadline): void {
    const { directory } = this.#parts;
    for (const live of [directory.jobs, directory.batches, directory.runners, directory.notifications]) {
      const activation = live.get(address.slice(address.indexOf('/') + 1));
      if (activation?.deadline === undefined && activation?.address === address) updateIndex(this.#parts, activation);
    }
  }
}

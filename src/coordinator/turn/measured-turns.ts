/** Turns with timing: reports the outcome and the duration of each turn to an observer. */
import { SimbatchError } from '../../domain/errors.ts';
import { Turns, type Turn } from './turn.ts';
import { stopwatch } from '../../base/clock.ts';

/** `refused`: the operation was not allowed and changed nothing. `fault`: it threw and was rolled back. */
export type TurnOutcome = 'done' | 'refused' | 'fault';

export type TurnObserver = (operation: string, outcome: TurnOutcome, secs: number) => void;

export class MeasuredTurns extends Turns {
  readonly #observe: TurnObserver;

  constructor(parts: ConstructorParameters<typeof Turns>[0], observe: TurnObserver) {
    super(parts);
    this.#observe = observe;
  }

  override runNow<T>(operation: string, body: (turn: Turn) => T): { value: T; written: Promise<void> } {
    const startedMs = stopwatch();
    let outcome: TurnOutcome = 'done';
    try {
      return super.runNow(operation, body);
    } catch (error) {
      outcome = error instanceof SimbatchError && error.code !== 'internal' ? 'refused' : 'fault';
      throw error;
    } finally {
      this.#observe(operation, outcome, (stopwatch() - startedMs) / 1000);
    }
  }
}

/** Turns with a report: the operation, outcome, duration, facts and changed actors of each turn go to an observer. */
import type { Fact } from '../../../../machines/protocol.ts';
import { SimbatchError, type ErrorCode } from '../../../domain/errors.ts';
import type { Activation } from '../actors/directory.ts';
import { Turns, type Turn } from './turn.ts';
import { stopwatch } from '../../../base/clock.ts';

/** `refused`: the operation was not allowed and changed nothing. `fault`: it threw and was rolled back. */
export type TurnOutcome = 'done' | 'refused' | 'fault';

export interface TurnReport {
  operation: string;
  outcome: TurnOutcome;
  /** Time of the turn without its write, in seconds. */
  secs: number;
  /** The facts of the turn, in order; empty unless it is done. */
  facts: readonly Fact[];
  /** The actors that the turn changed; empty unless it is done. */
  actors: readonly Pick<Activation, 'address'>[];
  /** The code of the refusal. */
  code?: ErrorCode;
}

export type TurnObserver = (report: TurnReport) => void;

const NO_CHANGES: Pick<TurnReport, 'facts' | 'actors'> = { facts: [], actors: [] };

export class MeasuredTurns extends Turns {
  readonly #observe: TurnObserver;
  readonly #latest: { changes: Pick<TurnReport, 'facts' | 'actors'> };

  constructor(parts: ConstructorParameters<typeof Turns>[0], observe: TurnObserver) {
    const { listener } = parts;
    const latest = { changes: NO_CHANGES };
    super({
      ...parts,
      listener: {
        ending: (facts, turn) => listener.ending(facts, turn),
        faulted: (operation, error) => listener.faulted(operation, error),
        completed: (actors, facts) => {
          latest.changes = { facts, actors };
          listener.completed(actors, facts);
        },
      },
    });
    this.#latest = latest;
    this.#observe = observe;
  }

  override runNow<T>(operation: string, body: (turn: Turn) => T, actor?: string): { value: T; written: Promise<void> } {
    const startedMs = stopwatch();
    this.#latest.changes = NO_CHANGES;
    const report = (outcome: TurnOutcome): TurnReport => {
      const secs = (stopwatch() - startedMs) / 1000;
      return { operation, outcome, secs, ...(outcome === 'done' ? this.#latest.changes : NO_CHANGES) };
    };
    let result: { value: T; written: Promise<void> };
    try {
      result = super.runNow(operation, body, actor);
    } catch (error) {
      const isRefusal = error instanceof SimbatchError && error.code !== 'internal';
      this.#observe(isRefusal ? { ...report('refused'), code: error.code } : report('fault'));
      throw error;
    }
    this.#observe(report('done'));
    return result;
  }
}

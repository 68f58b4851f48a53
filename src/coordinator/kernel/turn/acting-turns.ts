/** Turns on behalf of a client: the studies that they create have it as owner, and the entries that they make in histories name it. */
import { Turns, type Turn } from './turn.ts';

export class ActingTurns extends Turns {
  readonly #turns: Turns;
  readonly #actor: string;

  constructor(turns: Turns, actor: string) {
    super(turns.parts);
    this.#turns = turns;
    this.#actor = actor;
  }

  override get actor(): string {
    return this.#actor;
  }

  override runNow<T>(operation: string, body: (turn: Turn) => T): { value: T; written: Promise<void> } {
    return this.#turns.runNow(operation, body, this.#actor);
  }
}

/** The member of an event that names the client of the turn; none without one. */
export const byActor = ({ actor }: Pick<Turn, 'actor'>): { by?: string } => (actor === undefined ? {} : { by: actor });

/** The bounds on the results that one turn takes, and on those of one write: no turn and no write holds the event loop for long. */
import type { Clock } from '../../base/clock.ts';
import { TAKEN_AT_ONCE } from '../../domain/rules.ts';

/** The time after which a turn leaves further runs to the next one. */
const TURN_MS = 2;
/** Characters of results that one turn copies, or a little more. */
const MOST_CHARS = 262_144;

/** One for a coordinator. At most one turn with taken results waits for the disk, so that no write has the results of many turns. */
export class Taking {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #serve: () => void;
  #startedMs = 0;
  #results = 0;
  #chars = 0;
  #isWriting = false;
  /** Runs of studies that take results were left to a later turn. */
  #hasLeft = false;

  /** @param serve gives work to the claims that wait, in a turn of its own. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, serve: () => void) {
    this.#clock = clock;
    this.#serve = serve;
  }

  /** Begins a turn. */
  begin(): void {
    this.#startedMs = this.#clock.monotonicMs();
    this.#results = 0;
    this.#chars = 0;
  }

  /** True when further runs of studies that take results are left to a later turn. Stays true until the turn ends. */
  get isFull(): boolean {
    if (this.#isWriting || this.#results >= TAKEN_AT_ONCE || this.#chars > MOST_CHARS) return true;
    return this.#clock.monotonicMs() - this.#startedMs >= TURN_MS;
  }

  /** Counts a taken result with its length as JSON. */
  count(chars: number): void {
    this.#results += 1;
    this.addChars(chars);
  }

  /** Counts the characters of another record of a taken result. */
  addChars(chars: number): void {
    this.#chars += chars;
  }

  /** Leaves runs to a later turn. */
  leave(): void {
    this.#hasLeft = true;
  }

  /** Ends a turn. The runs that were left have their turn when its changes are on the disk. */
  end(written: Promise<void>): void {
    const hasTaken = this.#results > 0;
    this.#results = 0;
    if (this.#isWriting || !(hasTaken || this.#hasLeft)) return;
    this.#isWriting = true;
    const onDisk = (): void => {
      this.#isWriting = false;
      if (!this.#hasLeft) return;
      this.#hasLeft = false;
      this.#serve();
    };
    written.then(onDisk, onDisk);
  }
}

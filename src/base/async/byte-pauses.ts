/** Pauses within long work on texts, so that no turn of the event loop handles more than about a mebibyte. */
import { systemClock } from '../clock.ts';

const PAUSE_EVERY = 1024 * 1024;

/** Counts characters; the work continues when the promise resolves. */
export class BytePauses {
  #since = 0;

  /** Call before work on so many characters. Undefined while little was done in this turn. */
  before(characters: number): Promise<void> | undefined {
    const isDue = this.#since > 0 && this.#since + characters > PAUSE_EVERY;
    this.#since = isDue ? characters : this.#since + characters;
    return isDue ? new Promise((resolve) => systemClock.soon(resolve)) : undefined;
  }
}

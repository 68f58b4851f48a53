/** Limits how many files are read at once. */
import { SimbatchError } from '../../domain/errors.ts';

export class ReadingLimit {
  readonly #most: number;
  readonly #noun: string;
  #readings = 0;

  /** @param noun what is read, in the plural, for the refusal of one too many. */
  constructor(most: number, noun: string) {
    this.#most = most;
    this.#noun = noun;
  }

  /** Counts a reading until the returned function is called. @throws SimbatchError `too-many-requests` */
  begin(): () => void {
    if (this.#readings >= this.#most) {
      throw new SimbatchError(
        'too-many-requests',
        `${String(this.#most)} ${this.#noun} are being read, the limit; try again later`,
      );
    }
    this.#readings += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.#readings -= 1;
      isOver = true;
    };
  }
}

/** The outcomes of runs that ended before the complete prefix reached them, a byte for each run and requirement. */
import { OUTCOMES, type Outcome } from '../../analysis/requirements/requirement.ts';

/** Runs of one chunk. A chunk is made when its first run ends, and dropped when the prefix has passed it. */
const CHUNK = 4096;

/** Letters of outcomes, in the order of `OUTCOMES`: the outcome of a run under each requirement is one text. */
const LETTERS = '-pfux';

/** The letter of an outcome. */
export const letterOf = (outcome: Outcome): string => LETTERS[OUTCOMES.indexOf(outcome)]!;

/** The memory is a byte for each run and requirement, in chunks after the prefix that have an ended run. */
export class PendingOutcomes {
  readonly #width: number;
  readonly #chunks = new Map<number, Uint8Array>();

  /** `width`: the number of requirements. */
  constructor(width: number) {
    this.#width = width;
  }

  /** `letters`: the outcome under each requirement. */
  set(index: number, letters: string): void {
    const number = Math.floor(index / CHUNK);
    let chunk = this.#chunks.get(number);
    if (chunk === undefined) this.#chunks.set(number, (chunk = new Uint8Array(CHUNK * this.#width)));
    const at = (index % CHUNK) * this.#width;
    for (let requirement = 0; requirement < this.#width; requirement++)
      chunk[at + requirement] = LETTERS.indexOf(letters[requirement]!);
  }

  /** `open` for a run of which none is known. */
  get(index: number, requirement: number): Outcome {
    const chunk = this.#chunks.get(Math.floor(index / CHUNK));
    return OUTCOMES[chunk?.[(index % CHUNK) * this.#width + requirement] ?? 0]!;
  }

  /** How many runs from this one on, up to the end of their chunk, have no outcome. */
  absentFrom(index: number): number {
    const end = (Math.floor(index / CHUNK) + 1) * CHUNK;
    if (!this.#chunks.has(Math.floor(index / CHUNK))) return end - index;
    let next = index;
    while (next < end && this.get(next, 0) === 'open') next++;
    return next - index;
  }

  /** Forgets the runs before this one. */
  dropBefore(index: number): void {
    if (index % CHUNK === 0) this.#chunks.delete(index / CHUNK - 1);
  }

  clear(): void {
    this.#chunks.clear();
  }
}

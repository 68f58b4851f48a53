/** The outcomes of runs that ended before the complete prefix reached them: a byte for each run and requirement, 8 for each precision. */
import { OUTCOMES, type Outcome } from '../../analysis/requirements/requirement.ts';

/** Runs of one chunk. A chunk is made when its first run ends, and dropped when the prefix has passed it. */
const CHUNK = 4096;

/** Letters of outcomes, in the order of `OUTCOMES`. */
const LETTERS = '-pfux';

/** The letter of an outcome. */
export const letterOf = (outcome: Outcome): string => LETTERS[OUTCOMES.indexOf(outcome)]!;

/**
 * The outcomes of a run as one text: a letter for each requirement; of a study with precisions one more, `p`, or `x` for a cancelled run, and after
 * it a comma and the value for each precision, empty where it is not known.
 */
export const outcomesText = (letters: string, values: readonly number[]): string =>
  [letters, ...values.map((it) => (Number.isNaN(it) ? '' : String(it)))].join(',');

interface Chunk {
  letters: Uint8Array;
  values: Float64Array;
}

/** The memory is in chunks after the prefix that have an ended run. */
export class PendingOutcomes {
  readonly #width: number;
  readonly #precisions: number;
  readonly #chunks = new Map<number, Chunk>();

  /** The numbers of requirements and of precisions; one of them is above 0. */
  constructor(requirements: number, precisions: number) {
    this.#width = requirements + (precisions === 0 ? 0 : 1);
    this.#precisions = precisions;
  }

  /** `outcomes`: of `outcomesText`. */
  set(index: number, outcomes: string): void {
    const number = Math.floor(index / CHUNK);
    let chunk = this.#chunks.get(number);
    if (chunk === undefined) {
      chunk = {
        letters: new Uint8Array(CHUNK * this.#width),
        values: new Float64Array(CHUNK * this.#precisions),
      };
      this.#chunks.set(number, chunk);
    }
    const run = index % CHUNK;
    for (let at = 0; at < this.#width; at++) chunk.letters[run * this.#width + at] = LETTERS.indexOf(outcomes[at]!);
    if (this.#precisions === 0) return;
    const values = outcomes.split(',');
    for (let at = 0; at < this.#precisions; at++)
      chunk.values[run * this.#precisions + at] = values[at + 1] ? Number(values[at + 1]) : Number.NaN;
  }

  /** `open` for a run of which none is known. The letter after those of the requirements is that of the precisions. */
  get(index: number, place: number): Outcome {
    const chunk = this.#chunks.get(Math.floor(index / CHUNK));
    return OUTCOMES[chunk?.letters[(index % CHUNK) * this.#width + place] ?? 0]!;
  }

  /** The value of a run under a precision; NaN where it is not known. */
  value(index: number, precision: number): number {
    const chunk = this.#chunks.get(Math.floor(index / CHUNK));
    return chunk?.values[(index % CHUNK) * this.#precisions + precision] ?? Number.NaN;
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

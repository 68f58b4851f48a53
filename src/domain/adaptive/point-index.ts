/** Finds the runs of a row among all rows of a study. Rows are told apart by 128 bits of the SHA-256 of their bytes. Pure. */
import { hash } from 'node:crypto';
import type { RowBlock } from './rows.ts';

/** 32-bit words of the hash of a row. */
export const HASH_WORDS = 4;
/** Words of an entry: the hash, the first run and the last run plus one; the last word is 0 where there is no entry. */
const ENTRY_WORDS = HASH_WORDS + 2;
/** A table that becomes too small is written anew at once, so each is a small part of the whole. */
const TABLES = 256;
const SMALLEST_TABLE = 16;

/** The runs that have a row; both are the same run where there is only one. */
export interface PointRuns {
  first: number;
  last: number;
}

/** Returns the hashes of rows `from` to `to` (excluded) of a block, `HASH_WORDS` each. -0 and 0 differ. */
export function hashRows({ values, rows }: RowBlock, from: number, to: number): Uint32Array {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  const size = bytes.length / rows;
  const words = new Uint32Array((to - from) * HASH_WORDS);
  for (let row = from; row < to; row++) {
    const digest = hash('sha256', bytes.subarray(row * size, (row + 1) * size), 'buffer');
    for (let word = 0; word < HASH_WORDS; word++)
      words[(row - from) * HASH_WORDS + word] = digest.readUInt32LE(word * 4);
  }
  return words;
}

/** Hash tables with linear probing: 24 bytes an entry, at most two thirds full. */
export class PointIndex {
  readonly #tables = Array.from({ length: TABLES }, () => new Uint32Array(SMALLEST_TABLE * ENTRY_WORDS));
  readonly #used = new Uint32Array(TABLES);
  #size = 0;

  /** The number of different rows. */
  get size(): number {
    return this.#size;
  }

  /** The runs of the row whose hash begins at `at`; undefined for an unknown row. */
  find(words: Uint32Array, at: number): PointRuns | undefined {
    const table = this.#tables[words[at]! % TABLES]!;
    const place = placeOf(table, words, at);
    const end = table[place + HASH_WORDS + 1]!;
    return end === 0 ? undefined : { first: table[place + HASH_WORDS]!, last: end - 1 };
  }

  /** Adds a run of a row. Runs are added in ascending order. */
  add(words: Uint32Array, at: number, run: number): void {
    const number = words[at]! % TABLES;
    let table = this.#tables[number]!;
    let place = placeOf(table, words, at);
    if (table[place + HASH_WORDS + 1] === 0) {
      this.#size += 1;
      this.#used[number]! += 1;
      if (this.#used[number]! * ENTRY_WORDS * 3 > table.length * 2) {
        table = this.#tables[number] = grown(table);
        place = placeOf(table, words, at);
      }
      table.set(words.subarray(at, at + HASH_WORDS), place);
      table[place + HASH_WORDS] = run;
    }
    table[place + HASH_WORDS + 1] = run + 1;
  }
}

/** The place of the entry with the hash, or the free one where it belongs. */
function placeOf(table: Uint32Array, words: Uint32Array, at: number): number {
  const entries = table.length / ENTRY_WORDS;
  for (let entry = words[at + 1]! % entries; ; entry = (entry + 1) % entries) {
    const place = entry * ENTRY_WORDS;
    if (table[place + HASH_WORDS + 1] === 0) return place;
    let word = 0;
    while (word < HASH_WORDS && table[place + word] === words[at + word]) word++;
    if (word === HASH_WORDS) return place;
  }
}

function grown(table: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(table.length * 2);
  for (let place = 0; place < table.length; place += ENTRY_WORDS) {
    if (table[place + HASH_WORDS + 1] === 0) continue;
    larger.set(table.subarray(place, place + ENTRY_WORDS), placeOf(larger, table, place));
  }
  return larger;
}

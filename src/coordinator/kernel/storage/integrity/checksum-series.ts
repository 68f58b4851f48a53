/**
 * Checksums of a series of records. Runs that one request moves have the same value: its checksum is computed once and combined
 * with that of each key, which takes a sixth of the time of a checksum over both.
 */
import { crc32 } from 'node:zlib';
import { checksum, checksumAfter, hexadecimal } from './checksum.ts';
import { BYTES, multiplesOf, multiplied, shiftBy, type Multiples } from './crc-arithmetic.ts';

const LINE_FEED = 10;
const MAX_ASCII = 127;

/** The characters at the end of a key that distinguish the runs of a study. */
const TAIL = 8;

/** Multiples of the shifts by numbers of bytes: records of runs have a few lengths. A slot is replaced by another length. */
const KEPT_SHIFTS = 64;
const shifts = Array.from({ length: KEPT_SHIFTS }, () => ({ bytes: -1, multiples: new Int32Array(0) }));

function shiftsBy(bytes: number): Multiples {
  const slot = shifts[bytes % KEPT_SHIFTS]!;
  if (slot.bytes !== bytes) {
    slot.bytes = bytes;
    slot.multiples = multiplesOf(shiftBy(bytes));
  }
  return slot.multiples;
}

/** Returns the state of a checksum after the characters `[from, to)` of the text; undefined when one is not ASCII. */
function advanced(state: number, text: string, from: number, to: number): number | undefined {
  let sum = state;
  let bits = 0;
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    bits |= code;
    sum = (sum >>> 8) ^ BYTES[(sum ^ code) & 0xff]!;
  }
  return bits > MAX_ASCII ? undefined : sum;
}

/** Computes the same checksums as `checksum`, faster for records with the value of the record before. */
export class ChecksumSeries {
  #value: string | undefined;
  /** The checksum of `#value`; undefined until a second record has this value. */
  #shared: { sum: number; shift: Multiples } | undefined;
  /** The beginning of the key before, and the state of its checksum. */
  #prefix = '';
  #afterPrefix: number | 'not computed' | undefined = -1;

  readonly of = (key: string, value: string): string => {
    if (value !== this.#value) {
      this.#value = value;
      this.#shared = undefined;
      const keySum = this.#beginsAsBefore(key) ? this.#sumOfKey(key) : undefined;
      return keySum === undefined ? checksum(key, value) : checksumAfter(keySum, value);
    }
    const keySum = this.#sumOfKey(key);
    if (keySum === undefined) return checksum(key, value);
    this.#shared ??= { sum: crc32(value), shift: shiftsBy(Buffer.byteLength(value)) };
    // CRC-32 of a concatenation, as zlib's crc32_combine computes it.
    return hexadecimal(multiplied(this.#shared.shift, keySum) ^ this.#shared.sum);
  };

  /** True when the key has the length and the beginning of the one before; otherwise the next key may have those of this one. */
  #beginsAsBefore(key: string): boolean {
    const prefix = key.slice(0, Math.max(0, key.length - TAIL));
    if (prefix === this.#prefix) return true;
    this.#prefix = prefix;
    this.#afterPrefix = 'not computed';
    return false;
  }

  /** Returns the CRC-32 of the key and the line feed after it; undefined unless the key is ASCII. */
  #sumOfKey(key: string): number | undefined {
    this.#beginsAsBefore(key);
    const cut = this.#prefix.length;
    if (this.#afterPrefix === 'not computed') this.#afterPrefix = advanced(-1, key, 0, cut);
    const state = this.#afterPrefix === undefined ? undefined : advanced(this.#afterPrefix, key, cut, key.length);
    return state === undefined ? undefined : ~((state >>> 8) ^ BYTES[(state ^ LINE_FEED) & 0xff]!) >>> 0;
  }
}

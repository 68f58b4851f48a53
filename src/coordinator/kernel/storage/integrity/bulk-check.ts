/**
 * Verification of many sealed records at once: one checksum over the bytes of all of them is compared with the sum that follows from
 * the stored checksums. It takes half the time of a checksum for each record, and the bytes are those of the lines to send.
 */
import { crc32 } from 'node:zlib';
import type { Entry } from '../engine.ts';
import { CHECKSUM_LENGTH } from './checksum.ts';
import { appendByte, product, shiftBy } from './crc-arithmetic.ts';

const TAB = 9;
const LINE_FEED = 10;
/** Longer records are rare: the factor of their length is not kept. */
const KEPT_SHIFTS = 0x1_0000;

const encoder = new TextEncoder();
/** The value of each hexadecimal digit; negative for any other character. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code)));
/** By length in bytes: the factor of the checksum of the bytes before a record. */
const shifts: number[] = [];

const shiftOf = (bytes: number): number => (bytes < KEPT_SHIFTS ? (shifts[bytes] ??= shiftBy(bytes)) : shiftBy(bytes));

/** The number that a stored checksum writes; undefined where it is not one. */
function storedSum(sealed: string): number | undefined {
  let sum = 0;
  let digits = sealed.length - CHECKSUM_LENGTH;
  for (let at = 0; at < CHECKSUM_LENGTH; at += 1) {
    const digit = DIGITS[sealed.charCodeAt(at)] ?? -1;
    digits |= digit;
    sum = (sum << 4) | digit;
  }
  return digits < 0 ? undefined : sum;
}

/**
 * The records as lines: key, tab, value, separated by line feeds; keys and values must have none of these. Undefined unless all are
 * ASCII and their checksums match: then each must be verified for itself. A damaged record among them passes with a probability of
 * 2^-32, as with its own checksum.
 */
export function verifiedLines(entries: readonly Entry[]): Uint8Array<ArrayBuffer> | undefined {
  const last = entries.length - 1;
  let text = '';
  let expected = 0;
  for (let at = 0; at <= last; at += 1) {
    const [key, sealed] = entries[at]!;
    const sum = storedSum(sealed);
    if (sum === undefined) return undefined;
    text += `${key}\n`;
    text += sealed.slice(CHECKSUM_LENGTH);
    // CRC-32 of a concatenation, as zlib's crc32_combine computes it.
    expected = product(shiftOf(key.length + 1 + sealed.length - CHECKSUM_LENGTH), expected) ^ sum;
    if (at === last) break;
    text += '\n';
    expected = appendByte(expected, LINE_FEED);
  }
  const bytes = new Uint8Array(text.length);
  // In a third of the time of `encode`, which computes the length first. Beyond ASCII the last characters find no room.
  const { read } = encoder.encodeInto(text, bytes);
  if (read !== text.length || crc32(bytes) !== expected >>> 0) return undefined;
  let line = 0;
  for (const [key, sealed] of entries) {
    // The checksum is over key and value with a line feed between them.
    bytes[line + key.length] = TAB;
    line += key.length + 1 + sealed.length - CHECKSUM_LENGTH + 1;
  }
  return bytes;
}

/** The same lines of values that are not sealed. */
export const linesOf = (entries: readonly Entry[]): Uint8Array<ArrayBuffer> =>
  // Not Buffer.from: its memory may be shared with other buffers and then cannot be transferred.
  encoder.encode(entries.map(([key, value]) => `${key}\t${value}`).join('\n'));

/**
 * Checksums of records: a CRC-32 (ISO 3309) of key and value, eight hexadecimal digits before the value. It covers the key
 * too, so that a record under a wrong key is refused like one with a wrong value.
 */
import { crc32 } from 'node:zlib';

/** Digits before each value. */
export const CHECKSUM_LENGTH = 8;
/** The codes of the hexadecimal digits. */
const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));

/** The checksum of key, line feed and value. In two steps: joined they would be copied, and the value is stored with something else. */
export const checksum = (key: string, value: string): string => checksumAfter(crc32(`${key}\n`), value);

/** The checksum of a text that begins with one of this CRC-32 and ends with the value. */
export const checksumAfter = (sum: number, value: string): string => hexadecimal(crc32(value, sum));

/** The eight digits of a 32-bit number. Made at once: a table of longer parts does not stay in the processor's cache. */
export const hexadecimal = (sum: number): string =>
  String.fromCharCode(
    DIGITS[sum >>> 28]!,
    DIGITS[(sum >>> 24) & 15]!,
    DIGITS[(sum >>> 20) & 15]!,
    DIGITS[(sum >>> 16) & 15]!,
    DIGITS[(sum >>> 12) & 15]!,
    DIGITS[(sum >>> 8) & 15]!,
    DIGITS[(sum >>> 4) & 15]!,
    DIGITS[sum & 15]!,
  );

/** The value as it is stored. */
export const seal = (key: string, value: string): string => checksum(key, value) + value;

/**
 * The value of a stored record; undefined when the checksum does not match. `compute` returns the same checksums as `checksum`.
 */
export function unseal(key: string, sealed: string, compute = checksum): string | undefined {
  const value = sealed.slice(CHECKSUM_LENGTH);
  return sealed.startsWith(compute(key, value)) ? value : undefined;
}

/** The checksum of a sealed value. */
export const checksumOf = (sealed: string): string => sealed.slice(0, CHECKSUM_LENGTH);

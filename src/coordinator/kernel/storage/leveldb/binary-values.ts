/**
 * Values that are bytes on the disk and base64 in the store: a fourth smaller. The checksum before a value stays as it is. Every reader of
 * LevelDB's files takes the text of a value from here.
 */
import { CHECKSUM_LENGTH } from '../integrity/checksum.ts';
import { allOf, type KeyRange } from '../keys.ts';

const BINARY = allOf('history');

/** True for a record whose value is bytes on the disk. */
export const isBinary = (key: string): boolean => key.startsWith(BINARY.gte);

/** True for a range that may have such records. */
export const hasBinary = ({ gte, lt }: KeyRange): boolean => gte < BINARY.lt && lt > BINARY.gte;

/** The bytes of a sealed value, which ends in base64. */
export function toBytes(sealed: string): Buffer {
  const bytes = Buffer.allocUnsafe(CHECKSUM_LENGTH + Math.floor(((sealed.length - CHECKSUM_LENGTH) * 3) / 4));
  bytes.write(sealed, 0, CHECKSUM_LENGTH, 'latin1');
  return bytes.subarray(0, CHECKSUM_LENGTH + bytes.write(sealed.slice(CHECKSUM_LENGTH), CHECKSUM_LENGTH, 'base64'));
}

/** The sealed value of these bytes. */
export const toText = (bytes: Buffer): string =>
  bytes.toString('latin1', 0, CHECKSUM_LENGTH) + bytes.toString('base64', CHECKSUM_LENGTH);

/** The sealed value of a record, whichever it is. */
export const valueText = (key: string, bytes: Buffer): string => (isBinary(key) ? toText(bytes) : bytes.toString());

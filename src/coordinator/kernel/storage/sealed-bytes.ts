/**
 * Records that are bytes on the disk, as they are stored, in one piece of memory for another thread. That thread verifies them: as text they would
 * make the thread that answers requests collect garbage.
 */
import { SimbatchError } from '../../../domain/errors.ts';
import { CHECKSUM_LENGTH, checksum } from './integrity/checksum.ts';

/** A record with its checksum before the value. */
export type SealedEntry = readonly [key: string, sealed: Uint8Array];

/** Lengths of key and value, as numbers of 32 bits, are before each record. */
const LENGTH_BYTES = 4;
const HEAD_BYTES = 2 * LENGTH_BYTES;

/** The records one after the other. Their keys are ASCII. */
export function packed(entries: readonly SealedEntry[]): Uint8Array<ArrayBuffer> {
  const length = entries.reduce((sum, [key, sealed]) => sum + HEAD_BYTES + key.length + sealed.length, 0);
  const bytes = new Uint8Array(length);
  const text = Buffer.from(bytes.buffer);
  const head = new DataView(bytes.buffer);
  let at = 0;
  for (const [key, sealed] of entries) {
    head.setUint32(at, key.length);
    head.setUint32(at + LENGTH_BYTES, sealed.length);
    at += HEAD_BYTES;
    text.write(key, at, 'latin1');
    at += key.length;
    bytes.set(sealed, at);
    at += sealed.length;
  }
  return bytes;
}

/** Yields the records with their values. @throws SimbatchError `store-damaged` where a checksum does not match */
export function* unpacked(chunk: Uint8Array): Generator<{ key: string; value: Buffer }> {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  for (let at = 0; at < bytes.length;) {
    const keyEnd = at + HEAD_BYTES + bytes.readUInt32BE(at);
    const end = keyEnd + bytes.readUInt32BE(at + LENGTH_BYTES);
    const key = bytes.toString('latin1', at + HEAD_BYTES, keyEnd);
    const value = bytes.subarray(keyEnd + CHECKSUM_LENGTH, end);
    // The checksum is of the text that the store knows.
    if (bytes.toString('latin1', keyEnd, keyEnd + CHECKSUM_LENGTH) !== checksum(key, value.toString('base64')))
      throw new SimbatchError(
        'store-damaged',
        `the record ${JSON.stringify(key.slice(0, 200))} is damaged: its checksum does not match; stop the coordinator and run simbatch repair`,
      );
    yield { key, value };
    at = end;
  }
}

/** Writes a file in LevelDB's log format (its doc/log_format.md). */
import { maskedChecksum } from './crc32c.ts';

const BLOCK = 32_768;
const HEADER = 7;
const [FULL, FIRST, MIDDLE, LAST] = [1, 2, 3, 4];

/** The file with these records, in their order. */
export function logOf(records: Iterable<Buffer>): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const record of records) {
    let rest = record;
    for (let isFirst = true; isFirst || rest.length > 0; isFirst = false) {
      const left = BLOCK - (at % BLOCK);
      if (left < HEADER) {
        pieces.push(Buffer.alloc(left));
        at += left;
      }
      const room = BLOCK - (at % BLOCK) - HEADER;
      const payload = rest.subarray(0, room);
      rest = rest.subarray(room);
      const type = isFirst ? (rest.length === 0 ? FULL : FIRST) : rest.length === 0 ? LAST : MIDDLE;
      pieces.push(fragment(type, payload));
      at += HEADER + payload.length;
    }
  }
  return Buffer.concat(pieces);
}

function fragment(type: number, payload: Buffer): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(HEADER), payload]);
  bytes.writeUInt16LE(payload.length, 4);
  bytes[6] = type;
  bytes.writeUInt32LE(maskedChecksum(bytes.subarray(6)), 0);
  return bytes;
}

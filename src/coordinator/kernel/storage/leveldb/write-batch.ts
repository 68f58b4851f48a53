/** Parses a write batch of LevelDB's write-ahead log: the changes of one atomic write. */
import { ByteReader } from './byte-reader.ts';

export interface WriteBatch {
  /** LevelDB's sequence number of the first change; each change has the next one. */
  sequence: number;
  changes: { key: Buffer; value: Buffer | null }[];
}

const HEADER = 12;

/** The write of one change, as LevelDB's write-ahead log has it. */
export function singleWrite(sequence: number, key: Buffer, value: Buffer | null): Buffer {
  const header = Buffer.alloc(HEADER + 1);
  header.writeBigUInt64LE(BigInt(sequence));
  header.writeUInt32LE(1, 8);
  header[HEADER] = value === null ? 0 : 1;
  const strings = value === null ? [key] : [key, value];
  return Buffer.concat([header, ...strings.flatMap((it) => [varint(it.length), it])]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

/** @throws RangeError when the bytes are not a write batch */
export function parseWriteBatch(payload: Buffer): WriteBatch {
  if (payload.length < HEADER) throw new RangeError('a write batch has no header');
  const sequence = Number(payload.readBigUInt64LE(0));
  const count = payload.readUInt32LE(8);
  const reader = new ByteReader(payload, HEADER);
  const changes: WriteBatch['changes'] = [];
  while (!reader.isAtEnd) {
    const isPut = reader.byte() === 1;
    changes.push({ key: reader.string(), value: isPut ? reader.string() : null });
  }
  if (changes.length !== count) throw new RangeError(`a write batch has ${changes.length} changes and not ${count}`);
  return { sequence, changes };
}

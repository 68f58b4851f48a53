/**
 * Reads a file in LevelDB's log format (its doc/log_format.md), which the write-ahead logs and the manifest have. LevelDB
 * skips a damaged record and continues; this reader reports it, and distinguishes a torn end from damage.
 */
import { crc32c, unmasked } from './crc32c.ts';

const BLOCK = 32_768;
const HEADER = 7;
const FULL = 1;
const FIRST = 2;
const LAST = 4;

export interface LogRecord {
  /** Position of its first byte in the file. */
  offset: number;
  payload: Buffer;
}

export interface LogContent {
  records: LogRecord[];
  /**
   * The first position that cannot be read. `isTorn`: no later record is readable, as after a power cut within the last
   * write; otherwise a record that was written and synced later is there, so the bytes were damaged afterwards.
   */
  fault?: { offset: number; isTorn: boolean; reason: string };
}

/** All records up to the first fault. */
export function readLog(bytes: Buffer): LogContent {
  const records: LogRecord[] = [];
  const fail = (offset: number, reason: string): LogContent => ({
    records,
    fault: { offset, isTorn: !hasRecordAfter(bytes, offset), reason },
  });
  let parts: Buffer[] = [];
  let start = 0;
  let at = 0;
  while (at < bytes.length) {
    const left = BLOCK - (at % BLOCK);
    if (left < HEADER) {
      const trailer = bytes.subarray(at, at + left);
      if (trailer.some((byte) => byte !== 0)) return fail(at, 'the end of a block is not empty');
      at += left;
      continue;
    }
    const fragment = fragmentAt(bytes, at);
    const begin = parts.length > 0 ? start : at;
    if (typeof fragment === 'string') return fail(begin, fragment);
    const { type, payload } = fragment;
    if ((type === FULL || type === FIRST) !== (parts.length === 0)) return fail(begin, 'a record has no end');
    if (parts.length === 0) start = at;
    parts.push(payload);
    at += HEADER + payload.length;
    if (type === FULL || type === LAST) {
      records.push({ offset: start, payload: parts.length === 1 ? payload : Buffer.concat(parts) });
      parts = [];
    }
  }
  return parts.length > 0 ? fail(start, 'the last record is incomplete') : { records };
}

/** The piece of a record at a position, or the reason why there is none. */
function fragmentAt(bytes: Buffer, at: number): { type: number; payload: Buffer } | string {
  if (at + HEADER > bytes.length) return 'a header is incomplete';
  const length = bytes.readUInt16LE(at + 4);
  const type = bytes[at + 6]!;
  const end = at + HEADER + length;
  if (type < FULL || type > LAST) return `a record has the unknown type ${type}`;
  if (end > bytes.length) return 'a record is incomplete';
  if ((at % BLOCK) + HEADER + length > BLOCK) return 'a record exceeds its block';
  if (crc32c(bytes, at + 6, end) !== unmasked(bytes.readUInt32LE(at))) return 'a checksum does not match';
  return { type, payload: bytes.subarray(at + HEADER, end) };
}

/** Does a record begin anywhere after this position? Lengths cannot be trusted there, so every position is tried. */
function hasRecordAfter(bytes: Buffer, offset: number): boolean {
  for (let at = offset + 1; at + HEADER <= bytes.length; at += 1) {
    const type = bytes[at + 6];
    if (type !== FULL && type !== FIRST) continue;
    if (bytes.readUInt16LE(at + 4) === 0 && type === FULL) continue;
    if (typeof fragmentAt(bytes, at) !== 'string') return true;
  }
  return false;
}

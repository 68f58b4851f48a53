/** Reads the index of a git repository: the files that it tracks, with their stamps. Formats 2, 3 and 4 (git's gitformat-index). */

/** A tracked file. */
export interface IndexEntry {
  /** Below the top of the repository, in bytes (latin1). */
  path: string;
  /** The object of its content, in hex. */
  oid: string;
  mode: number;
  size: number;
  mtimeSecs: number;
  mtimeNs: number;
}

/** The mode of a submodule. */
export const GITLINK = 0o160000;

const EXTENDED = 0x4000;
const STAGE = 0x3000;
const SIGNATURE = 'DIRC';

/**
 * Returns the tracked files by path; undefined for an index that is not read: of another format, split, or sparse.
 * @param oidBytes 20 for SHA-1, 32 for SHA-256.
 */
export function readIndex(data: Buffer, oidBytes: number): Map<string, IndexEntry> | undefined {
  if (data.length < 12 || data.toString('latin1', 0, 4) !== SIGNATURE) return undefined;
  const version = data.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  const count = data.readUInt32BE(8);
  const entries = new Map<string, IndexEntry>();
  let at = 12;
  let before = '';
  for (let n = 0; n < count; n++) {
    const start = at;
    const flagsAt = start + 40 + oidBytes;
    if (flagsAt + 2 > data.length) return undefined;
    const flags = data.readUInt16BE(flagsAt);
    at = flagsAt + 2 + (version > 2 && (flags & EXTENDED) !== 0 ? 2 : 0);
    if (version === 4) {
      const { value, next } = readOffset(data, at);
      if (value > before.length) return undefined;
      before = before.slice(0, before.length - value);
      at = next;
    } else before = '';
    const end = data.indexOf(0, at);
    if (end < 0) return undefined;
    const path = before + data.toString('latin1', at, end);
    before = path;
    // Entries of formats before 4 are padded to eight bytes, with at least one zero.
    at = version === 4 ? end + 1 : start + 8 * (Math.floor((end - start) / 8) + 1);
    const mode = data.readUInt32BE(start + 24);
    // A folder in the index: a sparse index.
    if (mode === 0o040000) return undefined;
    if ((flags & STAGE) !== 0 && entries.has(path)) continue;
    entries.set(path, {
      path,
      oid: data.toString('hex', start + 40, flagsAt),
      mode,
      size: data.readUInt32BE(start + 36),
      mtimeSecs: data.readUInt32BE(start + 8),
      mtimeNs: data.readUInt32BE(start + 12),
    });
  }
  return isSplit(data, at, oidBytes) ? undefined : entries;
}

/** A split index keeps its entries in another file; its extension is `link`. */
function isSplit(data: Buffer, from: number, oidBytes: number): boolean {
  for (let at = from; at + 8 <= data.length - oidBytes; at += 8 + data.readUInt32BE(at + 4)) {
    if (data.toString('latin1', at, at + 4) === 'link') return true;
  }
  return false;
}

/** A number as packs write offsets: seven bits a byte, each continuation adds one. */
function readOffset(data: Buffer, from: number): { value: number; next: number } {
  let next = from;
  let byte = data[next++] ?? 0;
  let value = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = data[next++] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next };
}

/**
 * Reads the whole blocks of a damaged table (LevelDB's doc/table_format.md). Each block carries its own checksum, so the entries of the others do not
 * depend on the damage: with the index where it is whole, else by their checksums alone.
 */
import { ByteReader } from './byte-reader.ts';
import { checksummedEnd } from './crc32c.ts';
import { dataBlocksOf, wholeBlock, type BlockHandle } from './table.ts';

/** An entry of a table: a change of a key, with LevelDB's sequence number. */
export interface TableEntry {
  key: Buffer;
  sequence: number;
  /** Null: the key is deleted. */
  value: Buffer | null;
}

/** Bytes of a table whose entries are lost, and the keys around them; undefined: at the beginning or the end. */
export interface LostBytes {
  from: number;
  to: number;
  after: Buffer | undefined;
  before: Buffer | undefined;
}

export interface Salvage {
  entries: TableEntry[];
  lost: LostBytes[];
}

/** A byte for the compression and four for the checksum follow each block. */
const TRAILER = 5;

/** Returns the entries of all blocks that are whole, and where the others are. */
export function salvageTable(bytes: Buffer): Salvage {
  const blocks = dataBlocksOf(bytes);
  return blocks === undefined ? scanned(bytes) : indexed(bytes, blocks);
}

/** The index is whole: it names all blocks of entries. */
function indexed(bytes: Buffer, handles: readonly BlockHandle[]): Salvage {
  const found = new Found();
  for (const { offset, size } of handles) {
    const contents = wholeBlock(bytes, { offset, size });
    const entries = contents === undefined ? undefined : entriesIn(contents);
    if (entries === undefined) found.lose(offset, offset + size + TRAILER);
    else found.add(entries);
  }
  return found.result();
}

/** Blocks follow each other: the end of one is where its checksum matches. After damage the next one is looked for. */
function scanned(bytes: Buffer): Salvage {
  const found = new Found();
  let lostFrom: number | undefined;
  let at = 0;
  while (at < bytes.length) {
    const size = lostFrom === undefined || mayBegin(bytes, at) ? sizeOfBlockAt(bytes, at) : undefined;
    if (size === undefined) {
      lostFrom ??= at;
      at += 1;
      continue;
    }
    if (lostFrom !== undefined) found.lose(lostFrom, at);
    lostFrom = undefined;
    const contents = wholeBlock(bytes, { offset: at, size });
    const entries = contents === undefined ? undefined : entriesIn(contents);
    // The filter, the metaindex and the index are blocks as well, without entries of their own.
    if (entries !== undefined && !isIndex(entries)) found.add(entries);
    at += size + TRAILER;
  }
  if (lostFrom !== undefined) found.lose(lostFrom, bytes.length);
  return found.result();
}

/** Collects entries and losses in the order of the file. */
class Found {
  readonly #salvage: Salvage = { entries: [], lost: [] };

  add(entries: readonly TableEntry[]): void {
    const [first] = entries;
    const last = this.#salvage.lost.at(-1);
    if (last !== undefined && first !== undefined) last.before ??= first.key;
    for (const it of entries) this.#salvage.entries.push(it);
  }

  lose(from: number, to: number): void {
    const last = this.#salvage.lost.at(-1);
    if (last !== undefined && last.to === from && last.before === undefined) last.to = to;
    else this.#salvage.lost.push({ from, to, after: this.#salvage.entries.at(-1)?.key, before: undefined });
  }

  result(): Salvage {
    return this.#salvage;
  }
}

const BANG = 0x21;
/** The longest begin of a block up to its first key: the length of the decompressed block, a tag, and three lengths. */
const LONGEST_BEGIN = 20;

/** A cheap look before the search for an end: the first entry of a block shares nothing with one before it, and keys begin with `!`. */
function mayBegin(bytes: Buffer, at: number): boolean {
  const end = Math.min(bytes.length, at + LONGEST_BEGIN);
  let isShared = false;
  for (let place = at; place < end; place += 1) {
    const byte = bytes[place];
    if (byte === 0) isShared = true;
    // A length may be this byte as well.
    else if (byte === BANG && isShared) return true;
  }
  return false;
}

const COMPRESSIONS = 2;

/** The size of the block that begins here; undefined when no checksum after it matches. */
function sizeOfBlockAt(bytes: Buffer, at: number): number | undefined {
  const end = checksummedEnd(bytes, at);
  if (end === undefined || end - 1 === at || bytes[end - 1]! >= COMPRESSIONS) return undefined;
  return end - 1 - at;
}

const HANDLE_BYTES = 20;

/** An index has handles as values, which are never the values of records. */
function isIndex(entries: readonly TableEntry[]): boolean {
  return entries.every(({ value }) => {
    if (value === null || value.length < 2 || value.length > HANDLE_BYTES) return false;
    try {
      const reader = new ByteReader(value);
      reader.varint();
      reader.varint();
      return reader.isAtEnd;
    } catch {
      return false;
    }
  });
}

/** The entries of a block; undefined for data of another kind. */
function entriesIn(contents: Buffer): TableEntry[] | undefined {
  try {
    const restarts = contents.readUInt32LE(contents.length - 4);
    const reader = new ByteReader(contents.subarray(0, contents.length - 4 - 4 * restarts));
    const entries: TableEntry[] = [];
    let key = Buffer.alloc(0);
    while (!reader.isAtEnd) {
      const shared = reader.varint();
      const added = reader.varint();
      const valueLength = reader.varint();
      if (shared > key.length) return undefined;
      key = Buffer.concat([key.subarray(0, shared), reader.take(added)]);
      const value = reader.take(valueLength);
      const tag = key.readBigUInt64LE(key.length - 8);
      const isPut = (tag & 255n) === 1n;
      if (!isPut && (tag & 255n) !== 0n) return undefined;
      entries.push({ key: key.subarray(0, -8), sequence: Number(tag >> 8n), value: isPut ? value : null });
    }
    return entries;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

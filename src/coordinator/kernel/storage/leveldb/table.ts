/** Verifies a table file of LevelDB (its doc/table_format.md): every byte is covered by a checksum or a fixed value. */
import { snappyUncompress } from 'hyparquet/src/snappy.js';
import { ByteReader } from './byte-reader.ts';
import { crc32c, unmasked } from './crc32c.ts';

const FOOTER = 48;
/** A byte for the compression and four for the checksum follow each block. */
const TRAILER = 5;
const MAGIC = 0xdb4775248b80fb57n;

/** The place of a block, without the five bytes that follow it. */
export interface BlockHandle {
  offset: number;
  size: number;
}

/** The first fault of a table, in words; undefined when all of it is whole. */
export function tableFault(bytes: Buffer): string | undefined {
  try {
    verify(bytes);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

function verify(bytes: Buffer): void {
  if (bytes.length < FOOTER) throw new RangeError('it is shorter than a footer');
  const footerAt = bytes.length - FOOTER;
  const footer = bytes.subarray(footerAt);
  if (footer.readBigUInt64LE(FOOTER - 8) !== MAGIC) throw new RangeError('it does not end as a table does');
  const reader = new ByteReader(footer);
  const metaindex = handle(reader);
  const index = handle(reader);
  if (footer.subarray(reader.position, FOOTER - 8).some((byte) => byte !== 0)) {
    throw new RangeError('its footer is damaged');
  }
  // Data blocks, filter, metaindex, index, footer: each begins where the one before ends.
  let at = 0;
  const follows = (it: BlockHandle, name: string): void => {
    if (it.offset !== at) throw new RangeError(`its ${name} block is not at byte ${at}`);
    at += it.size + TRAILER;
  };
  const dataBlocks = handlesIn(block(bytes, index, 'index'));
  for (const data of dataBlocks) {
    follows(data, 'data');
    block(bytes, data, 'data');
  }
  for (const filter of handlesIn(block(bytes, metaindex, 'metaindex'))) {
    follows(filter, 'filter');
    block(bytes, filter, 'filter');
  }
  follows(metaindex, 'metaindex');
  follows(index, 'index');
  if (at !== footerAt) throw new RangeError(`its footer is not at byte ${at}`);
}

/** The places of the data blocks, wherever the table ends; undefined when its footer or its index is damaged. */
export function dataBlocksOf(bytes: Buffer): BlockHandle[] | undefined {
  const magic = Buffer.alloc(8);
  magic.writeBigUInt64LE(MAGIC);
  const end = bytes.lastIndexOf(magic) + magic.length;
  if (end < FOOTER) return undefined;
  try {
    const reader = new ByteReader(bytes.subarray(end - FOOTER, end));
    handle(reader);
    return handlesIn(block(bytes, handle(reader), 'index'));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The contents of a block, decompressed; undefined when it is damaged. */
export function wholeBlock(bytes: Buffer, place: BlockHandle): Buffer | undefined {
  try {
    return block(bytes, place, 'data')();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const handle = (reader: ByteReader): BlockHandle => ({ offset: reader.varint(), size: reader.varint() });

/** The contents of a block whose checksum matches. Only small blocks are decompressed: those that have handles in them. */
function block(bytes: Buffer, { offset, size }: BlockHandle, name: string): () => Buffer {
  const end = offset + size;
  if (end + TRAILER > bytes.length) throw new RangeError(`its ${name} block at byte ${offset} exceeds the file`);
  if (crc32c(bytes, offset, end + 1) !== unmasked(bytes.readUInt32LE(end + 1))) {
    throw new RangeError(`the checksum of its ${name} block at byte ${offset} does not match`);
  }
  const contents = bytes.subarray(offset, end);
  return () => (bytes[end] === 1 ? decompressed(contents) : contents);
}

/** The contents of a block compressed by Snappy. @throws RangeError when it is not a whole one */
export function decompressed(input: Buffer): Buffer {
  const contents = Buffer.alloc(new ByteReader(input).varint());
  try {
    snappyUncompress(input, contents);
    return contents;
  } catch (cause) {
    throw new RangeError(`an index block is not decompressed: ${String(cause)}`, { cause });
  }
}

/** The handles that an index block has as its values. */
function handlesIn(contents: () => Buffer): BlockHandle[] {
  const entries = contents();
  if (entries.length < 4) throw new RangeError('an index block is empty');
  const restarts = entries.readUInt32LE(entries.length - 4);
  const end = entries.length - 4 - 4 * restarts;
  if (end < 0) throw new RangeError('an index block has no entries');
  const reader = new ByteReader(entries.subarray(0, end));
  const handles: BlockHandle[] = [];
  while (!reader.isAtEnd) {
    reader.varint();
    const keyLength = reader.varint();
    const valueLength = reader.varint();
    reader.take(keyLength);
    handles.push(handle(new ByteReader(reader.take(valueLength))));
  }
  return handles;
}

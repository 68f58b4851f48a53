/** Decompresses a Snappy block (google/snappy, format_description.txt), the compression of LevelDB's tables. */
import { ByteReader } from './byte-reader.ts';

/** @throws RangeError when the input is not a whole Snappy block */
export function snappyDecompress(input: Buffer): Buffer {
  const reader = new ByteReader(input);
  const output = Buffer.alloc(reader.varint());
  let at = 0;
  while (!reader.isAtEnd) {
    const tag = reader.byte();
    if ((tag & 3) === 0) {
      const literal = reader.take(literalLength(tag, reader));
      if (at + literal.length > output.length) throw new RangeError('a literal exceeds the block');
      at += literal.copy(output, at);
      continue;
    }
    const { length, offset } = copyOf(tag, reader);
    if (offset === 0 || offset > at || at + length > output.length) throw new RangeError('a copy exceeds the block');
    // Byte by byte: a copy may overlap its own output.
    for (let end = at + length; at < end; at += 1) output[at] = output[at - offset]!;
  }
  if (at !== output.length) throw new RangeError('the block is shorter than its length says');
  return output;
}

function literalLength(tag: number, reader: ByteReader): number {
  const short = tag >>> 2;
  if (short < 60) return short + 1;
  return reader.take(short - 59).readUIntLE(0, short - 59) + 1;
}

function copyOf(tag: number, reader: ByteReader): { length: number; offset: number } {
  if ((tag & 3) === 1) return { length: ((tag >>> 2) & 7) + 4, offset: ((tag >>> 5) << 8) | reader.byte() };
  const bytes = (tag & 3) === 2 ? 2 : 4;
  return { length: (tag >>> 2) + 1, offset: reader.take(bytes).readUIntLE(0, bytes) };
}

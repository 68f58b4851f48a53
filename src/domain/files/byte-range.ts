/** Byte ranges of files: one range of RFC 9110 section 14, and the bytes that it means in a file. */

/** The first byte and the one after the last; a negative start is counted from the end, with no end. */
export interface ByteRange {
  start: number;
  /** Undefined: to the end of the file. */
  end: number | undefined;
}

/**
 * Reads a `Range` header. Undefined without one, and for headers that a server may ignore: another unit, several ranges,
 * malformed text.
 */
export function parseByteRange(header: string | undefined): ByteRange | undefined {
  if (header === undefined) return undefined;
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.replaceAll(' ', '')) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined;
  // The last zero bytes: no byte of any file.
  if (first === '') return Number(last) === 0 ? { start: 0, end: 0 } : { start: -Number(last), end: undefined };
  const end = last === '' ? undefined : Number(last) + 1;
  return end !== undefined && end <= Number(first) ? undefined : { start: Number(first), end };
}

/** Whether no file has bytes of this range. */
export const isEmptyRange = ({ end }: ByteRange): boolean => end === 0;

/** The bytes of a range in a file of `size` bytes; undefined when it has none of them. */
export function bytesOfRange({ start, end }: ByteRange, size: number): { start: number; end: number } | undefined {
  const from = start < 0 ? Math.max(0, size + start) : start;
  const to = Math.min(size, end ?? size);
  return from < to ? { start: from, end: to } : undefined;
}

/** CRC-32C (Castagnoli, RFC 3720 appendix B.4), the checksum of LevelDB's files, eight bytes a step. */

const POLYNOMIAL = 0x82f63b78;

/** `TABLES[k][byte]`: the checksum of `byte` followed by `k` zero bytes. */
const TABLES: readonly Int32Array[] = buildTables();

function buildTables(): Int32Array[] {
  const first = new Int32Array(256);
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    first[byte] = crc;
  }
  const tables = [first];
  while (tables.length < 8) tables.push(tables.at(-1)!.map((crc) => (crc >>> 8) ^ first[crc & 255]!));
  return tables;
}

const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** The CRC-32C of `bytes[from, to)`, as an unsigned number. */
export function crc32c(bytes: Uint8Array, from = 0, to = bytes.length): number {
  let crc = -1;
  let at = from;
  for (; at + 8 <= to; at += 8) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc =
      T7[crc & 255]! ^
      T6[(crc >>> 8) & 255]! ^
      T5[(crc >>> 16) & 255]! ^
      T4[crc >>> 24]! ^
      T3[bytes[at + 4]!]! ^
      T2[bytes[at + 5]!]! ^
      T1[bytes[at + 6]!]! ^
      T0[bytes[at + 7]!]!;
  }
  for (; at < to; at += 1) crc = T0[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** The first position after `from` where the masked checksum of the bytes up to it is stored; undefined where there is none. */
export function checksummedEnd(bytes: Buffer, from: number): number | undefined {
  let crc = -1;
  for (let end = from + 1; end + 4 <= bytes.length; end += 1) {
    crc = T0[(crc ^ bytes[end - 1]!) & 255]! ^ (crc >>> 8);
    const stored = bytes[end]! | (bytes[end + 1]! << 8) | (bytes[end + 2]! << 16) | (bytes[end + 3]! << 24);
    if (stored === masked(~crc)) return end;
  }
  return undefined;
}

/** As a signed number. */
const masked = (crc: number): number => (((crc >>> 15) | (crc << 17)) + 0xa282ead8) | 0;

/** The masked checksum of the bytes, as it is stored after them. */
export const maskedChecksum = (bytes: Uint8Array): number => masked(crc32c(bytes)) >>> 0;

/** LevelDB stores checksums masked, because a checksum of data that contains checksums is weak (its util/crc32c.h). */
export function unmasked(stored: number): number {
  const rotated = (stored - 0xa282ead8) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}

/** The values of a history as they are reported: little-endian doubles in base64, a missing value as NaN. Pure. */

/** Bytes of one value. */
export const VALUE_BYTES = 8;
/** Characters of so many bytes in base64, with its padding. */
export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;
/** The last four characters of base64. */
const LAST = /^[A-Za-z0-9+/]{2}(?:==|[A-Za-z0-9+/](?:=|[A-Za-z0-9+/]))$/;
const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Values as little-endian bytes. Each NaN becomes the same one, so that equal histories have equal bytes. */
export function historyBytes(values: ArrayLike<number>): Buffer {
  const bytes = Buffer.alloc(values.length * VALUE_BYTES);
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at]!;
    bytes.writeDoubleLE(Number.isNaN(value) ? NaN : value, at * VALUE_BYTES);
  }
  return bytes;
}

/** Values as text for a report. */
export const encodeHistory = (values: ArrayLike<number>): string => historyBytes(values).toString('base64');

/** Reads little-endian bytes, whose number is a multiple of 8, to `values` from the place `at`. */
export function readValues(bytes: Uint8Array, values: Float64Array, at: number): void {
  if (IS_LITTLE_ENDIAN) {
    new Uint8Array(values.buffer, values.byteOffset).set(bytes, at * VALUE_BYTES);
    return;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let from = 0; from < bytes.byteLength; from += VALUE_BYTES)
    values[at + from / VALUE_BYTES] = view.getFloat64(from, true);
}

/** The values of little-endian bytes, whose number is a multiple of 8. */
export function historyValues(bytes: Uint8Array): Float64Array {
  const values = new Float64Array(bytes.byteLength / VALUE_BYTES);
  readValues(bytes, values, 0);
  return values;
}

/** Decoding skips what is not base64, so the bytes give another text then. An expression takes ten times as long. */
function isBase64(text: string, bytes: Buffer): boolean {
  const end = text.length - 4;
  if (end < 0) return text === '';
  const again = bytes.toString('base64');
  return again.length === text.length && again.slice(0, end) === text.slice(0, end) && LAST.test(text.slice(end));
}

/** Reads the bytes of a reported history of so many values. Returns the fault as a clause when the text is anything else. */
export function readHistory(text: string, count: number): Buffer | string {
  const bytes = Buffer.from(text, 'base64');
  if (!isBase64(text, bytes)) return 'is not base64; send little-endian doubles in base64';
  if (bytes.length !== count * VALUE_BYTES)
    return `has ${bytes.length} bytes, and ${count} values take ${count * VALUE_BYTES}; send one double for each time of the history`;
  return bytes;
}

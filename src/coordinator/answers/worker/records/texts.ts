/** Texts of records as strings: most of them repeat, so that a string is made once for many records. */

const SIZE = 256;
/** Longer texts are decoded each time. */
const MAX_LENGTH = 64;

const latin1 = new TextDecoder('latin1');
const utf8 = new TextDecoder();

/** A cache of the strings of short texts, by a hash of their bytes. */
export class TextCache {
  readonly #texts: ({ bytes: Uint8Array; text: string } | undefined)[] = Array.from({ length: SIZE }, () => undefined);

  /** The text of ASCII characters in these bytes. */
  of(bytes: Uint8Array, start: number, end: number): string {
    const length = end - start;
    if (length > MAX_LENGTH) return latin1.decode(bytes.subarray(start, end));
    let hash = length;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
    const place = (hash ^ (hash >>> 8)) & (SIZE - 1);
    const known = this.#texts[place];
    if (known !== undefined && isSame(known.bytes, bytes, start, length)) return known.text;
    const text = latin1.decode(bytes.subarray(start, end));
    this.#texts[place] = { bytes: bytes.slice(start, end), text };
    return text;
  }
}

function isSame(known: Uint8Array, bytes: Uint8Array, start: number, length: number): boolean {
  if (known.length !== length) return false;
  for (let index = 0; index < length; index++) if (known[index] !== bytes[start + index]) return false;
  return true;
}

/** The string of a JSON string with its quotes. */
export const unescaped = (bytes: Uint8Array, start: number, end: number): string =>
  JSON.parse(utf8.decode(bytes.subarray(start, end))) as string;

/** Text in UTF-8 that grows piece by piece: short pieces are copied byte by byte, which takes less time than a string of all. */
import { Buffer } from 'node:buffer';
import { NUMBER_BYTES, writeNumber } from '../../../../base/decimals/write.ts';

/** Longer texts are encoded by the platform. */
const SHORT = 48;
const MAX_ASCII = 127;
/** Bytes of a UTF-16 code unit in UTF-8 at most. */
const UNIT_BYTES = 3;

export class TextSink {
  #bytes = Buffer.allocUnsafeSlow(4096);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  text(text: string): void {
    this.#room(text.length * UNIT_BYTES);
    const bytes = this.#bytes;
    let to = this.#length;
    if (text.length <= SHORT) {
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at);
        if (code > MAX_ASCII) return this.#encoded(text);
        bytes[to++] = code;
      }
      this.#length = to;
      return undefined;
    }
    return this.#encoded(text);
  }

  /** Writes one character of ASCII. */
  code(code: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = code;
  }

  /** A number as `String` writes it; -0 is 0. */
  number(value: number): void {
    this.#room(NUMBER_BYTES);
    const end = writeNumber(this.#bytes, this.#length, value);
    if (end < 0) this.text(String(value));
    else this.#length = end;
  }

  /** Removes the last bytes. */
  drop(bytes: number): void {
    this.#length -= bytes;
  }

  /** The bytes so far, in memory of their own; the sink is empty then. */
  taken(): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(this.#length);
    taken.set(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return taken;
  }

  #encoded(text: string): void {
    this.#length += this.#bytes.write(text, this.#length);
  }

  #room(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(needed * 2);
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

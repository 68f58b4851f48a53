/** Reads LevelDB's integers and length-prefixed strings from bytes. Throws a RangeError beyond their end. */

export class ByteReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  get position(): number {
    return this.#at;
  }

  byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw new RangeError('the bytes end within a value');
    this.#at += 1;
    return value;
  }

  /** An unsigned integer of at most 53 bits, seven bits a byte, the lowest first. */
  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 56; shift += 7) {
      const byte = this.byte();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
    throw new RangeError('an integer has more than 53 bits');
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError('the bytes end within a string');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  string(): Buffer {
    return this.take(this.varint());
  }
}

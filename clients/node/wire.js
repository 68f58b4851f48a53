// Telemetry messages as bytes: entries of a SampleBatch out, Ack in, exactly as clients/telemetry.proto has them. Written by
// hand, so that no package is needed. No I/O here.

const MAX_NAME_BYTES = 1024;
const MAX_ENTRY_BYTES = 1 << 20;

/** Writes a non-negative number below 2^53 (or a bigint below 2^64) at `at`, seven bits per byte; answers the next place. */
function writeVarint(bytes, at, number) {
  let rest = number;
  if (typeof rest === 'bigint') {
    for (; rest > 0x7fn; rest >>= 7n) bytes[at++] = Number(rest & 0x7fn) | 0x80;
  } else {
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) | 0x80;
  }
  bytes[at++] = Number(rest);
  return at;
}

const varint = (number) => {
  const bytes = Buffer.alloc(10);
  return bytes.subarray(0, writeVarint(bytes, 0, number));
};

/** The values' part of a sample for these names, with a place for each double. */
function layoutOf(names) {
  const parts = [];
  const places = [];
  let size = 0;
  for (const name of names) {
    const text = Buffer.from(name);
    if (text.length === 0 || text.length > MAX_NAME_BYTES)
      throw new Error('the name of a variable has 1 to 1024 bytes');
    const key = Buffer.concat([Buffer.of(0x0a), varint(text.length), text, Buffer.of(0x11)]);
    const part = Buffer.concat([Buffer.of(0x12), varint(key.length + 8), key, Buffer.alloc(8)]);
    parts.push(part);
    size += part.length;
    places.push(size - 8);
  }
  if (size > MAX_ENTRY_BYTES) throw new Error('a sample has too many variables');
  return { names, places, body: Buffer.concat(parts) };
}

/** Encodes samples one after the other; remembers the layout of the last, which is usually that of the next. */
export class SampleEncoder {
  #layout = layoutOf([]);
  #bytes = Buffer.alloc(4096);
  #time = Buffer.alloc(10);

  /**
   * One entry of a SampleBatch, valid until the next call.
   * @param timestampNs bigint in int64, or a safe integer. Throws for anything else, and for a value that is not a number.
   */
  encode(timestampNs, values) {
    const names = Object.keys(values);
    const known = this.#layout.names;
    if (names.length !== known.length || names.some((name, i) => name !== known[i])) this.#layout = layoutOf(names);
    const { places, body } = this.#layout;
    const timeSize = writeVarint(this.#time, 0, unsigned(timestampNs));
    const size = 1 + timeSize + body.length;
    if (this.#bytes.length < size + 16) this.#bytes = Buffer.alloc(size * 2 + 16);
    const bytes = this.#bytes;
    bytes[0] = 0x0a;
    let at = writeVarint(bytes, 1, size);
    bytes[at++] = 0x08;
    for (let i = 0; i < timeSize; i += 1) bytes[at++] = this.#time[i];
    body.copy(bytes, at);
    for (let i = 0; i < places.length; i += 1) {
      const value = values[names[i]];
      if (typeof value !== 'number') throw new TypeError(`${names[i]} is not a number`);
      bytes.writeDoubleLE(value, at + places[i]);
    }
    return bytes.subarray(0, at + body.length);
  }
}

/** The 64 bits of an int64 as what writeVarint takes. */
function unsigned(timestampNs) {
  if (typeof timestampNs === 'number') {
    if (!Number.isSafeInteger(timestampNs)) throw new RangeError('timestampNs is not a safe integer; give a bigint');
    return timestampNs >= 0 ? timestampNs : BigInt.asUintN(64, BigInt(timestampNs));
  }
  if (typeof timestampNs !== 'bigint' || BigInt.asIntN(64, timestampNs) !== timestampNs) {
    throw new RangeError('timestampNs does not fit 64 bits');
  }
  return BigInt.asUintN(64, timestampNs);
}

/** How many samples were lost since this was last said: a field of a SampleBatch. */
export const encodeLost = (samples) => Buffer.concat([Buffer.of(0x10), varint(samples)]);

/** The varint at `at` of bytes given by a function: its value and the place after it. */
export function readVarint(byteAt, at) {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = byteAt(at++);
    if (byte === undefined) throw new RangeError('the message ends within a number');
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return [value, at];
  }
}

/** Returns how many samples or values an Ack refuses, and why the first was refused. */
export function decodeAck(bytes) {
  const ack = { refused: 0, detail: '' };
  let at = 0;
  const number = () => {
    const [value, next] = readVarint((i) => bytes[i], at);
    at = next;
    return value;
  };
  while (at < bytes.length) {
    const tag = number();
    const value = number();
    if (tag === 0x10 || tag === 0x18) ack.refused += value;
    if (tag % 8 !== 2) continue;
    if (tag === 0x22) ack.detail = bytes.toString('utf8', at, at + value);
    at += value;
  }
  return ack;
}

/**
 * SHA-256 (FIPS 180-4) with the interface of Node's `createHash` and `hash`, for the sampler: a browser has no `node:crypto`, and its own
 * digest is asynchronous. For short texts only.
 */

/** The digest's bytes, with the read method that the sampler uses. */
class Digest extends Uint8Array {
  readUInt32LE(at: number): number {
    return new DataView(this.buffer, this.byteOffset).getUint32(at, true);
  }

  override toString(encoding?: string): string {
    if (encoding !== 'hex') return super.toString();
    return Array.from(this, (it) => it.toString(16).padStart(2, '0')).join('');
  }
}

interface Hash {
  update(text: string, encoding?: 'utf8'): Hash;
  digest(): Digest;
  digest(encoding: 'hex'): string;
}

/** Supports only `sha256`. */
export function createHash(algorithm: 'sha256'): Hash {
  if (algorithm !== 'sha256') throw new RangeError(`there is no ${String(algorithm)} here`);
  let whole = '';
  const made: Hash = {
    update(text) {
      whole += text;
      return made;
    },
    digest(encoding?: 'hex') {
      const digest = sha256(new TextEncoder().encode(whole));
      return (encoding === 'hex' ? digest.toString('hex') : digest) as never;
    },
  };
  return made;
}

/** The digest of a text in hexadecimal digits. */
export const hash = (algorithm: 'sha256', text: string): string => createHash(algorithm).update(text).digest('hex');

/** The first 32 bits of the fractional parts of the cube (`K`) and square (`H`) roots of the first primes. */
const PRIMES = primes(64);
const fraction = (value: number): number => Math.floor((value - Math.floor(value)) * 2 ** 32) >>> 0;
const K = PRIMES.map((it) => fraction(Math.cbrt(it)));
const H = PRIMES.slice(0, 8).map((it) => fraction(Math.sqrt(it)));

function primes(count: number): number[] {
  const found: number[] = [];
  for (let at = 2; found.length < count; at += 1) if (found.every((it) => at % it !== 0)) found.push(at);
  return found;
}

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

function sha256(message: Uint8Array): Digest {
  const blocks = Math.ceil((message.length + 9) / 64);
  const padded = new DataView(new ArrayBuffer(blocks * 64));
  new Uint8Array(padded.buffer).set(message);
  padded.setUint8(message.length, 0x80);
  padded.setUint32(blocks * 64 - 4, message.length * 8);
  const state = Uint32Array.from(H);
  const w = new Uint32Array(64);
  for (let block = 0; block < blocks; block += 1) {
    for (let i = 0; i < 16; i += 1) w[i] = padded.getUint32(block * 64 + i * 4);
    for (let i = 16; i < 64; i += 1) {
      const s0 = rotated(w[i - 15]!, 7) ^ rotated(w[i - 15]!, 18) ^ (w[i - 15]! >>> 3);
      const s1 = rotated(w[i - 2]!, 17) ^ rotated(w[i - 2]!, 19) ^ (w[i - 2]! >>> 10);
      w[i] = w[i - 16]! + s0 + w[i - 7]! + s1;
    }
    compress(state, w);
  }
  const digest = new Digest(32);
  const out = new DataView(digest.buffer);
  state.forEach((word, i) => out.setUint32(i * 4, word));
  return digest;
}

function compress(state: Uint32Array, w: Uint32Array): void {
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i += 1) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = state[i]! + word));
}

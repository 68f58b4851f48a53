// The memory that the simulation's thread and the sender's thread share: encoded samples in a ring, and a few words of state.
// One writes, one reads; the writer waits only while the ring is full. It works while the simulation computes without a pause.
import { readVarint } from './wire.js';

const RING_BYTES = 1 << 22; // a power of two, so that positions may overflow
const DETAIL_BYTES = 512;
const STEP_MS = 100;
const [WRITTEN, READ, CLOSING, ENDED, REFUSED, DETAIL_SIZE, LOST, PROGRESS] = [0, 1, 2, 3, 4, 5, 6, 7];
const WORDS = 8;

/** Over a SharedArrayBuffer: a new one, or the one the other thread made. */
export class Ring {
  #words;
  #bytes;
  #detail;

  constructor(shared = new SharedArrayBuffer(WORDS * 4 + DETAIL_BYTES + RING_BYTES)) {
    this.shared = shared;
    this.#words = new Int32Array(shared, 0, WORDS);
    this.#detail = new Uint8Array(shared, WORDS * 4, DETAIL_BYTES);
    this.#bytes = new Uint8Array(shared, WORDS * 4 + DETAIL_BYTES, RING_BYTES);
  }

  get #waiting() {
    return (Atomics.load(this.#words, WRITTEN) - Atomics.load(this.#words, READ)) | 0;
  }

  /** Writer: adds one entry; false when there is no room for it. */
  push(entry) {
    if (this.#waiting + entry.length > RING_BYTES) return false;
    const position = Atomics.load(this.#words, WRITTEN);
    const at = position & (RING_BYTES - 1);
    const first = Math.min(entry.length, RING_BYTES - at);
    this.#bytes.set(entry.subarray(0, first), at);
    if (first < entry.length) this.#bytes.set(entry.subarray(first), 0);
    // Published only when whole: the reader sees complete entries.
    Atomics.store(this.#words, WRITTEN, (position + entry.length) | 0);
    Atomics.notify(this.#words, WRITTEN);
    return true;
  }

  /**
   * Writer: waits until half of the ring is free. False when the reader has ended, or has taken nothing for `stallMs`.
   * Atomics.wait stops this thread; the reader is another one.
   */
  waitForRoom(stallMs) {
    let seen = Atomics.load(this.#words, READ);
    let since = Date.now();
    while (this.#waiting > RING_BYTES / 2) {
      if (this.ended) return false;
      Atomics.wait(this.#words, READ, seen, STEP_MS);
      const read = Atomics.load(this.#words, READ);
      if (read !== seen) [seen, since] = [read, Date.now()];
      else if (Date.now() - since > stallMs) return false;
    }
    return !this.ended;
  }

  /** Writer: counts samples that will never be pushed. */
  lose(samples) {
    Atomics.add(this.#words, LOST, samples);
    Atomics.notify(this.#words, WRITTEN);
  }

  /** Reader: how many samples the writer has lost so far, modulo 2^32. */
  get lost() {
    return Atomics.load(this.#words, LOST) >>> 0;
  }

  /** Reader: says that the runner takes something. */
  progress() {
    Atomics.add(this.#words, PROGRESS, 1);
  }

  /** Reader: takes as many whole entries as fit in `maxBytes` (at least one); undefined when there is none. */
  take(maxBytes) {
    const waiting = this.#waiting;
    if (waiting === 0) return undefined;
    const start = Atomics.load(this.#words, READ);
    const byteAt = (offset) => this.#bytes[(start + offset) & (RING_BYTES - 1)];
    let size = 0;
    while (size < waiting) {
      const [length, after] = readVarint(byteAt, size + 1);
      if (size > 0 && after + length > maxBytes) break;
      size = after + length;
    }
    const out = Buffer.alloc(size);
    const at = start & (RING_BYTES - 1);
    const first = Math.min(size, RING_BYTES - at);
    out.set(this.#bytes.subarray(at, at + first), 0);
    if (first < size) out.set(this.#bytes.subarray(0, size - first), first);
    Atomics.store(this.#words, READ, (start + size) | 0);
    Atomics.notify(this.#words, READ);
    return out;
  }

  /** Reader: resolves when there may be something to take, or after `ms`. */
  async something(ms) {
    const seen = Atomics.load(this.#words, WRITTEN);
    if (this.#waiting !== 0 || this.closing) return;
    const { async, value } = Atomics.waitAsync(this.#words, WRITTEN, seen, ms);
    if (async) await value;
  }

  get closing() {
    return Atomics.load(this.#words, CLOSING) === 1;
  }

  /**
   * Writer: no more will come. Waits until the reader has ended, at most `stallMs` without progress and `totalMs` in all;
   * returns whether it has.
   */
  close(stallMs, totalMs) {
    Atomics.store(this.#words, CLOSING, 1);
    Atomics.notify(this.#words, WRITTEN);
    const begin = Date.now();
    let since = begin;
    let seen = '';
    while (Atomics.wait(this.#words, ENDED, 0, STEP_MS) === 'timed-out') {
      const now = Date.now();
      const position = `${Atomics.load(this.#words, READ)}/${Atomics.load(this.#words, PROGRESS)}`;
      if (position !== seen) [seen, since] = [position, now];
      if (now - since > stallMs || now - begin > totalMs) return false;
    }
    return true;
  }

  get ended() {
    return Atomics.load(this.#words, ENDED) === 1;
  }

  /** Called by the reader when no more samples will be taken. The runner refused `refused` samples; `detail` says why. */
  end(refused, detail) {
    if (this.ended) return;
    const text = Buffer.from(detail).subarray(0, DETAIL_BYTES);
    this.#detail.set(text);
    Atomics.store(this.#words, DETAIL_SIZE, text.length);
    Atomics.store(this.#words, REFUSED, Math.min(refused, 2 ** 31 - 1));
    Atomics.store(this.#words, ENDED, 1);
    Atomics.notify(this.#words, ENDED);
  }

  get refused() {
    return Atomics.load(this.#words, REFUSED);
  }

  get detail() {
    return Buffer.from(this.#detail.subarray(0, Atomics.load(this.#words, DETAIL_SIZE))).toString();
  }
}

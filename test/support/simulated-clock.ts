/** A clock that moves only when a test advances it, with randomness from a seed. */
import type { Clock } from '../../src/base/clock.ts';

/** mulberry32: a small generator, enough to draw test cases from. Uniform on [0, 1). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

interface Timer {
  atMs: number;
  action: () => void;
}

export class SimulatedClock implements Clock {
  #nowMs: number;
  #elapsedMs = 0;
  readonly #timers = new Set<Timer>();
  readonly #random: () => number;

  constructor(options: { nowMs?: number; seed?: number } = {}) {
    this.#nowMs = options.nowMs ?? Date.UTC(2026, 0, 1);
    this.#random = seededRandom(options.seed ?? 1);
  }

  now(): number {
    return this.#nowMs;
  }

  /** Advances with the clock; `setClock` does not change it. */
  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, action: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, action };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Whether something waits for a time. */
  get hasTimers(): boolean {
    return this.#timers.size > 0;
  }

  every(intervalMs: number, action: () => void): () => void {
    let cancel = (): unknown => undefined;
    const arm = (): void => {
      cancel = this.after(intervalMs, () => {
        arm();
        action();
      });
    };
    arm();
    return () => void cancel();
  }

  soon(action: () => void): void {
    queueMicrotask(action);
  }

  random(bytes: number): Uint8Array {
    return Uint8Array.from({ length: bytes }, () => Math.floor(this.#random() * 256));
  }

  /** Moves the clock, calling each timer at its time and letting what it began come to rest. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      let next: Timer | undefined;
      for (const timer of this.#timers)
        if (timer.atMs <= untilMs && (next === undefined || timer.atMs < next.atMs)) next = timer;
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#moveTo(Math.max(this.#nowMs, next.atMs));
      next.action();
      await settled();
    }
    this.#moveTo(untilMs);
    await settled();
  }

  #moveTo(nowMs: number): void {
    this.#elapsedMs += Math.max(0, nowMs - this.#nowMs);
    this.#nowMs = nowMs;
  }

  /** A clock set wrong: back or forth without any timer being called. */
  setClock(nowMs: number): void {
    this.#nowMs = nowMs;
  }
}

/** Resolves when all promises that follow from what has happened so far have had their turn. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

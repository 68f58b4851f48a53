/**
 * When a runner leaves by itself: before its machine is taken from it, early enough for its runs to end within the grace time,
 * and after a time without a run.
 */
import type { Clock } from '../../base/clock.ts';
import type { Lifetime } from '../config/config.ts';

/** The end that the runner declares to the coordinator: the margin before that of its machine. Undefined: none. */
export function declaredEnd({ endsAtMs, maxMs, marginMs }: Lifetime, startedAtMs: number): number | undefined {
  const end = Math.min(endsAtMs ?? Infinity, maxMs === undefined ? Infinity : startedAtMs + maxMs);
  return end === Infinity ? undefined : end - marginMs;
}

interface Options {
  clock: Clock;
  /** `declaredEnd`: all runs have ended or are handed back by then. */
  endMs: number | undefined;
  graceMs: number;
  idleMs: number | undefined;
  leave: (why: string) => void;
}

/** A runner without an end stays so long for files that are not sent. */
const STAY_MS = 3_600_000;

/** Watches both times. Nothing happens after `close`. */
export class LifetimeWatch {
  readonly #options: Options;
  #cancelEnd: (() => void) | undefined;
  #cancelIdle: (() => void) | undefined;

  constructor(options: Options) {
    this.#options = options;
    const { clock, endMs, graceMs, leave } = options;
    if (endMs === undefined) return;
    const leaveAtMs = endMs - graceMs;
    this.#cancelEnd = clock.after(Math.max(0, leaveAtMs - clock.now()), () => {
      leave('its machine is taken from it soon');
    });
  }

  /** Must be called at the start, and whenever the number of claimed runs changes. */
  holds(runs: number): void {
    const { clock, idleMs, leave } = this.#options;
    if (idleMs === undefined) return;
    if (runs > 0) {
      this.#cancelIdle?.();
      this.#cancelIdle = undefined;
    } else {
      this.#cancelIdle ??= clock.after(idleMs, () => {
        leave(`no run for ${String(idleMs / 1000)} s`);
      });
    }
  }

  /**
   * How long a runner that leaves by itself may stay to send files, in ms: to the end that it has declared; without one for an hour.
   */
  get stayMs(): number {
    const { clock, endMs } = this.#options;
    return endMs === undefined ? STAY_MS : Math.max(0, endMs - clock.now());
  }

  close(): void {
    this.#cancelEnd?.();
    this.#cancelIdle?.();
  }
}

/** Rate of a study and its remaining time: pure arithmetic over counts and times. */

/** How many jobs ended within each of the last `WINDOW_SLOTS` slots of `SLOT_MS`. */
export interface RateWindow {
  /** The number of the newest slot: ms since the epoch / SLOT_MS. */
  slot: number;
  /** Numbers of ended runs by interval, the newest first. */
  counts: readonly number[];
}

const SLOT_MS = 5_000;
const WINDOW_SLOTS = 12;

/** With fewer ends than this in the window, the average over the whole study is the better estimate. */
const MIN_IN_WINDOW = 10;

export const EMPTY_WINDOW: RateWindow = { slot: 0, counts: [] };

/** The window after `ended` more jobs at `nowMs`. */
export function counted(window: RateWindow, ended: number, nowMs: number): RateWindow {
  const slot = Math.max(window.slot, Math.floor(nowMs / SLOT_MS));
  const gone = Math.min(slot - window.slot, WINDOW_SLOTS);
  const counts = [...Array<number>(gone).fill(0), ...window.counts].slice(0, WINDOW_SLOTS);
  counts[0] = (counts[0] ?? 0) + ended;
  return { slot, counts };
}

/** True when nothing ended within the window any more. */
export function isStale(window: RateWindow, nowMs: number): boolean {
  return Math.floor(nowMs / SLOT_MS) - window.slot >= WINDOW_SLOTS;
}

export interface Progress {
  /** Jobs that reached an end by running. */
  ended: number;
  /** Jobs that have yet to end. */
  remaining: number;
  startedAtMs: number | undefined;
  window: RateWindow;
}

/** Jobs a minute: over the last minute, or over the study so far when that minute saw too few. */
export function jobsPerMinute(progress: Progress, nowMs: number): number {
  const { window, startedAtMs, ended } = progress;
  if (startedAtMs === undefined || progress.remaining === 0) return 0;
  const age = Math.floor(nowMs / SLOT_MS) - window.slot;
  const recent = window.counts.slice(0, Math.max(0, WINDOW_SLOTS - age)).reduce((sum, it) => sum + it, 0);
  const sinceStartMs = Math.max(1, nowMs - startedAtMs);
  // The newest slot has only begun: the window reaches back from now.
  const windowMs = Math.min(sinceStartMs, (WINDOW_SLOTS - 1) * SLOT_MS + (nowMs % SLOT_MS));
  if (recent >= MIN_IN_WINDOW) return round(recent / (windowMs / 60_000));
  return round(ended / (sinceStartMs / 60_000));
}

const round = (rate: number): number => Math.round(rate * 100) / 100;

/** Whole minutes until the remaining jobs are done, or undefined when nothing is known of the rate. */
export function minutesLeft(remaining: number, ratePerMinute: number): number | undefined {
  if (remaining === 0) return 0;
  if (ratePerMinute <= 0) return undefined;
  return Math.min(2 ** 31 - 1, Math.ceil(remaining / ratePerMinute));
}

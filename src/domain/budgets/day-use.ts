/**
 * Core time by UTC day: the arithmetic of budgets. Each day of the clock has a sum of its own, so that a clock that was set back continues
 * the sum of that day, and a clock that was ahead takes nothing from the days that follow. Pure.
 */
import type { DayUse } from '../../contract/types.ts';

export const DAY_MS = 86_400_000;
const CORE_HOUR_MS = 3_600_000;
/** Days that are kept: those nearest to the clock. */
const MOST_DAYS = 8;

/** The number of the UTC day that contains an instant, since the epoch. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** A time for which cores were used. A clock that was set back makes it empty. */
export interface CoreTime {
  cpuMilli: number;
  fromMs: number;
  toMs: number;
}

/** The core time of an attempt within one day, in core-milliseconds. */
export function coreMsWithin({ cpuMilli, fromMs, toMs }: CoreTime, day: number): number {
  const overlapMs = Math.min(toMs, (day + 1) * DAY_MS) - Math.max(fromMs, day * DAY_MS);
  return overlapMs > 0 ? Math.round((cpuMilli * overlapMs) / 1_000) : 0;
}

/** The use with one more attempt, each part of which counts on its own day. */
export function charged(use: DayUse, time: CoreTime): DayUse {
  const today = dayOf(time.toMs);
  const next: Record<string, number> = { ...use };
  for (let day = Math.max(dayOf(time.fromMs), today - MOST_DAYS + 1); day <= today; day += 1) {
    const coreMs = coreMsWithin(time, day);
    if (coreMs > 0) next[day] = (next[day] ?? 0) + coreMs;
  }
  const distance = (day: string): number => Math.abs(Number(day) - today);
  const days = Object.keys(next).sort((a, b) => distance(a) - distance(b));
  for (const day of days.slice(MOST_DAYS)) delete next[day];
  return next;
}

export const coreHours = (coreMs: number): number => coreMs / CORE_HOUR_MS;

/** The sequence diagram: bars of states, arrows of messages and their labels, on one axis of milliseconds. Pure. */
import { shownStatus } from '../../../src/contract/enums.ts';
import type { Attempt } from '../../../src/contract/types.ts';
import { stateOfAttempt } from '../parts/attempt-state.ts';
import { count } from '../parts/time.tsx';
import { sameLane, type Lane, type StoryEvent } from './story.ts';

export type RowName = 'subject' | 'attempts' | 'runner';

export interface Bar {
  row: RowName;
  from: number;
  /** Infinity: it has not ended. */
  to: number;
  /** The state, as the colours have it; undefined: not known. */
  state: string | undefined;
  text: string;
}

export interface Arrow {
  /** The position of its event in the story. */
  at: number;
  now: number;
  from: RowName;
  to: RowName;
  label: string;
  isRefused: boolean;
}

/** The states of a lane as bars, up to `end`. */
export function stateBars(row: RowName, lane: Lane, events: readonly StoryEvent[]): Bar[] {
  const bars: Bar[] = [];
  for (const it of events) {
    if (it.to === undefined || !sameLane(it.lane, lane)) continue;
    const last = bars.at(-1);
    if (last?.state === it.to) continue;
    if (last !== undefined) last.to = it.now;
    bars.push({ row, from: it.now, to: Infinity, state: it.to, text: shownStatus(it.to) });
  }
  return bars;
}

/** The attempts of a run as bars, from their claim. */
export const attemptBars = (attempts: readonly Attempt[]): Bar[] =>
  attempts.map((it) => ({
    row: 'attempts',
    from: Date.parse(it.claimed_at),
    to: it.ended_at === undefined ? Infinity : Date.parse(it.ended_at),
    state: stateOfAttempt(it),
    text: `attempt ${it.attempt}: ${it.outcome ?? 'open'}`,
  }));

/** The sender and the receiver of each event of a run. Events of the clock have the run as both. */
const OF_RUN: Readonly<Record<string, readonly [RowName, RowName]>> = {
  CLAIM: ['runner', 'subject'],
  START: ['attempts', 'subject'],
  COMPLETE: ['attempts', 'subject'],
  FAIL: ['attempts', 'subject'],
  DOUBT_CODE: ['attempts', 'subject'],
  HAND_BACK: ['runner', 'subject'],
  UNCLAIM: ['runner', 'subject'],
  INTERRUPT: ['runner', 'subject'],
  RUNNER_LOST: ['runner', 'subject'],
  EXCUSE: ['runner', 'subject'],
  CANCEL: ['subject', 'runner'],
};
/** Events of a runner that its process sends or that the coordinator derives. */
const OF_RUNNER: Readonly<Record<string, readonly [RowName, RowName]>> = {
  REGISTER: ['runner', 'subject'],
  SIGN_OFF: ['runner', 'subject'],
};

/** The messages of a story; heartbeats are in the log alone. */
export function arrowsOf(events: readonly StoryEvent[]): Arrow[] {
  return events.flatMap((it, at): Arrow[] => {
    if (it.event === undefined && it.result !== 'note') return [];
    if (it.type === 'HEARTBEAT' || it.type === 'TICK' || it.type === 'JOBS_CHANGED') return [];
    const isRunner = it.lane.kind === 'runner';
    const own: RowName = isRunner ? 'runner' : 'subject';
    const [from, to] = (isRunner ? OF_RUNNER[it.type] : it.lane.kind === 'job' ? OF_RUN[it.type] : undefined) ?? [
      own,
      own,
    ];
    return [{ at, now: it.now, from, to, label: it.type, isRefused: it.result === 'refused' }];
  });
}

/** The visible part of the axis, in ms since the epoch. */
export interface Span {
  from: number;
  to: number;
}

/** All bars and events with a margin; an open end lasts until the latest known instant. */
export function wholeSpan(events: readonly StoryEvent[], bars: readonly Bar[]): Span {
  const times = [...events.map((it) => it.now), ...bars.flatMap((it) => [it.from, it.to])].filter(
    (it) => Number.isFinite(it) && it > 0,
  );
  if (times.length === 0) return { from: 0, to: 1 };
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const margin = Math.max(1, (to - from) * 0.04);
  return { from: from - margin, to: to + margin };
}

/** The span scaled around an instant. */
export const zoomed = ({ from, to }: Span, around: number, factor: number): Span => ({
  from: around - (around - from) * factor,
  to: around + (to - around) * factor,
});

export interface PlacedLabel {
  at: number;
  x: number;
  text: string;
  /** 0, 1, 2 ...: the lines of labels above the lanes. */
  line: number;
}

const CHARACTER = 6.3;

/** Places labels in the lines that have room for them, the chosen one first; the others are left out. */
export function placeLabels(
  arrows: readonly { at: number; x: number; label: string }[],
  { lines, width, chosen }: { lines: number; width: number; chosen: number },
): PlacedLabel[] {
  const placed: (PlacedLabel & { end: number })[] = [];
  const first = arrows.filter((it) => it.at === chosen);
  for (const { at, x: middle, label } of [...first, ...arrows.filter((it) => it.at !== chosen)]) {
    const size = label.length * CHARACTER + 8;
    if (middle < 0 || middle > width) continue;
    const x = Math.max(0, Math.min(middle - size / 2, width - size));
    for (let line = 0; line < lines; line += 1) {
      if (placed.some((it) => it.line === line && it.x < x + size && x < it.end)) continue;
      placed.push({ at, x, text: label, line, end: x + size });
      break;
    }
  }
  return placed.map(({ end: _, ...it }) => it);
}

/** Ticks of a span in ms after its zero, at round distances. */
export function msTicks({ from, to }: Span, zero: number, most: number): { at: number; text: string }[] {
  const size = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(Math.max(size, 0.1)));
  const step = Math.max(1, [1, 2, 5, 10].map((it) => it * power).find((it) => it >= size) ?? 10 * power);
  const ticks: { at: number; text: string }[] = [];
  for (let ms = Math.ceil((from - zero) / step) * step; ms <= to - zero; ms += step)
    ticks.push({ at: zero + ms, text: `${count(Math.round(ms) || 0)} ms` });
  return ticks;
}

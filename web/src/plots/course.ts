/** Progress of a study as lines to plot: runs over the time of their end. */
import { STATUS_CODE } from '../data/run-columns.ts';
import type { RunTable } from '../data/run-table.ts';
import { isFailure } from './variables.ts';

/** States of the runs, and their start and end in ms since 1970 or NaN. */
type Ends = Pick<RunTable, 'size' | 'status' | 'started' | 'ended'>;

const SLOTS = 240;

interface Course {
  times: number[];
  completed: number[];
  failed: number[];
}

interface Span {
  from: number;
  to: number;
  /** Number of runs that ended in it. */
  ended: number;
}

/** The time from the first start to the last end; undefined before the first end. */
function spanOf(table: Ends): Span | undefined {
  let ends = 0;
  let from = Infinity;
  let to = -Infinity;
  for (let run = 0; run < table.size; run += 1) {
    const ended = table.ended[run]!;
    if (Number.isNaN(ended) || table.status[run] === STATUS_CODE.Cancelled) continue;
    ends += 1;
    if (ended > to) to = ended;
    const started = table.started[run]!;
    if (started < from) from = started;
    if (ended < from) from = ended;
  }
  return ends === 0 ? undefined : { from, to, ended: ends };
}

/** Returns the number of ended runs up to each time, in equal intervals. */
export function courseOf(table: Ends): Course | undefined {
  const span = spanOf(table);
  if (span === undefined) return undefined;
  const { from, to } = span;
  const slotMs = Math.max(250, Math.ceil((to - from + 1) / SLOTS / 250) * 250);
  const slots = Math.floor((to - from) / slotMs) + 1;
  const completed = Array.from({ length: slots + 1 }, () => 0);
  const failed = Array.from({ length: slots + 1 }, () => 0);
  for (let run = 0; run < table.size; run += 1) {
    const ended = table.ended[run]!;
    if (Number.isNaN(ended)) continue;
    const slot = Math.floor((ended - from) / slotMs) + 1;
    if (table.status[run] === STATUS_CODE.Completed) completed[slot]! += 1;
    else if (isFailure(table.status[run]!)) failed[slot]! += 1;
  }
  for (let slot = 1; slot <= slots; slot += 1) {
    completed[slot]! += completed[slot - 1]!;
    failed[slot]! += failed[slot - 1]!;
  }
  return { times: completed.map((_, slot) => (from + slot * slotMs) / 1_000), completed, failed };
}

interface Pace {
  times: number[];
  perMinute: number[];
  stepMs: number;
}

/** Ends per interval below which single runs show as spikes, and the most distinguishable intervals. */
const ENDS_PER_STEP = 8;
const MOST_STEPS = 120;
const STEPS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400].map(
  (secs) => secs * 1_000,
);

/** Returns the ends per minute, in intervals of a round length with several ends each. */
export function paceOf(table: Ends): Pace | undefined {
  const span = spanOf(table);
  if (span === undefined) return undefined;
  const { from, to, ended } = span;
  const tookMs = Math.max(to - from, 1_000);
  const leastMs = Math.max((tookMs * ENDS_PER_STEP) / ended, tookMs / MOST_STEPS);
  const stepMs = Math.min(tookMs, STEPS_MS.find((it) => it >= leastMs) ?? leastMs);
  // An interval that has just begun gives a poor rate: it is shown when half of it has passed.
  const steps = Math.max(1, Math.round(tookMs / stepMs));
  const ends = new Float64Array(steps);
  for (let run = 0; run < table.size; run += 1) {
    const afterMs = table.ended[run]! - from;
    // The last end may be at the end of the last interval: it belongs to it.
    const at = afterMs === steps * stepMs ? steps - 1 : Math.floor(afterMs / stepMs);
    if (table.status[run] !== STATUS_CODE.Cancelled && at < steps) ends[at]! += 1;
  }
  const perMinute = Array.from(ends, (it, at) => (it * 60_000) / Math.min(stepMs, tookMs - at * stepMs));
  const times = perMinute.map((_, at) => (from + at * stepMs) / 1_000);
  // An interval is drawn from its start: the last one needs an end.
  times.push((from + Math.min(steps * stepMs, tookMs)) / 1_000);
  perMinute.push(perMinute.at(-1)!);
  return { times, perMinute, stepMs };
}

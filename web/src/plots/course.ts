/** Progress of a study as lines to plot: runs over the time of their end. */
import { STATUS_CODE } from '../data/run-columns.ts';
import type { RunTable } from '../data/run-table.ts';
import { isFailure } from './variables.ts';

/** States of the runs, and their start and end in ms since 1970 or NaN. */
type Ends = Pick<RunTable, 'size' | 'status' | 'started' | 'ended'>;

const SLOTS = 240;

export interface Course {
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

/** The course as stacked lines, with a straight projection to the end. */
interface Projected {
  times: number[];
  completed: (number | null)[];
  /** Completed and failed runs together. */
  ended: (number | null)[];
  /** The line from the last end to the estimated end; undefined without an estimate. */
  projection: (number | null)[] | undefined;
}

/** `endMs`: the estimated end of the study; undefined without one. */
export function projected({ times, completed, failed }: Course, total: number, endMs: number | undefined): Projected {
  const ended: (number | null)[] = completed.map((it, at) => it + failed[at]!);
  if (endMs === undefined || endMs / 1_000 <= times.at(-1)!) return { times, completed, ended, projection: undefined };
  const projection = [...ended.map((it, at) => (at === ended.length - 1 ? it : null)), total];
  return { times: [...times, endMs / 1_000], completed: [...completed, null], ended: [...ended, null], projection };
}

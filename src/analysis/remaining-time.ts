/**
 * The time until a study ends, as an 80 % interval: its remaining runs are scheduled on the slots in use some dozen times,
 * with durations drawn from those of its own runs. The draws are the same for the same runs.
 */
import { philox } from '../domain/sampling/philox.ts';
import { Durations } from './run-durations.ts';

export interface RemainingWork {
  /** Durations of the latest finished attempts, at most some hundred; any unit. */
  finished: readonly number[];
  /** How many attempts have finished, of which `finished` are the latest. */
  finishedCount: number;
  /** Times for which the active runs have executed so far, one for each slot in use; the longest first. */
  ages: readonly number[];
  /** Attempts that have yet to start. */
  waiting: number;
}

export interface RemainingTime {
  /** Quantiles at 10 %, 50 % and 90 %, in the unit of the durations. */
  low: number;
  median: number;
  high: number;
}

/** With fewer finished attempts, or fewer than are active, nothing is estimated: the short runs end first. */
const LEAST_FINISHED = 5;
/** Repetitions of the schedule; the cost is about this times `MOST_SLOTS` + `MOST_WAITING` draws. */
const ROUNDS = 31;
/** Most slots that are simulated; more are represented by these, each with its share of the runs. */
const MOST_SLOTS = 64;
/** Most waiting runs that are simulated one by one; those before them are divided evenly over the slots. */
const MOST_WAITING = 128;

/** The ends of the repeated schedules, one a step of a fraction of a millisecond; none while nothing executes or too little has finished. */
export function* remainingEnds(work: RemainingWork): Generator<number, void> {
  const { finished, ages, waiting } = work;
  if (ages.length === 0 || finished.length < LEAST_FINISHED || work.finishedCount < ages.length) return;
  const durations = new Durations(work);
  const uniform = uniforms();
  // One slot represents this many.
  const share = Math.max(1, ages.length / MOST_SLOTS);
  const chosen = everyNth(ages, share);
  const each = waiting / share;
  for (let round = 0; round < ROUNDS; round++) {
    durations.resample(uniform);
    yield scheduleOnce(durations, chosen, each, share, uniform);
  }
}

/** The interval of all `remainingEnds` of the work. Undefined where it has none, unless no work is left: then all are 0. */
export function remainingTime({ ages, waiting }: RemainingWork, ends: readonly number[]): RemainingTime | undefined {
  if (ages.length === 0 && waiting === 0) return { low: 0, median: 0, high: 0 };
  if (ends.length === 0) return undefined;
  const sorted = [...ends].sort((a, b) => a - b);
  const at = (p: number): number => sorted[Math.round(p * (sorted.length - 1))]!;
  return { low: at(0.1), median: at(0.5), high: at(0.9) };
}

/** Every n-th age from the oldest, so that the oldest is among them. */
function everyNth(ages: readonly number[], n: number): number[] {
  return Array.from({ length: Math.floor(ages.length / n) }, (_, at) => ages[Math.floor(at * n)]!);
}

/** The end of the last run: each waiting run starts on the slot that is free first. */
function scheduleOnce(
  durations: Durations,
  ages: readonly number[],
  waiting: number,
  share: number,
  uniform: () => number,
): number {
  const single = Math.min(Math.round(waiting), MOST_WAITING);
  const evenly = waiting - single;
  // The last run of a slot that represents several is the longest of theirs.
  const last = (): number => uniform() ** (1 / share);
  const draw = (): number => durations.after(0, uniform());
  const isLast = evenly <= 0 && single < 1;
  const free = ages.map((age) => durations.after(age, isLast ? last() : uniform()));
  if (evenly > 0) {
    const normal = Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    const slots = ages.length;
    const work = evenly * durations.mean + normal * Math.sqrt((evenly * durations.variance) / share);
    for (let at = 0; at < slots; at++) free[at]! += Math.max(0, work / slots);
  }
  free.sort((a, b) => a - b);
  let end = free.at(-1)!;
  for (let run = 0; run < single; run++) {
    const duration = single - run <= ages.length ? durations.after(0, last()) : draw();
    const at = free.shift()! + duration;
    end = Math.max(end, at);
    insert(free, at);
  }
  return end;
}

function insert(sorted: number[], value: number): void {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  sorted.splice(low, 0, value);
}

/** Returns a source of numbers in (0, 1), the same sequence at every call. */
function uniforms(): () => number {
  const block = new Int32Array(4);
  let count = 0;
  return () => {
    if (count % 4 === 0) philox(0x5eed, 0x7e7a, count / 4, 0, 0, 0, block);
    return ((block[count++ % 4]! >>> 0) + 0.5) / 2 ** 32;
  };
}

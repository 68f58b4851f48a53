/** The curves of two studies that are compared: an output of both over one axis, and its change. Pure. */
import { figure } from '../parts/time.tsx';
import { STATUS_CODE } from '../data/run-columns.ts';
import type { RunTable } from '../data/run-table.ts';
import { histogramOf } from '../plots/bins.ts';
import type { Variable } from '../plots/variables.ts';

/** The values of an output in the completed runs: the others are NaN. */
export function completedValues({ values }: Pick<Variable, 'values'>, status: Uint8Array): Float64Array {
  return values.map((value, row) => (status[row] === STATUS_CODE.Completed ? value : Number.NaN));
}

/** One run in both studies. */
export interface Pair {
  run: number;
  before: number;
  after: number;
}

/** The runs that have the output in both studies, in the order of their ids. */
export function pairsOf(
  [before, after]: readonly [Pick<RunTable, 'runAt' | 'rowOf' | 'size'>, Pick<RunTable, 'runAt' | 'rowOf' | 'size'>],
  [earlier, later]: readonly [Float64Array, Float64Array],
): Pair[] {
  const pairs: Pair[] = [];
  for (let row = 0; row < before.size; row += 1) {
    if (!Number.isFinite(earlier[row])) continue;
    const run = before.runAt(row);
    const other = after.rowOf(run);
    if (other >= after.size || after.runAt(other) !== run || !Number.isFinite(later[other])) continue;
    pairs.push({ run, before: earlier[row]!, after: later[other]! });
  }
  return pairs;
}

export interface Bin {
  from: number;
  to: number;
  runs: number;
}

export interface Bins {
  bins: Bin[];
  /** The values that are beyond the bins. */
  outside: number;
}

/** Differences that are closer together than this, by their size, differ by rounding alone. */
const ROUNDING = 1e-9;

/** The differences of the pairs in bins; equal ones are one bin around them. */
export function differenceBins(pairs: readonly Pair[]): Bins {
  const differences = Float64Array.from(pairs, ({ before, after }) => after - before);
  const found = histogramOf(differences, new Uint8Array(differences.length), undefined);
  if (found === undefined) return { bins: [], outside: 0 };
  const { from, to, all, below, above } = found;
  if (below + above === 0 && to - from <= ROUNDING * Math.max(Math.abs(from), Math.abs(to))) {
    const half = (Math.abs(from) || 1) / 20;
    return { bins: [{ from: from - half, to: from + half, runs: pairs.length }], outside: 0 };
  }
  const width = (to - from) / all.length;
  const bins = Array.from(all, (runs, at) => ({ from: from + at * width, to: from + (at + 1) * width, runs }));
  return { bins, outside: below + above };
}

export interface DistanceStep {
  value: number;
  /** Share of values up to `value`, after minus before. */
  distance: number;
}

const MOST_STEPS = 400;

/**
 * The difference of two empirical distribution functions, after minus before, among the finite values.
 * @returns its steps in ascending order, thinned out to about 400 with the greatest distance kept, and that one; undefined where a side has no value.
 */
export function distanceSteps(
  before: Float64Array,
  after: Float64Array,
): { steps: DistanceStep[]; greatest: DistanceStep } | undefined {
  const [a, b] = [before, after].map((it) => it.filter(Number.isFinite).sort()) as [Float64Array, Float64Array];
  if (a.length === 0 || b.length === 0) return undefined;
  const all: DistanceStep[] = [];
  let greatest = { value: Number.NaN, distance: 0 };
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const value = Math.min(a[i] ?? Infinity, b[j] ?? Infinity);
    while (a[i] === value) i += 1;
    while (b[j] === value) j += 1;
    const step = { value, distance: j / b.length - i / a.length };
    all.push(step);
    if (Number.isNaN(greatest.value) || Math.abs(step.distance) > Math.abs(greatest.distance)) greatest = step;
  }
  const every = Math.ceil(all.length / MOST_STEPS);
  return { steps: all.filter((it, at) => at % every === 0 || it === greatest || at === all.length - 1), greatest };
}

/** The axis of differences: with 0 where that leaves them a third of it. Otherwise `note` says where 0 is. */
export function differenceAxis(bins: readonly Bin[]): { domain: [number, number]; note: string } {
  const [from, to] = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1];
  const [low, high] = [Math.min(0, from), Math.max(0, to)];
  if (high - low <= 3 * (to - from)) return { domain: [low, high], note: '' };
  return {
    domain: [from, to],
    note: ` No difference, 0, is ${from > 0 ? 'left' : 'right'} of the axis, from ${figure(from)} to ${figure(to)}.`,
  };
}

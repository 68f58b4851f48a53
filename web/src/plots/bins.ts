/** Histograms and empirical distribution functions of a variable over the runs of a study. Pure. */
import { binCount, binLimits, sampleStep } from '../../../src/analysis/outputs/bins.ts';
import { isEnded, isFailure, isSelected } from './variables.ts';

export interface Histogram {
  /** Edges of the bins; in log10 where `isLog`. */
  from: number;
  to: number;
  isLog: boolean;
  /** Per bin: all runs with a value, the selected ones that ended, and the failed ones among these. */
  all: Uint32Array;
  selected: Uint32Array;
  failed: Uint32Array;
  /** Runs beyond the edges: a long tail is not squeezed into the last bin. */
  below: number;
  above: number;
  /** Number of the selected runs in the bin. */
  count: number;
  mean: number;
  sd: number;
}

/** Number of bins by Rice's rule, twice the cube root of the number of values. */
export function binsFor(values: Float64Array): number {
  let count = 0;
  for (const value of values) if (Number.isFinite(value)) count += 1;
  return binCount(count);
}

/** Returns equal bins over the bulk of the values; undefined without values. Statistics are of the selected runs. */
export function histogramOf(
  values: Float64Array,
  status: Uint8Array,
  mask: Uint8Array | undefined,
  isLog = false,
): Histogram | undefined {
  const limits = limitsOf(values, isLog);
  if (limits === undefined) return undefined;
  const [from, to] = limits;
  const bins = binsFor(values);
  const scale = to > from ? bins / (to - from) : 0;
  const [all, selected, failed] = [new Uint32Array(bins), new Uint32Array(bins), new Uint32Array(bins)];
  const found: Histogram = { from, to, isLog, all, selected, failed, below: 0, above: 0, count: 0, mean: 0, sd: 0 };
  let squares = 0;
  for (let run = 0; run < values.length; run += 1) {
    const value = values[run]!;
    const place = isLog ? Math.log10(value) : value;
    if (!Number.isFinite(place)) continue;
    const isChosen = isSelected(mask, run);
    if (isChosen) {
      found.count += 1;
      const delta = value - found.mean;
      found.mean += delta / found.count;
      squares += delta * (value - found.mean);
    }
    if (place < from) found.below += 1;
    else if (place > to) found.above += 1;
    else {
      const bin = Math.min(bins - 1, Math.floor((place - from) * scale));
      all[bin]! += 1;
      // A pending run is not selected: it has no outcome.
      if (!isChosen || !isEnded(status[run]!)) continue;
      selected[bin]! += 1;
      if (isFailure(status[run]!)) failed[bin]! += 1;
    }
  }
  if (found.count === 0) found.mean = Number.NaN;
  found.sd = found.count > 1 ? Math.sqrt(squares / (found.count - 1)) : Number.NaN;
  return found;
}

/** The extremes, or the outer fences where these are further in. */
export function limitsOf(values: Float64Array, isLog: boolean): [from: number, to: number] | undefined {
  let [from, to, count] = [Infinity, -Infinity, 0];
  for (const value of values) {
    const place = isLog ? Math.log10(value) : value;
    if (!Number.isFinite(place)) continue;
    count += 1;
    if (place < from) from = place;
    if (place > to) to = place;
  }
  if (count === 0) return undefined;
  const every = sampleStep(count);
  const some: number[] = [];
  let seen = 0;
  for (const value of values) {
    const place = isLog ? Math.log10(value) : value;
    if (!Number.isFinite(place)) continue;
    if (seen % every === 0) some.push(place);
    seen += 1;
  }
  return binLimits(Float64Array.from(some), from, to);
}

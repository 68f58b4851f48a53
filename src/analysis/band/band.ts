/** The band of telemetry over runs: median and percentiles at the times of a common grid, with the number of runs at each. */
import type { TelemetryBand } from '../../contract/types.ts';
import { interpolate } from '../numeric/statistics.ts';
import { orderedQuantile } from '../numeric/quantile.ts';

/** The samples of one variable of one run, in ascending order of time. */
export interface Samples {
  /** Seconds since the zero of `telemetryZero`. */
  secs: Float64Array;
  /** Values of the variable, all finite. */
  values: Float64Array;
}

export interface RunSamples {
  /** The times of its first and last sample of any variable. */
  startSecs: number;
  endSecs: number;
  variables: ReadonlyMap<string, Samples>;
}

export type BandVariable = TelemetryBand['variables'][number];

export type Band = Pick<TelemetryBand, 'seconds' | 'present' | 'variables'>;

/** Steps of the grid: enough for the part of it that a short run fills. */
const STEPS = 500;
const SHARES = { p5: 0.05, median: 0.5, p95: 0.95 } as const;

/**
 * Quantiles (type 7) of the values that runs have at each time of the grid, linear between their samples. A run is used up to
 * its last sample of the variable and never beyond.
 */
export function bandOf(runs: readonly RunSamples[]): Band {
  const start = runs.reduce((least, it) => Math.min(least, it.startSecs), Infinity);
  const end = runs.reduce((most, it) => Math.max(most, it.endSecs), -Infinity);
  const seconds =
    runs.length === 0 ? [] : Array.from({ length: STEPS + 1 }, (_, at) => start + ((end - start) * at) / STEPS);
  // The last step may round to less than the end.
  if (seconds.length > 0) seconds[STEPS] = end;
  const names = [...new Set(runs.flatMap((it) => [...it.variables.keys()]))].sort();
  return {
    seconds,
    present: seconds.map((time) => runs.filter((it) => it.startSecs <= time && time <= it.endSecs).length),
    variables: names.map((name) => variableOf(name, runs, seconds)),
  };
}

function variableOf(name: string, runs: readonly RunSamples[], seconds: readonly number[]): BandVariable {
  const courses = runs.flatMap((it) => {
    const samples = it.variables.get(name);
    return samples === undefined || samples.secs.length === 0 ? [] : [atTimes(samples, seconds)];
  });
  const band: BandVariable = { name, runs: courses.length, present: [], p5: [], median: [], p95: [] };
  for (let at = 0; at < seconds.length; at++) {
    const values = Float64Array.from(courses.map((it) => it[at]!).filter((it) => !Number.isNaN(it))).sort();
    const order = Uint32Array.from(values, (_, index) => index);
    band.present.push(values.length);
    for (const [key, share] of Object.entries(SHARES) as [keyof typeof SHARES, number][])
      band[key].push(values.length === 0 ? null : orderedQuantile(values, order, share));
  }
  return band;
}

/** The values at ascending times, NaN outside of the samples. */
function atTimes({ secs, values }: Samples, times: readonly number[]): Float64Array {
  const found = new Float64Array(times.length).fill(Number.NaN);
  const last = secs.length - 1;
  let after = 0;
  for (const [at, time] of times.entries()) {
    while (after < last && secs[after]! < time) after++;
    const [from, to] = [Math.max(0, after - 1), after];
    if (secs[to] === time) found[at] = values[to]!;
    else if (secs[from]! < time && time < secs[to]!)
      found[at] = between(values[from]!, values[to]!, (time - secs[from]!) / (secs[to]! - secs[from]!));
  }
  return found;
}

const between = (first: number, second: number, share: number): number =>
  first <= second ? interpolate(first, second, share) : interpolate(second, first, 1 - share);

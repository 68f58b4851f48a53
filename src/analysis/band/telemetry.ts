/** Telemetry of drawn runs as curves at the times of a common grid, and its median and percentiles with the number of runs at each time. */
import type { TelemetryBand } from '../../contract/types.ts';
import { plural } from '../../domain/plural.ts';
import { interpolate } from '../numeric/statistics.ts';
import { reusedWarnings, unfinishedWarnings } from '../table/header.ts';
import type { DrawnTelemetry, RunSamples, Samples } from '../table/drawn-telemetry.ts';
import { type RunTable, countReused, prefixRuns, runIdOf, runsOf } from '../table/run-table.ts';
import { CurveColumns } from './columns.ts';
import { PointStatistics } from './points.ts';

type BandVariable = TelemetryBand['variables'][number];

/** Steps of the grid: enough for the part of it that a short run fills. */
const STEPS = 500;
const SHARES = [0.05, 0.5, 0.95];

/** The samples that could be read. */
export const readRuns = ({ runs }: Pick<DrawnTelemetry, 'runs'>): RunSamples[] =>
  runs.filter((it): it is RunSamples => 'variables' in it);

/** The runs that could not be read, in the order of the sample. */
export const unreadRuns = (table: RunTable, { rows, runs }: DrawnTelemetry): TelemetryBand['unread'] =>
  runs.flatMap((it, at) => ('why' in it ? [{ run_id: runIdOf(table, rows[at]!), reason: it.why }] : []));

/** The times of the bands of these runs: equal steps from the first sample to the last one, of any variable; none without a run. */
export function gridOf(runs: readonly RunSamples[]): number[] {
  if (runs.length === 0) return [];
  const start = runs.reduce((least, it) => Math.min(least, it.startSecs), Infinity);
  const end = runs.reduce((most, it) => Math.max(most, it.endSecs), -Infinity);
  const seconds = Array.from({ length: STEPS + 1 }, (_, at) => start + ((end - start) * at) / STEPS);
  // The last step may round to less than the end.
  seconds[STEPS] = end;
  return seconds;
}

/** The names of the variables that any of these runs has. */
export const variablesOf = (runs: readonly RunSamples[]): string[] =>
  [...new Set(runs.flatMap((it) => [...it.variables.keys()]))].sort();

/** The band of each variable. */
export function telemetryBandOf(table: RunTable, drawn: DrawnTelemetry): TelemetryBand {
  const read = readRuns(drawn);
  const unread = unreadRuns(table, drawn);
  const of = runsOf(table);
  const missing = unread.length === 0 ? '' : `; ${plural(unread.length, 'run')} could not be read`;
  const seconds = gridOf(read);
  return {
    batch_id: table.batchId,
    of,
    prefix: { length: prefixRuns(table), of },
    drawn_from: drawn.drawnFrom,
    sampled: drawn.rows.length,
    read: read.length,
    unread,
    warnings: [...unfinishedWarnings(table), ...reusedWarnings(countReused(table), of)],
    sentence: `band of ${read.length} of ${plural(of, 'run')}${missing}`,
    seconds,
    present: seconds.map((time) => read.filter((it) => it.startSecs <= time && time <= it.endSecs).length),
    variables: variablesOf(read).map((name) => variableOf(name, read, seconds)),
  };
}

/**
 * The curve of a variable of each run, row after row: linear between its samples, and NaN before the first and after the last one, and for a run
 * without the variable.
 */
export function curvesOfVariable(name: string, runs: readonly RunSamples[], seconds: readonly number[]): Float64Array {
  const values = new Float64Array(runs.length * seconds.length).fill(Number.NaN);
  for (const [row, { variables }] of runs.entries()) {
    const samples = variables.get(name);
    if (samples === undefined || samples.secs.length === 0) continue;
    values.set(atTimes(samples, seconds), row * seconds.length);
  }
  return values;
}

function variableOf(name: string, all: readonly RunSamples[], seconds: readonly number[]): BandVariable {
  const runs = all.filter((it) => (it.variables.get(name)?.secs.length ?? 0) > 0);
  const points = seconds.length;
  const rows = { runIds: Uint32Array.from(runs.keys()), unknown: { even: 0, odd: 0 } };
  const statistics = new PointStatistics(rows, points, { quantiles: SHARES, confidence: 0.95 });
  const block = { from: 0, width: points, values: curvesOfVariable(name, runs, seconds) };
  for (const column of new CurveColumns(rows).of(block)) statistics.take(column);
  const [p5, median, p95] = statistics.quantiles.map(({ value }) => numbersOrNull(value));
  return { name, runs: runs.length, present: [...statistics.n], p5: p5!, median: median!, p95: p95! };
}

/** As JSON has them: null for numbers that are not finite. */
export const numbersOrNull = (values: Float64Array): (number | null)[] =>
  Array.from(values, (it) => (Number.isFinite(it) ? it : null));

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

/** How an estimate settles as runs are added: its value and interval over beginnings of the run order. */
import type { Convergence } from '../../contract/types.ts';
import { wilsonInterval } from '../groups/proportion.ts';
import { NumberSeries } from '../numeric/statistics.ts';
import { noSampleOf } from '../../domain/study/design-method.ts';
import { answerHeader, dependenceWarnings, missingWarnings } from '../table/header.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { type RunTable, completePrefix, outputColumn, replicateReader, statisticRows } from '../table/run-table.ts';
import { estimateMean } from './mean.ts';
import { type MissingOptions, UnknownValues } from './censoring.ts';
import { type OpenInterval, estimateQuantile } from './quantiles.ts';
import { requireShare } from '../request-checks.ts';
import { RankedValues } from './ranked-values.ts';
import { ReplicateMeans } from './sample.ts';

/** `p` in (0, 1) for a quantile. */
export type Quantity = 'mean' | 'failure' | { p: number };

export type ConvergencePoint = Convergence['points'][number];

const MOST_POINTS = 200;
/** The classes among which failures are counted, the first of which is none. */
const JUDGED = ['ok', 'terminated', 'crashed', 'timeout'] as const;

/**
 * An estimate at 200 points at most, spaced evenly in log n, over the complete prefix: later runs are a biased selection while runs are open.
 * The mean by `estimateMean`, in a study with replicates one point after each; a quantile by order statistics; `failure`, the share
 * of terminated, crashed and timed-out runs among these and the completed ones, by Wilson. `halfWidth` > 0 in the output's units.
 * @throws RangeError when a number is out of its range.
 */
export function convergence(
  table: RunTable,
  request: { output: string; quantity: Quantity; confidence: number; halfWidth?: number } & MissingOptions,
): Convergence {
  const { output, quantity, confidence, halfWidth } = request;
  requireShare('confidence', confidence);
  if (typeof quantity === 'object') requireShare('p', quantity.p);
  if (halfWidth !== undefined && !(halfWidth > 0))
    throw new RangeError(`half_width is ${halfWidth}: it must be above 0; give it in the units of the output`);
  const { points, bounds = null } =
    quantity === 'failure'
      ? { points: failurePoints(table, confidence) }
      : quantity === 'mean'
        ? { points: meanPoints(table, output, confidence) }
        : quantilePoints(table, request, quantity.p);
  if (noSampleOf(table.method) !== undefined) for (const it of points) it.low = it.high = null;
  const used = points.at(-1)?.n ?? 0;
  const header = answerHeader(table, {
    used,
    prefixOnly: true,
    ...(quantity === 'failure' ? { classes: JUDGED } : {}),
  });
  return {
    ...header,
    warnings: [
      ...header.warnings,
      ...dependenceWarnings(table.method),
      ...(typeof quantity === 'object' ? missingWarnings(request.missing) : []),
    ],
    points,
    bounds,
    runs_for_half_width: halfWidth === undefined ? null : runsForHalfWidth(points.at(-1), halfWidth),
  };
}

/** ceil(n (current half-width / wanted half-width)^2). */
export function runsForHalfWidth(point: ConvergencePoint | undefined, halfWidth: number): number | null {
  if (point === undefined || point.low === null || point.high === null) return null;
  return Math.ceil(point.n * ((point.high - point.low) / 2 / halfWidth) ** 2);
}

/** The places from 1 to n at which points are made, `most` at most; the last is n. */
export function logSpaced(n: number, most = MOST_POINTS): Set<number> {
  if (n <= most) return new Set(Array.from({ length: n }, (_, i) => i + 1));
  return new Set(Array.from({ length: most }, (_, i) => Math.round(n ** (i / (most - 1)))));
}

function meanPoints(table: RunTable, output: string, confidence: number): ConvergencePoint[] {
  const rows = valueRows(table, output);
  const values = outputColumn(table, output) ?? new Float64Array(0);
  const isBoolean = table.booleans.has(output);
  const { method } = table;
  const replicateOf = replicateReader(table);
  // Part of a Latin hypercube or of a sequence is not a replicate: points are at the ends of whole ones.
  const byReplicate = replicateOf !== undefined && method !== 'monte_carlo';
  const places = byReplicate ? replicateEnds(rows, replicateOf) : logSpaced(rows.length);
  const points: ConvergencePoint[] = [];
  const moments = new NumberSeries();
  const means = new ReplicateMeans();
  for (const [i, row] of rows.entries()) {
    moments.add(values[row]!);
    if (byReplicate) means.add(replicateOf(row), values[row]!);
    if (!places.has(i + 1)) continue;
    const { mean, interval } = estimateMean(method, moments, byReplicate ? means.values() : [], confidence, isBoolean);
    points.push({ n: i + 1, value: mean!, low: interval?.[0] ?? null, high: interval?.[1] ?? null });
  }
  return points;
}

const usedPrefix = (table: RunTable): number => Math.min(completePrefix(table), statisticRows(table));

/** The rows of the complete prefix whose run is completed and has a value. */
function valueRows(table: RunTable, output: string): Uint32Array {
  const values = outputColumn(table, output);
  const prefix = values === undefined ? 0 : usedPrefix(table);
  const rows = new Uint32Array(prefix);
  let count = 0;
  for (let row = 0; row < prefix; row++)
    if (table.classes[row] === CLASS_CODES.ok && !Number.isNaN(values![row]!)) rows[count++] = row;
  return rows.subarray(0, count);
}

function replicateEnds(rows: Uint32Array, replicateOf: (row: number) => number): Set<number> {
  const ends = new Set<number>();
  for (let i = 0; i < rows.length; i++)
    if (i + 1 === rows.length || replicateOf(rows[i]!) !== replicateOf(rows[i + 1]!)) ends.add(i + 1);
  return ends;
}

/** Each point uses the runs before the next value: those among them that have none widen its interval. */
function quantilePoints(
  table: RunTable,
  { output, confidence, ...missing }: { output: string; confidence: number } & MissingOptions,
  p: number,
): { points: ConvergencePoint[]; bounds: OpenInterval | null } {
  const rows = valueRows(table, output);
  const values = outputColumn(table, output) ?? new Float64Array(0);
  const places = logSpaced(rows.length);
  const ranked = new RankedValues(Float64Array.from(rows, (row) => values[row]!));
  const unknown = new UnknownValues(table, output, missing);
  const end = usedPrefix(table);
  const points: ConvergencePoint[] = [];
  let bounds: OpenInterval | null = null;
  let next = 0;
  for (const [i, row] of rows.entries()) {
    ranked.add(values[row]!);
    for (const until = rows[i + 1] ?? end; next < until; next++) unknown.take(next);
    if (next === table.rows) unknown.takeAbsent();
    if (!places.has(i + 1)) continue;
    const estimate = estimateQuantile(ranked, unknown, p, confidence);
    const [low, high] = estimate.interval;
    ({ bounds } = estimate);
    points.push({ n: i + 1, value: estimate.value, low, high });
  }
  return { points, bounds };
}

function failurePoints(table: RunTable, confidence: number): ConvergencePoint[] {
  const prefix = usedPrefix(table);
  const failing = new Uint8Array(prefix);
  const isJudged = new Set<number>(JUDGED.map((name) => CLASS_CODES[name]));
  let judged = 0;
  for (let row = 0; row < prefix; row++) {
    const code = table.classes[row]!;
    if (isJudged.has(code)) failing[judged++] = Number(code !== CLASS_CODES.ok);
  }
  const places = logSpaced(judged);
  const points: ConvergencePoint[] = [];
  let failures = 0;
  for (let n = 1; n <= judged; n++) {
    failures += failing[n - 1]!;
    if (!places.has(n)) continue;
    const [low, high] = wilsonInterval(failures, n, confidence);
    points.push({ n, value: failures / n, low, high });
  }
  return points;
}

/** How an estimate settles as runs are added: its value and interval over beginnings of the run order. */
import { wilsonInterval } from '../groups/proportion.ts';
import { NumberSeries } from '../numeric/statistics.ts';
import { type AnswerHeader, answerHeader, dependenceWarnings } from '../table/header.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { type RunTable, completePrefix, outputColumn } from '../table/run-table.ts';
import { estimateMean } from './mean.ts';
import { unknownValues } from './censoring.ts';
import { type OpenInterval, quantileBounds } from './quantiles.ts';
import { quantileRanks } from './order-statistics.ts';
import { requireShare } from '../request-checks.ts';
import { RankedValues } from './ranked-values.ts';
import { ReplicateMeans } from './sample.ts';

/** `p` in (0, 1) for a quantile. */
export type Quantity = 'mean' | 'failure' | { p: number };

export interface ConvergencePoint {
  /** The runs used so far. */
  n: number;
  value: number;
  /** Null where the data or the sampling method allow no interval on that side. */
  low: number | null;
  high: number | null;
}

export interface Convergence extends AnswerHeader {
  points: ConvergencePoint[];
  /**
   * Of a quantile where runs of the complete prefix have no value: the smallest and the largest that it can be, whatever these values are, as in
   * a summary. Null otherwise.
   */
  bounds: OpenInterval | null;
  /** The number of runs whose interval has the half-width that was asked for; null without an interval. */
  runs_for_half_width: number | null;
}

const MOST_POINTS = 200;
/** The classes among which failures are counted, the first of which is none. */
const JUDGED = ['ok', 'terminated', 'crashed', 'timeout'] as const;

/**
 * At most 200 points, spaced evenly in log n, over the complete prefix: later runs are a biased selection while runs are open.
 * The mean by `estimateMean`, in a study with replicates one point after each; a quantile by order statistics; `failure`, the share
 * of terminated, crashed and timed-out runs among these and the completed ones, by Wilson. `halfWidth` > 0 in the output's units.
 * @throws RangeError when a number is out of its range.
 */
export function convergence(
  table: RunTable,
  request: { output: string; quantity: Quantity; confidence: number; halfWidth?: number; variable?: string },
): Convergence {
  const { output, quantity, confidence, halfWidth } = request;
  requireShare('confidence', confidence);
  if (typeof quantity === 'object') requireShare('p', quantity.p);
  if (halfWidth !== undefined && !(halfWidth > 0))
    throw new RangeError(`half_width is ${halfWidth}: it must be above 0; give it in the units of the output`);
  const points =
    quantity === 'failure' ? failurePoints(table, confidence) : outputPoints(table, output, quantity, confidence);
  const used = points.at(-1)?.n ?? 0;
  const header = answerHeader(table, {
    used,
    prefixOnly: true,
    ...(quantity === 'failure' ? { classes: JUDGED } : {}),
  });
  return {
    ...header,
    warnings: [...header.warnings, ...dependenceWarnings(table.method)],
    points,
    bounds: typeof quantity === 'object' ? boundsOf(table, output, quantity.p, request.variable ?? output) : null,
    runs_for_half_width: halfWidth === undefined ? null : runsForHalfWidth(points.at(-1), halfWidth),
  };
}

/** `variable`: the telemetry whose extreme the output reports. */
function boundsOf(table: RunTable, output: string, p: number, variable: string): OpenInterval | null {
  const values = outputColumn(table, output) ?? new Float64Array(0);
  const rows = valueRows(table, output);
  const prefix = completePrefix(table);
  let completed = 0;
  for (let row = 0; row < prefix; row++) completed += Number(table.classes[row] === CLASS_CODES.ok);
  const unknown = unknownValues(table, variable, completed - rows.length, prefix);
  if (unknown.length === 0) return null;
  return quantileBounds(Float64Array.from(rows, (row) => values[row]!).sort(), unknown, p);
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

function outputPoints(
  table: RunTable,
  output: string,
  quantity: 'mean' | { p: number },
  confidence: number,
): ConvergencePoint[] {
  const rows = valueRows(table, output);
  const values = outputColumn(table, output) ?? new Float64Array(0);
  if (quantity !== 'mean')
    return quantilePoints(
      Float64Array.from(rows, (row) => values[row]!),
      quantity.p,
      confidence,
    );
  const { method, replicates } = table;
  // Part of a Latin hypercube or of a sequence is not a replicate: points are at the ends of whole ones.
  const byReplicate = replicates !== undefined && method !== 'monte_carlo';
  const places = byReplicate ? replicateEnds(rows, replicates) : logSpaced(rows.length);
  const points: ConvergencePoint[] = [];
  const moments = new NumberSeries();
  const means = new ReplicateMeans();
  for (const [i, row] of rows.entries()) {
    moments.add(values[row]!);
    if (byReplicate) means.add(replicates[row]!, values[row]!);
    if (!places.has(i + 1)) continue;
    const { mean, interval } = estimateMean(method, moments, byReplicate ? means.values() : [], confidence);
    points.push({ n: i + 1, value: mean!, low: interval?.[0] ?? null, high: interval?.[1] ?? null });
  }
  return points;
}

/** The rows of the complete prefix whose run is completed and has a value. */
function valueRows(table: RunTable, output: string): Uint32Array {
  const values = outputColumn(table, output);
  const prefix = values === undefined ? 0 : completePrefix(table);
  const rows = new Uint32Array(prefix);
  let count = 0;
  for (let row = 0; row < prefix; row++)
    if (table.classes[row] === CLASS_CODES.ok && !Number.isNaN(values![row]!)) rows[count++] = row;
  return rows.subarray(0, count);
}

function replicateEnds(rows: Uint32Array, replicates: Uint16Array): Set<number> {
  const ends = new Set<number>();
  for (let i = 0; i < rows.length; i++)
    if (i + 1 === rows.length || replicates[rows[i]!] !== replicates[rows[i + 1]!]) ends.add(i + 1);
  return ends;
}

function quantilePoints(values: Float64Array, p: number, confidence: number): ConvergencePoint[] {
  const places = logSpaced(values.length);
  const ranked = new RankedValues(values);
  const points: ConvergencePoint[] = [];
  for (const [i, value] of values.entries()) {
    ranked.add(value);
    const n = i + 1;
    if (!places.has(n)) continue;
    const { lower, upper } = quantileRanks(n, p, confidence);
    points.push({
      n,
      value: ranked.quantile(p),
      low: lower === null ? null : ranked.at(lower),
      high: upper === null ? null : ranked.at(upper),
    });
  }
  return points;
}

function failurePoints(table: RunTable, confidence: number): ConvergencePoint[] {
  const prefix = completePrefix(table);
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

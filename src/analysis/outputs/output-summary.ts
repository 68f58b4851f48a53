/** The statistics of one output: moments, quantiles, tolerance bounds, text values. */
import { NumberSeries } from '../numeric/statistics.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import type { MissingRule, StudySummary } from '../../contract/types.ts';
import { noSampleOf } from '../../domain/study/design-method.ts';
import { type RunTable, statisticRows } from '../table/run-table.ts';
import { orderedArray, unknownValues } from './censoring.ts';
import { estimateMean } from './mean.ts';
import { toleranceRank, toleranceRunsNeeded, twoSidedToleranceRank } from './order-statistics.ts';
import { type QuantileEstimate, estimateQuantile } from './quantiles.ts';
import { type Sample, sampleOf } from './sample.ts';

export const DEFAULT_QUANTILES = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99] as const;
/** The share of all runs that a tolerance bound covers. */
const TOLERANCE_CONTENT = 0.95;
/** Rarer values of a text output are one entry. */
const MOST_TEXT_VALUES = 20;

export type Tolerance = OutputSummary['tolerance'];

export type OutputSummary = StudySummary['outputs'][number];

export interface OutputOptions {
  /** Confidence of the intervals, in (0, 1). */
  confidence: number;
  /** Each in [0, 1]. */
  quantiles: readonly number[];
  /** Output name to the telemetry variable whose extreme it reports; the output's own name where absent. */
  censored?: ReadonlyMap<string, string>;
  units?: ReadonlyMap<string, string>;
  /** `any` when absent. */
  missing?: MissingRule;
}

/** The summary of one output. Without numbers every statistic is null and `quantiles` is empty. */
export function summarizeOutput(table: RunTable, name: string, options: OutputOptions): OutputSummary {
  const sample = sampleOf(table, name) ?? NO_VALUES;
  const { series, missing, replicateMeans } = sample;
  const sorted = series.sorted();
  const estimate = estimateMean(table.method, series, replicateMeans, options.confidence, table.booleans.has(name));
  const texts = textValues(table, name);
  return {
    name,
    units: options.units?.get(name) ?? null,
    count: sorted.length,
    missing,
    mean: estimate.mean,
    mean_interval: estimate.interval,
    mean_method: estimate.method,
    mean_reason: estimate.reason,
    sd: series.sd ?? null,
    skewness: skewnessOf(sorted, series),
    min: sorted[0] ?? null,
    max: sorted.at(-1) ?? null,
    quantiles: sorted.length === 0 ? [] : quantilesOf(table, name, sorted, options),
    tolerance: toleranceOf(noSampleOf(table.method) !== undefined ? NO_NUMBERS : sorted, options.confidence),
    ...(texts === undefined ? {} : { text_values: texts }),
  };
}

/** The third standardised moment of some values with this mean and standard deviation. */
export function skewnessOf(values: Float64Array, { mean, sd }: Pick<NumberSeries, 'mean' | 'sd'>): number | null {
  if (sd === undefined || !(sd > 0)) return null;
  const scale = sd * Math.sqrt((values.length - 1) / values.length);
  return values.reduce((sum, it) => sum + ((it - mean) / scale) ** 3, 0) / values.length;
}

/**
 * Whether the t interval of the mean may hold less than its confidence: n is at most 25 times the squared skewness.
 * Source: Cochran, Sampling Techniques (1977), section 2.15. The interval over replicates and the exact one do not depend on it.
 */
export const isMeanDoubtful = ({
  count,
  skewness,
  mean_method: method,
}: Pick<OutputSummary, 'count' | 'skewness' | 'mean_method'>): boolean =>
  (method === 't' || method === 't-conservative') && skewness !== null && count <= 25 * skewness ** 2;

const NO_NUMBERS = new Float64Array(0);
const NO_VALUES: Sample = { series: new NumberSeries(), missing: 0, replicateMeans: [] };

function quantilesOf(
  table: RunTable,
  name: string,
  sorted: Float64Array,
  { quantiles, confidence, censored, missing = 'any' }: OutputOptions,
): QuantileEstimate[] {
  const unknown = unknownValues(table, name, { variable: censored?.get(name) ?? name, missing });
  const values = orderedArray(sorted);
  const estimates = quantiles.map((p) => estimateQuantile(values, unknown, p, confidence));
  // Ranks among runs that are not a sample bound nothing.
  return noSampleOf(table.method) !== undefined
    ? estimates.map((it) => ({ ...it, interval: [null, null] }))
    : estimates;
}

function toleranceOf(sorted: Float64Array, confidence: number): Tolerance {
  const content = TOLERANCE_CONTENT;
  const n = sorted.length;
  const rank = toleranceRank(n, content, confidence);
  const inner = twoSidedToleranceRank(n, content, confidence);
  return {
    content,
    confidence,
    lower: rank === null ? null : sorted[n - rank]!,
    upper: rank === null ? null : sorted[rank - 1]!,
    two_sided: inner === null ? null : [sorted[inner - 1]!, sorted[n - inner]!],
    runs_needed: toleranceRunsNeeded(content, confidence),
  };
}

function textValues(table: RunTable, name: string): OutputSummary['text_values'] {
  const column = table.texts.get(name);
  if (column === undefined) return undefined;
  const counts = new Uint32Array(column.values.length);
  const rows = statisticRows(table);
  for (let row = 0; row < rows; row++) if (table.classes[row] === CLASS_CODES.ok) counts[column.codes[row]!]!++;
  const entries = column.values
    .map((value, code): { value: string | null; count: number } => ({ value, count: counts[code]! }))
    .filter((it, code) => code > 0 && it.count > 0)
    .sort((a, b) => b.count - a.count);
  const rest = entries.slice(MOST_TEXT_VALUES).reduce((sum, it) => sum + it.count, 0);
  return [...entries.slice(0, MOST_TEXT_VALUES), ...(rest > 0 ? [{ value: null, count: rest }] : [])];
}

/** The statistics of a study's outputs, and its failures by reason: what a person wants to know first. */
import { NumberSeries, type Description } from '../domain/statistics.ts';
import type { JobResult } from '../domain/types.ts';
import { formatNumber, printable } from './format.ts';
import { asNumber, outputsOf } from './output-columns.ts';
import { renderTable, type Column } from './table.ts';

/** More outputs than this are not described: each costs 8 bytes a run. */
const MAX_OUTPUTS = 200;

export interface ResultSummary {
  succeeded: number;
  failed: number;
  /** By output name, of the successful runs only; `execution_time_secs` among them. */
  outputs: Map<string, NumberSeries>;
  /** How many runs failed with which message. */
  failures: Map<string, number>;
  /** Outputs left out because there were too many. */
  outputsOmitted: number;
}

/** Reads results once; the memory grows by 8 bytes a run and output. */
export async function summarizeResults(results: AsyncIterable<JobResult>): Promise<ResultSummary> {
  const summary: ResultSummary = {
    succeeded: 0,
    failed: 0,
    outputs: new Map(),
    failures: new Map(),
    outputsOmitted: 0,
  };
  const omitted = new Set<string>();
  for await (const result of results) {
    if (!result.success) {
      summary.failed++;
      const kind = failureKind(result.error_message ?? 'no message');
      if (summary.failures.size < 1000 || summary.failures.has(kind))
        summary.failures.set(kind, (summary.failures.get(kind) ?? 0) + 1);
      continue;
    }
    summary.succeeded++;
    const values = outputsOf(result).set('execution_time_secs', result.execution_time_secs);
    for (const [name, value] of values) {
      const number = asNumber(value);
      if (number === undefined) continue;
      let series = summary.outputs.get(name);
      if (series === undefined && summary.outputs.size >= MAX_OUTPUTS) omitted.add(name);
      else if (series === undefined) summary.outputs.set(name, (series = new NumberSeries()));
      series?.add(number);
    }
  }
  summary.outputsOmitted = omitted.size;
  return summary;
}

/** Messages that differ in their numbers only are one kind of failure. */
export function failureKind(message: string): string {
  return printable(message, 160).replaceAll(/\d+(\.\d+)?([eE][-+]?\d+)?/g, 'N');
}

const STATISTICS: readonly (keyof Description)[] = ['count', 'mean', 'sd', 'min', 'p5', 'p50', 'p95', 'max'];

/** One line for each output. */
export function statisticsTable(summary: ResultSummary): string {
  const columns: Column[] = [{ name: 'output' }, ...STATISTICS.map((name): Column => ({ name, align: 'right' }))];
  const rows: (string | number)[][] = [];
  for (const [name, series] of summary.outputs) {
    const described = series.describe();
    if (described === undefined) continue;
    rows.push([
      name,
      ...STATISTICS.map((statistic) => (described[statistic] === undefined ? '-' : formatNumber(described[statistic]))),
    ]);
  }
  return renderTable(columns, rows);
}

/** The failures, most frequent first, at most ten kinds. */
export function failureLines(summary: ResultSummary): string[] {
  const kinds = [...summary.failures].sort((a, b) => b[1] - a[1]);
  const lines = kinds.slice(0, 10).map(([kind, count]) => `${String(count).padStart(6)} x ${kind}`);
  return kinds.length > 10 ? [...lines, `       and ${kinds.length - 10} other kinds`] : lines;
}

/** The same as plain data, for `--output json`. */
export function summaryJson(summary: ResultSummary): unknown {
  const outputs = [...summary.outputs].map(([name, series]): [string, Description | undefined] => [
    name,
    series.describe(),
  ]);
  return {
    succeeded: summary.succeeded,
    failed: summary.failed,
    outputs: Object.fromEntries(outputs),
    failures: [...summary.failures].map(([message, count]) => ({ message, count })),
    outputs_omitted: summary.outputsOmitted,
  };
}

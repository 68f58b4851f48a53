/** Statistics of a study's outputs, and its failures by pattern. */
import { normalizeMessage, decisiveLine } from '../../domain/failure-groups.ts';
import { NumberSeries, type Description } from '../../domain/statistics.ts';
import type { JobResult } from '../../contract/types.ts';
import { formatNumber, printable } from '../terminal/format.ts';
import { asNumber, outputsOf } from './output-columns.ts';
import { renderTable, type Column } from '../terminal/table.ts';

/** Most outputs with statistics: each costs 8 bytes per run. */
const MAX_OUTPUTS = 200;
/** Most failure patterns that are listed; further ones are only counted. */
const MAX_KINDS = 1000;
const MESSAGE_LENGTH = 200;

export interface ResultSummary {
  succeeded: number;
  failed: number;
  /** By output name, of successful runs only; includes `execution_time_secs`. */
  outputs: Map<string, NumberSeries>;
  /** By pattern (see domain/failure-groups.ts): number of runs and the first message. */
  failures: Map<string, { count: number; example: string }>;
  /** Number of outputs omitted because there were too many. */
  outputsOmitted: number;
}

/** Reads results once; memory grows by 8 bytes per run and output. */
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
      const message = result.error_message ?? '';
      const kind = normalizeMessage(message);
      const known = summary.failures.get(kind);
      if (known !== undefined) known.count++;
      else if (summary.failures.size < MAX_KINDS)
        summary.failures.set(kind, { count: 1, example: decisiveLine(message) });
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

const STATISTICS: readonly (keyof Description)[] = ['count', 'mean', 'sd', 'min', 'p5', 'p50', 'p95', 'max'];

/** Returns one line per output. */
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

/** Returns the failures, most frequent first, at most ten patterns, each with its first message. */
export function failureLines(summary: ResultSummary): string[] {
  const kinds = [...summary.failures.values()].sort((a, b) => b.count - a.count);
  const lines = kinds
    .slice(0, 10)
    .map(({ count, example }) => `${String(count).padStart(6)} x ${printable(example, MESSAGE_LENGTH)}`);
  return kinds.length > 10 ? [...lines, `       and ${kinds.length - 10} other kinds`] : lines;
}

/** Returns the summary as plain data, for `--output json`. */
export function summaryJson(summary: ResultSummary): unknown {
  const outputs = [...summary.outputs].map(([name, series]): [string, Description | undefined] => [
    name,
    series.describe(),
  ]);
  return {
    succeeded: summary.succeeded,
    failed: summary.failed,
    outputs: Object.fromEntries(outputs),
    failures: [...summary.failures.values()].map(({ example, count }) => ({ message: example, count })),
    outputs_omitted: summary.outputsOmitted,
  };
}

/** The intervals of a summary that are to hold where a study stops: those of the confidence sequences of its precisions. */
import type { StudySummary } from '../../contract/types.ts';
import type { RunTable } from '../table/run-table.ts';
import type { Warning } from '../warning.ts';
import { listed } from '../wording.ts';
import { sightAt } from './judge.ts';
import { type ParsedPrecision, quantityText } from './precision.ts';

type OutputSummary = StudySummary['outputs'][number];

/**
 * The outputs with the intervals of confidence sequences in place of those of a fixed number of runs, at the same confidence, for the means and quantiles of the
 * precisions.
 */
export function withAnytimeIntervals(
  outputs: readonly OutputSummary[],
  table: RunTable,
  precisions: readonly ParsedPrecision[],
  confidence: number,
): OutputSummary[] {
  return outputs.map((output) =>
    precisions
      .filter((it) => it.output === output.name)
      .reduce((summary, it) => replaced(summary, table, it, confidence), output),
  );
}

function replaced(
  output: OutputSummary,
  table: RunTable,
  precision: ParsedPrecision,
  confidence: number,
): OutputSummary {
  const { quantity } = precision;
  if (quantity === 'probability') return output;
  const { interval, reason } = sightAt(table, precision, confidence);
  const [low, high] = interval;
  if (quantity === 'mean') {
    const isWhole = low !== null && high !== null;
    return {
      ...output,
      mean_interval: isWhole ? [low, high] : null,
      mean_method: isWhole ? (precision.method === 'asymptotic' ? 'anytime-asymptotic' : 'anytime') : null,
      mean_reason: isWhole ? null : (reason ?? output.mean_reason),
    };
  }
  const quantiles = output.quantiles.map((it) =>
    it.p === quantity.p ? { ...it, interval, method: 'anytime' as const } : it,
  );
  return { ...output, quantiles };
}

/** Says which intervals hold at a stop. */
export function anytimeWarnings(precisions: readonly ParsedPrecision[]): Warning[] {
  const shown = precisions.filter(({ quantity }) => quantity !== 'probability');
  if (shown.length === 0) return [];
  const names = shown.map((it) => quantityText({ output: it.output, quantity: it.written, condition: null }));
  const message = `the ${names.length === 1 ? 'interval' : 'intervals'} of ${listed(names)} ${names.length === 1 ? 'is that of a confidence sequence' : 'are those of confidence sequences'}: valid at every number of runs, hence where the study stops; all others are of a fixed number of runs`;
  return [{ code: 'anytime', message }];
}

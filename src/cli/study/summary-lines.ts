/** The summary of a study as lines for people. */
import type { StudySummary } from '../../contract/types.ts';
import { scenarioText } from '../../domain/scenarios/cells.ts';
import type { TableOptions } from '../terminal/table.ts';
import {
  failureLines,
  intervalLines,
  limitLines,
  statisticsTable,
  verdictLines,
  precisionLines,
} from './answer-text.ts';

interface SummaryOptions extends TableOptions {
  /** P5, P50 and P95 without them. */
  quantiles?: readonly number[] | undefined;
  /** The sentence about the study, where it stands above. */
  headline?: string | undefined;
}

/** The sentence, the verdicts, the statistics, the failures. */
export function summaryLines(
  summary: StudySummary,
  { quantiles, headline, ...options }: SummaryOptions = {},
): string[] {
  const codes = summary.warnings.map(({ code }) => code);
  const lines = [
    summary.sentence,
    ...limitLines(summary, ['runs-left-out']),
    ...verdictLines(summary.requirements, { codes, headline }),
    ...precisionLines(summary.precision),
  ];
  if (summary.outputs.some((it) => it.count > 0))
    lines.push('', statisticsTable(summary, options, quantiles), ...intervalLines(summary));
  for (const it of summary.by ?? []) lines.push('', scenarioText(it.scenario), statisticsTable(it, options, quantiles));
  const failures = failureLines(summary);
  return failures.length === 0 ? lines : [...lines, '', 'failures', ...failures];
}

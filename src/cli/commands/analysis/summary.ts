/** `simbatch summary`: statistics of the outputs, failures and verdicts; `simbatch worst` and `simbatch convergence` of one output. */
import type { Command } from 'commander';
import { quantileParts } from '../../../analysis/outputs/estimate-text.ts';
import { convergence } from '../../../analysis/questions/convergence.ts';
import { summary } from '../../../analysis/questions/summary.ts';
import { worst } from '../../../analysis/questions/worst.ts';
import type { Convergence } from '../../../contract/types.ts';
import { answerLines } from '../../progress/answer-line.ts';
import { cell, limitLines, rangeCell, usedRunsLines } from '../../study/answer-text.ts';
import { summaryLines } from '../../study/summary-lines.ts';
import { renderTable } from '../../terminal/table.ts';
import { questionCommand } from './question-command.ts';

export const summaryCommand = (): Command =>
  questionCommand(summary, {
    summary: 'statistics of the outputs, failures by pattern, verdicts',
    flags: { missing: '--missing <rule>' },
    lines: async (answer, options, { analysis, batchId, family, query: { quantiles } }) => {
      const about = await analysis.ask('answer', batchId, family);
      return [...answerLines(about), ...summaryLines(answer, { ...options, quantiles, headline: about.sentence })];
    },
  });

export const worstCommand = (): Command =>
  questionCommand(worst, {
    summary: 'the runs with the most extreme values of an output',
    flags: { k: '-k, --count <count>', direction: '--direction <extreme>' },
    lines: (answer, options, { query: { output, direction = 'largest' } }) => [
      ...usedRunsLines(answer),
      `${answer.runs.length} ${direction} of ${answer.n_used} values of ${output}`,
      ...limitLines(answer, ['runs-left-out']),
      renderTable(
        [{ name: 'run', align: 'right' }, { name: 'value', align: 'right' }, { name: 'execute again with' }],
        answer.runs.map((it) => [it.run_id, cell(it.value), it.replay]),
        options,
      ),
    ],
  });

/** Points that the table shows: the last ones of the curve. */
const SHOWN_POINTS = 12;

export const convergenceCommand = (): Command =>
  questionCommand(convergence, {
    summary: 'how an estimate settles with the number of runs',
    flags: { quantity: '--quantity <quantity>', half_width: '--half-width <width>', missing: '--missing <rule>' },
    lines(answer, options, { query: { output, quantity, half_width: halfWidth } }) {
      const last = answer.points.at(-1);
      const estimated = `${quantity ?? (output === undefined ? 'failed share' : 'mean')}${output === undefined ? '' : ` of ${output}`}`;
      const needed = answer.runs_for_half_width;
      const step = Math.max(1, Math.ceil(answer.points.length / SHOWN_POINTS));
      const shown = answer.points.filter((_, at) => (answer.points.length - 1 - at) % step === 0);
      return [
        ...usedRunsLines(answer),
        last === undefined
          ? `${estimated}: no values yet`
          : `${estimated}: ${lastText(answer, last)} after ${last.n} runs`,
        ...(needed === null ? [] : [`half-width ${cell(halfWidth)} needs about ${needed} runs`]),
        ...limitLines(answer, ['runs-left-out']),
        renderTable(
          [{ name: 'runs', align: 'right' }, { name: 'value', align: 'right' }, { name: 'interval' }],
          shown.map((it) => [it.n, isInside(it) ? cell(it.value) : '-', rangeCell([it.low, it.high])]),
          options,
        ),
      ];
    },
  });

type Point = Convergence['points'][number];

/** False where the threshold of a rule excludes the value of the survivors: the interval alone is true then. */
const isInside = ({ value, low, high }: Point): boolean =>
  (low === null || low <= value) && (high === null || value <= high);

/** The last estimate with its interval; where the sampling method has none, the estimate alone. */
function lastText({ bounds }: Convergence, { value, low, high }: Point): string {
  if (low === null && high === null) return cell(value);
  return quantileParts({ value, interval: [low, high], bounds }).join(' ');
}

/** `simbatch summary`: statistics of the outputs, failures and verdicts; `simbatch worst` and `simbatch convergence` of one output. */
import { Option, type Command } from 'commander';
import { DIRECTIONS, MISSING_RULES } from '../../../contract/enums.ts';
import type { Convergence, Direction, MissingRule } from '../../../contract/types.ts';
import { quantileParts } from '../../../analysis/outputs/estimate-text.ts';
import { integerBetween } from '../../options.ts';
import { answerLines } from '../../progress/answer-line.ts';
import { cell, limitLines, rangeCell, usedRunsLines } from '../../study/answer-text.ts';
import { summaryLines } from '../../study/summary-lines.ts';
import { renderTable } from '../../terminal/table.ts';
import {
  FAMILY_OPTION,
  familyCommand,
  familyQuery,
  given,
  noMore,
  openSource,
  printAnswer,
  required,
  sourceCommand,
  type AnswerFlags,
  type SourceFlags,
} from './answer-command.ts';

interface SummaryFlags extends AnswerFlags {
  missing?: MissingRule;
}

const missingOption = (): Option =>
  new Option('--missing <rule>', 'how quantiles take runs without a value (default: any)').choices(MISSING_RULES);

export function summaryCommand(): Command {
  return familyCommand('summary', 'statistics of the outputs, failures by pattern, verdicts')
    .addOption(missingOption())
    .action(async (reference: string | undefined, flags: SummaryFlags) => {
      const { analysis, batchId, rest } = await openSource(flags, [reference]);
      noMore(rest, 0);
      const answer = await analysis.ask('summary', batchId, {
        ...given({ confidence: flags.confidence, missing: flags.missing }),
        ...familyQuery(flags),
      });
      const first = await analysis.ask('answer', batchId, familyQuery(flags));
      await printAnswer(flags, answer, (summary, options) => [
        ...answerLines(first),
        ...summaryLines(summary, options),
      ]);
    });
}

interface WorstFlags extends SourceFlags {
  count: number;
  direction: Direction;
}

export function worstCommand(): Command {
  return sourceCommand('worst', 'the runs with the most extreme values of an output')
    .argument('[output]', 'the output, such as miss_m')
    .option(...FAMILY_OPTION)
    .addOption(new Option('-k, --count <count>', 'how many runs').argParser(integerBetween(1, 1000)).default(10))
    .addOption(new Option('--direction <extreme>', 'which extreme').choices(DIRECTIONS).default('largest'))
    .action(async (reference: string | undefined, name: string | undefined, flags: WorstFlags) => {
      const { count: k, direction } = flags;
      const { analysis, batchId, rest } = await openSource(flags, [reference, name]);
      noMore(rest, 1);
      const output = required(rest[0], 'output');
      await printAnswer(
        flags,
        await analysis.ask('worst', batchId, { output, k, direction, ...familyQuery(flags) }),
        (answer, options) => [
          ...usedRunsLines(answer),
          `${answer.runs.length} ${direction} of ${answer.n_used} values of ${output}`,
          ...limitLines(answer, ['runs-left-out']),
          renderTable(
            [{ name: 'run', align: 'right' }, { name: 'value', align: 'right' }, { name: 'execute again with' }],
            answer.runs.map((it) => [it.run_id, cell(it.value), it.replay]),
            options,
          ),
        ],
      );
    });
}

interface ConvergenceFlags extends SummaryFlags {
  quantity?: string;
  halfWidth?: number;
}

/** Points that the table shows: the last ones of the curve. */
const SHOWN_POINTS = 12;

export function convergenceCommand(): Command {
  return familyCommand('convergence', 'how an estimate settles with the number of runs')
    .argument('[output]', 'the output, such as miss_m; without it the share of failed runs')
    .option('--quantity <quantity>', 'mean, or a percentile such as p95')
    .addOption(
      new Option('--half-width <width>', 'the half-width to reach, in the units of the output').argParser(Number),
    )
    .addOption(missingOption())
    .action(async (reference: string | undefined, name: string | undefined, flags: ConvergenceFlags) => {
      const { quantity, halfWidth: half_width, confidence, missing } = flags;
      const { analysis, batchId, rest } = await openSource(flags, [reference, name]);
      noMore(rest, 1);
      const [output] = rest;
      const query = { ...given({ output, quantity, half_width, confidence, missing }), ...familyQuery(flags) };
      await printAnswer(flags, await analysis.ask('convergence', batchId, query), (answer, options) => {
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
          ...(needed === null ? [] : [`half-width ${cell(half_width)} needs about ${needed} runs`]),
          ...limitLines(answer, ['runs-left-out']),
          renderTable(
            [{ name: 'runs', align: 'right' }, { name: 'value', align: 'right' }, { name: 'interval' }],
            shown.map((it) => [it.n, isInside(it) ? cell(it.value) : '-', rangeCell([it.low, it.high])]),
            options,
          ),
        ];
      });
    });
}

type Point = Convergence['points'][number];

/** False where the threshold of a rule excludes the value of the survivors: the interval alone is true then. */
const isInside = ({ value, low, high }: Point): boolean =>
  (low === null || low <= value) && (high === null || value <= high);

/** The last estimate with its interval; where the sampling method has none, the estimate alone. */
function lastText({ bounds }: Convergence, { value, low, high }: Point): string {
  if (low === null && high === null) return cell(value);
  return quantileParts({ value, interval: [low, high], bounds }).join(' ');
}

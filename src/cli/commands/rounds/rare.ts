/** `simbatch rare`: the probability of a rare violation with its bounds, of a study with the algorithm `rare_event` and of those that were submitted with it. */
import type { Command } from 'commander';
import { rareEvent } from '../../../analysis/questions/outcome/rare-event.ts';
import { MEASURED_TEXT } from '../../../analysis/rare/answer/measured.ts';
import { rareNumber } from '../../../analysis/rare/answer/sentence.ts';
import type { RareEventAnswer } from '../../../contract/types.ts';
import { shortId } from '../../../domain/ids.ts';
import { EXIT } from '../../exit-codes.ts';
import { limitLines } from '../../study/answer-text.ts';
import { formatNumber, plural, printable } from '../../terminal/format.ts';
import { renderTable, type Column, type TableOptions } from '../../terminal/table.ts';
import { questionCommand } from '../analysis/question-command.ts';

const right = (name: string): Column => ({ name, align: 'right' });
const MOST_INPUTS = 5;

export const rareCommand = (): Command =>
  questionCommand(rareEvent, {
    name: 'rare',
    summary:
      'the probability of a rare violation, with bounds, of a study of rare events and its repeats with other seeds (experimental)',
    defaults: { combined: 'true' },
    lines: rareLines,
    printed: ({ verdict }) => {
      if (verdict?.verdict === 'violated') process.exitCode = EXIT.requirementViolated;
    },
  });

function rareLines(answer: RareEventAnswer, options: TableOptions): string[] {
  const { phase, verdict, search, importance, studies } = answer;
  if (phase === null) return [answer.sentence];
  const alone = studies.length === 1;
  return [
    'experimental: the bounds are of the violations in the regions found',
    printable(answer.sentence, 2_000),
    ...(verdict === null ? [] : [verdictLine(answer)]),
    ...limitLines(answer),
    `note: ${MEASURED_TEXT}`,
    ...(alone ? [] : ['', partsTable(answer, options)]),
    ...(alone && search !== null && search.levels.length > 0 ? ['', levelTable(answer, options)] : []),
    ...(alone && importance.length > 0 ? ['', importanceTable(answer, options)] : []),
  ];
}

function verdictLine({ verdict, requirement, direct }: RareEventAnswer): string {
  const { verdict: found, given, reason } = verdict!;
  const text = found === 'not-shown' ? 'not shown' : found;
  const condition =
    given === null ? '' : ` as far as regions were found; direct runs alone show P < ${rareNumber(direct!.upper)}`;
  const why = reason === 'one-study' ? ': by one study alone; ask for two with different seeds' : '';
  return `requirement ${printable(requirement ?? '')}: ${text}${condition}${why}`;
}

/** The studies that are answered together. */
function partsTable({ parts, confidence }: RareEventAnswer, options: TableOptions): string {
  const number = (it: number | null): string => (it === null ? '-' : rareNumber(it));
  const rows = parts.map(({ batch_id: id, phase, reason, runs, estimate, lower, upper }) => [
    shortId(id),
    reason ?? phase ?? '-',
    String(runs),
    number(estimate),
    // Without an estimate the bounds are those of the plain runs, which are in the sentence.
    estimate === null ? '-' : number(lower),
    estimate === null ? '-' : number(upper),
  ]);
  const level = `${formatNumber(100 * (confidence ?? 0), 4)} % in the regions found: lower`;
  return renderTable(
    [{ name: 'study' }, { name: 'state' }, right('runs'), right('estimate'), right(level), right('upper')],
    rows,
    options,
  );
}

/** The levels as a staircase: each begins where the one before was reached. */
function levelTable({ search }: RareEventAnswer, options: TableOptions): string {
  let reached = 1;
  const rows = search!.levels.map((it, at) => {
    reached *= it.reached / it.n;
    const accepted = it.rounds.reduce((sum, round) => sum + round.accepted, 0);
    return [
      String(at + 1),
      formatNumber(it.output, 5),
      `${it.reached}/${it.n}`,
      rareNumber(reached),
      it.rounds.length === 0 ? '-' : plural(accepted, 'move'),
    ];
  });
  const columns = [right('level'), right('output'), right('reached'), right('probability'), right('accepted')];
  return renderTable(columns, rows, options);
}

function importanceTable({ importance }: RareEventAnswer, options: TableOptions): string {
  const rows = importance
    .slice(0, MOST_INPUTS)
    .map(({ name, share, mean }) => [printable(name), `${Math.round(100 * share)} %`, `${mean.toFixed(2)} sigma`]);
  return renderTable([{ name: 'violations lie at', shrink: 20 }, right('share'), right('mean')], rows, options);
}

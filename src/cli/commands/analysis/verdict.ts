/** `simbatch verdict`: judges the requirements of a study, or one of the command line; the exit code is the verdict. */
import type { Command } from 'commander';
import { verdicts } from '../../../analysis/questions/outcome/verdicts.ts';
import type { CellVerdict, StudyAnswer, StudyVerdicts } from '../../../contract/types.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { answerLines, stepLines } from '../../progress/answer-line.ts';
import { limitLines, usedRunsLines, verdictLines } from '../../study/answer-text.ts';
import { verdictExitCode } from '../../study/verdicts.ts';
import { shareInPercent } from '../../../analysis/wording.ts';
import { statusTone } from '../../terminal/colour.ts';
import { renderTable, type TableOptions } from '../../terminal/table.ts';
import { questionCommand } from './question-command.ts';

export const verdictCommand = (): Command =>
  questionCommand(verdicts, {
    name: 'verdict',
    summary: 'judge the requirements of a study, or one given here',
    flags: { condition: '--condition <condition>', terminated: '--terminated <rule>' },
    former: { output: '--on <output>' },
    lines: async (answer, options, { analysis, batchId, family }) => [
      ...(await blockedLines(answer, () => analysis.ask('answer', batchId, family))),
      ...verdictReport(answer, options),
    ],
    printed({ requirements }) {
      if (requirements.length === 0) {
        const remedy = 'declare `requirements` in the study, or give an output, --condition and --probability';
        throw new Failure(EXIT.usage, `nothing is judged: the study has no requirement; ${remedy}`);
      }
      process.exitCode = verdictExitCode(requirements.map((it) => it.verdict ?? 'none'));
    },
  });

/** The sentence about a study whose open runs do not start, and the commands with which they do. */
async function blockedLines({ excluded }: StudyVerdicts, ask: () => Promise<StudyAnswer>): Promise<string[]> {
  // The exclusion of open runs is named by their place where the verdict uses the complete prefix alone.
  if (excluded.open === undefined && excluded.after_prefix === undefined) return [];
  const answer = await ask();
  return answer.level === 'blocked' ? [...answerLines(answer), ...stepLines(answer), ''] : [];
}

/** The sentences, the limits of the answer, and a table of the counts. */
export function verdictReport(answer: StudyVerdicts, options: TableOptions = {}): string[] {
  const { requirements } = answer;
  if (requirements.length === 0) return [];
  const counts = ['passed', 'failed', 'unknown'] as const;
  const right = (name: string) => ({ name, align: 'right' }) as const;
  // The limits of the study are those of every requirement.
  const ofRequirements = requirements.flatMap((it) => it.warnings.map(({ code }) => code));
  return [
    ...usedRunsLines(answer),
    ...verdictLines(requirements),
    ...limitLines(answer, [...ofRequirements, 'runs-left-out']),
    '',
    renderTable(
      [
        { name: 'requirement', shrink: 12 },
        { name: 'verdict', tone: statusTone },
        ...counts.map(right),
        right('lower'),
        right('upper'),
        { name: 'wilson', rank: 1 },
      ],
      requirements.map((it) => [
        it.name,
        it.verdict ?? 'none',
        ...counts.map((name) => it[name]),
        shareInPercent(it.lower),
        shareInPercent(it.upper),
        it.wilson === null ? '-' : it.wilson.map(shareInPercent).join(' to '),
      ]),
      options,
    ),
    ...requirements.flatMap((it) => (it.by === undefined ? [] : ['', it.name, ...cellRows(it.by, options)])),
  ];
}

/** The table of the cells of a requirement. `called`: the verdict that holds for the set of all cells with the same one. */
function cellRows(cells: readonly CellVerdict[], options: TableOptions): string[] {
  const axes = Object.keys(cells[0]?.scenario ?? {});
  const right = (name: string) => ({ name, align: 'right' }) as const;
  const isOfSeveral = cells.some((it) => it.cells > 1);
  return [
    renderTable(
      [
        ...axes.map((name) => ({ name, shrink: 8 })),
        ...(isOfSeveral ? [right('cells')] : []),
        { name: 'verdict', tone: statusTone },
        { name: 'called' },
        ...['passed', 'failed', 'unknown', 'estimate', 'lower', 'upper'].map(right),
      ],
      cells.map((it) => [
        ...axes.map((axis) => it.scenario[axis]!),
        ...(isOfSeveral ? [it.cells] : []),
        it.verdict,
        it.called ?? '-',
        it.passed,
        it.failed,
        it.unknown,
        it.estimate === null ? '-' : shareInPercent(it.estimate),
        shareInPercent(it.lower),
        shareInPercent(it.upper),
      ]),
      options,
    ),
    'verdict: of each row alone; called: corrected for the number of cells (Holm), for statements about several cells',
    ...(isOfSeveral
      ? ['estimate, lower, upper: each the least of the cells of a row; the runs are those of all of them']
      : []),
  ];
}

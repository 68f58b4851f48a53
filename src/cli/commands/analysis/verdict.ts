/** `simbatch verdict`: judges the requirements of a study, or one of the command line; the exit code is the verdict. */
import { Option, type Command } from 'commander';
import { LOOKS, TERMINATED_RULES } from '../../../contract/enums.ts';
import type { Look, StudyVerdicts, TerminatedRule } from '../../../contract/types.ts';
import { EXIT } from '../../exit-codes.ts';
import { Failure } from '../../failure.ts';
import { limitLines, usedRunsLines, verdictLines } from '../../study/answer-text.ts';
import { verdictExitCode } from '../../study/verdicts.ts';
import { shareInPercent } from '../../../analysis/wording.ts';
import { statusTone } from '../../terminal/colour.ts';
import { renderTable, type TableOptions } from '../../terminal/table.ts';
import {
  familyCommand,
  familyQuery,
  given,
  noMore,
  openSource,
  printAnswer,
  share,
  type AnswerFlags,
} from './answer-command.ts';

interface VerdictFlags extends AnswerFlags {
  on?: string;
  condition?: string;
  probability?: number;
  terminated?: TerminatedRule;
  look?: Look;
}

export function verdictCommand(): Command {
  return familyCommand('verdict', 'judge the requirements of a study, or one given here')
    .option('--on <output>', 'the output of a requirement given here')
    .option('--condition <condition>', 'with --on: the condition under which a run passes, such as "<= 50"')
    .addOption(new Option('--probability <share>', 'with --on: the required probability of passing').argParser(share))
    .addOption(
      new Option('--terminated <rule>', 'with --on: how runs count that a rule ended').choices(TERMINATED_RULES),
    )
    .addOption(new Option('--look <look>', 'with --on: judged once, or after each run').choices(LOOKS))
    .action(async (reference: string | undefined, flags: VerdictFlags) => {
      const { analysis, batchId, rest } = await openSource(flags, [reference]);
      noMore(rest, 0);
      const { on: output, condition, probability, confidence, terminated, look } = flags;
      const query = {
        ...given({ output, condition, probability, confidence, terminated, look }),
        ...familyQuery(flags),
      };
      const { requirements } = await printAnswer(flags, await analysis.ask('verdicts', batchId, query), verdictReport);
      if (requirements.length === 0) {
        const remedy = 'declare `requirements` in the study, or give --on, --condition and --probability';
        throw new Failure(EXIT.usage, `nothing is judged: the study has no requirement; ${remedy}`);
      }
      process.exitCode = verdictExitCode(requirements.map((it) => it.verdict));
    });
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
        it.verdict,
        ...counts.map((name) => it[name]),
        shareInPercent(it.lower),
        shareInPercent(it.upper),
        it.wilson === null ? '-' : it.wilson.map(shareInPercent).join(' to '),
      ]),
      options,
    ),
  ];
}

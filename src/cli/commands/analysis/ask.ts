/** `simbatch ask`: any question about a study, by its name in the API. A new question is here without a line of its own. */
import { Command, Help } from 'commander';
import type { Question } from '../../../analysis/question.ts';
import { pbox } from '../../../analysis/questions/outcome/pbox.ts';
import { QUESTIONS } from '../../../analysis/questions.ts';
import { boxLines } from './scenarios/box-lines.ts';
import { asHelp } from './query-options.ts';
import { questionCommand } from './question-command.ts';

export function askCommand(): Command {
  const command = new Command('ask').description(
    'ask a question about a study by its name in the API; `verdict`, `why` and other commands present some of them for people',
  );
  // A narrow column of names leaves room for the summaries in 80 columns.
  command.createHelp = () => Object.assign(new Help(), { subcommandTerm: (part: Command) => part.name() });
  for (const question of QUESTIONS) command.addCommand(partOf(question));
  return command;
}

function partOf(question: Question): Command {
  const part = question.name === pbox.name ? questionCommand(pbox, { lines: boxLines }) : questionCommand(question);
  const words = part.registeredArguments.slice(1).map((it) => it.name().toUpperCase());
  return part
    .summary(asHelp(question.summary))
    .addHelpText('after', `\nExample:\n  $ simbatch ask ${[question.name, 'latest', ...words].join(' ')}`);
}

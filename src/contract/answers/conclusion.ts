/** The answer about a study: is it OK, what happened, what next. */
import type { Static } from 'typebox';
import { answered, enumOf, listOf, named, text } from '../build.ts';
import { ANSWER_LEVELS } from '../enums.ts';

export const StudyAnswer = named(
  'StudyAnswer',
  'Whether a study is in order, in one sentence, and the next steps.',
  answered({
    level: enumOf(
      ANSWER_LEVELS,
      '`ok`: every requirement is met; without requirements, every run completed. `not_ok`: a requirement is violated, all runs failed alike, or without requirements a run did not complete. `not_enough`: a requirement is not shown. `blocked`: no pending run starts until an operator or the submitter acts.',
    ),
    sentence: text('The answer for people. Begins with the level, or says that the study waits for its canary.'),
    reasons: listOf(text('One sentence.'), 'The verdicts, failures and findings from which it follows.', 20),
    next: listOf(
      answered({
        label: text('What the step does.'),
        action: answered({
          page: text('The page of the dashboard, from the address of the coordinator.'),
          command: text('The command line, quoted for a POSIX shell.'),
        }),
      }),
      'The next steps, the most useful first.',
      3,
    ),
  }),
);
export type StudyAnswer = Static<typeof StudyAnswer>;

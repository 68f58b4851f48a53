/** How often the runs took each transition, and how long they were in each state. */
import { StudyTransitions } from '../../contract/answers/transitions.ts';
import { JOB_STATUSES } from '../../contract/enums.ts';
import type { JobStatus } from '../../contract/types.ts';
import { question } from '../question.ts';
import type { Moves } from '../table/answered-study.ts';
import { answerHeader } from '../table/header.ts';
import { RUN_CLASSES } from '../table/run-class.ts';
import type { RunTable } from '../table/run-table.ts';

export const transitions = question({
  name: 'transitions',
  operationId: 'getTransitions',
  summary: 'Count the transitions of the runs of a batch',
  description:
    'How often the ended runs took each transition of the job machine, and how long they were in each state.',
  query: {},
  response: StudyTransitions,
  isPooled: false,
  answer({ table, moves }) {
    if (moves === undefined)
      throw new RangeError('transitions not counted: a table of runs has no history; ask the coordinator of one study');
    return studyTransitions(table, moves);
  },
});

const ENDED = RUN_CLASSES.filter((it) => it !== 'open');
const order = (state: string): number => JOB_STATUSES.indexOf(state as JobStatus);
const timeOf = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

function studyTransitions(table: RunTable, tally: Moves): StudyTransitions {
  const header = answerHeader(table, { classes: ENDED });
  const { omittedAttempts } = tally;
  const counted = [...tally.counts].map(([key, count]) => {
    const [from, event, to] = key.split('|') as [JobStatus, string, JobStatus];
    return { from, event, to, count };
  });
  const warnings = [...header.warnings];
  if (omittedAttempts > 0) {
    const message = `the histories of the runs no longer have ${omittedAttempts} attempts: no figure counts them`;
    warnings.push({ code: 'attempts-omitted', message });
  }
  const open = header.excluded.open ?? 0;
  const sentence = `transitions of the ${header.n_used} of ${header.of} runs that have ended${open === 0 ? '' : `; ${open} runs are open and not counted`}`;
  return {
    ...header,
    warnings,
    from: timeOf(tally.firstMs),
    to: timeOf(tally.lastMs),
    transitions: counted.sort((a, b) => order(a.from) - order(b.from) || order(a.to) - order(b.to)),
    states: [...tally.stays]
      .map(([state, { stays, totalMs, longestMs }]) => ({
        state,
        stays,
        mean_secs: totalMs / stays / 1_000,
        longest_secs: longestMs / 1_000,
      }))
      .sort((a, b) => order(a.state) - order(b.state)),
    omitted_attempts: omittedAttempts,
    sentence,
  };
}

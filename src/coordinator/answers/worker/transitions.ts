/** The answer about the transitions of a study's runs, from their tally. */
import type { MoveTally } from '../../../../machines/job-parts/moves.ts';
import { answerHeader } from '../../../analysis/table/header.ts';
import { RUN_CLASSES } from '../../../analysis/table/run-class.ts';
import type { RunTable } from '../../../analysis/table/run-table.ts';
import { JOB_STATUSES } from '../../../contract/enums.ts';
import type { JobStatus, StudyTransitions } from '../../../contract/types.ts';

const ENDED = RUN_CLASSES.filter((it) => it !== 'open');
const order = (state: string): number => JOB_STATUSES.indexOf(state as JobStatus);
const timeOf = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

export function studyTransitions(table: RunTable, tally: MoveTally): StudyTransitions {
  const header = answerHeader(table, { classes: ENDED });
  const { omittedAttempts } = tally;
  const transitions = [...tally.counts].map(([key, count]) => {
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
    transitions: transitions.sort((a, b) => order(a.from) - order(b.from) || order(a.to) - order(b.to)),
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

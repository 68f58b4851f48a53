/** The verdicts on all requirements of a study, as one answer. */
import { answerHeader } from '../table/header.ts';
import { RUN_CLASSES } from '../table/run-class.ts';
import type { RunTable } from '../table/run-table.ts';
import { judgeWithCourse } from './judge.ts';
import type { Requirement, StudyVerdicts } from '../../contract/types.ts';

/**
 * Judges each requirement on the complete prefix. `by`: axes of scenarios, whose cells are in the answer.
 * @throws RangeError when a requirement is not usable.
 */
export function judgeStudy(
  table: RunTable,
  requirements: readonly Requirement[],
  by?: readonly string[],
): StudyVerdicts {
  const classes = RUN_CLASSES.filter((name) => name !== 'open');
  return {
    ...answerHeader(table, { classes, prefixOnly: true }),
    requirements: requirements.map((requirement) => judgeWithCourse(table, requirement, requirements, by)),
  };
}

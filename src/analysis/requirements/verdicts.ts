/** The verdicts on all requirements of a study, as one answer. */
import { type AnswerHeader, answerHeader } from '../table/header.ts';
import { RUN_CLASSES } from '../table/run-class.ts';
import type { RunTable } from '../table/run-table.ts';
import type { JudgedRequirement } from './answer.ts';
import { judgeWithCourse } from './judge.ts';
import type { Requirement } from '../../contract/types.ts';

export interface StudyVerdicts extends AnswerHeader {
  requirements: JudgedRequirement[];
}

/**
 * Judges each requirement on the complete prefix.
 * @throws RangeError when a requirement is not usable.
 */
export function judgeStudy(table: RunTable, requirements: readonly Requirement[]): StudyVerdicts {
  const classes = RUN_CLASSES.filter((name) => name !== 'open');
  return {
    ...answerHeader(table, { classes, prefixOnly: true }),
    requirements: requirements.map((requirement) => judgeWithCourse(table, requirement)),
  };
}

/** Judges a requirement on the runs of a study. */
import { unfinishedWarnings, dependenceWarnings } from '../table/header.ts';
import { type RunTable, completePrefix, runIdOf } from '../table/run-table.ts';
import type { Requirement } from '../../contract/types.ts';
import type { JudgedRequirement, RequirementAnswer } from './answer.ts';
import { requirementCourse } from './course.ts';
import { RequirementProgress } from './progress.ts';
import { outcomeReader, parseRequirement } from './requirement.ts';

/**
 * The verdict on one requirement. While runs are open it depends on the complete prefix alone.
 * @throws RangeError when the requirement is not usable; the message begins with the member's name.
 */
export function judgeRequirement(table: RunTable, requirement: Requirement): RequirementAnswer {
  return judged(table, requirement).answer();
}

/** The same, with the course that led to it. @throws RangeError as `judgeRequirement` */
export function judgeWithCourse(table: RunTable, requirement: Requirement): JudgedRequirement {
  const { parsed, answer, runs } = judged(table, requirement);
  return { ...answer(), course: requirementCourse(table, parsed, runs) };
}

function judged(table: RunTable, requirement: Requirement) {
  const parsed = parseRequirement(requirement);
  if (typeof parsed === 'string') throw new RangeError(`requirement "${requirement.name}" is not usable: ${parsed}`);
  const outcomeOf = outcomeReader(table, parsed);
  const progress = new RequirementProgress(parsed);
  const prefix = completePrefix(table);
  let runs = 0;
  for (; runs < prefix && !progress.isSettled; runs++) {
    const outcome = outcomeOf(runs);
    if (outcome !== 'open') progress.take(outcome, runIdOf(table, runs));
  }
  const limits = [...unfinishedWarnings(table), ...dependenceWarnings(table.method)];
  return { parsed, runs, answer: () => progress.answer(table.rows - prefix, limits) };
}

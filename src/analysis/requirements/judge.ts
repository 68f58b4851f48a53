/** Judges a requirement on the runs of a study. */
import { unfinishedWarnings, dependenceWarnings } from '../table/header.ts';
import { type RunTable, completePrefix, runIdOf } from '../table/run-table.ts';
import type { Requirement } from '../../contract/types.ts';
import type { RequirementAnswer } from './answer.ts';
import { RequirementProgress } from './progress.ts';
import { outcomeReader, parseRequirement } from './requirement.ts';

/**
 * The verdict on one requirement. While runs are open it depends on the complete prefix alone.
 * @throws RangeError when the requirement is not usable; the message begins with the member's name.
 */
export function judgeRequirement(table: RunTable, requirement: Requirement): RequirementAnswer {
  const parsed = parseRequirement(requirement);
  if (typeof parsed === 'string') throw new RangeError(`requirement "${requirement.name}" is not usable: ${parsed}`);
  const outcomeOf = outcomeReader(table, parsed);
  const progress = new RequirementProgress(parsed);
  const prefix = completePrefix(table);
  for (let row = 0; row < prefix && !progress.isSettled; row++) {
    const outcome = outcomeOf(row);
    if (outcome !== 'open') progress.take(outcome, runIdOf(table, row));
  }
  return progress.answer(table.rows - prefix, [...unfinishedWarnings(table), ...dependenceWarnings(table.method)]);
}

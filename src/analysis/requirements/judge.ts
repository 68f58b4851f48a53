/** Judges a requirement on the runs of a study; of a study with scenarios in each cell. */
import type { RunTable } from '../table/run-table.ts';
import type { Requirement } from '../../contract/types.ts';
import type { JudgedRequirement, RequirementAnswer } from './answer.ts';
import { requireAxes } from '../table/cell-tables.ts';
import { answerOfCells, judgeCells, rowsByAxes } from './cells/judge-cells.ts';
import { judgeTable, judgeTableWithCourse } from './judge-table.ts';

/**
 * The verdict on one requirement. While runs are open it depends on the complete prefix alone.
 * `study`: the requirements among which are those that it names.
 * @throws RangeError when the requirement is not usable; the message begins with the member's name.
 */
export function judgeRequirement(
  table: RunTable,
  requirement: Requirement,
  study: readonly Requirement[] = [],
): RequirementAnswer {
  if (table.cells === undefined) return judgeTable(table, requirement, study);
  const { course: _, ...answer } = answerOfCells(judgeCells(table, table.cells, requirement, study), table.cells);
  return answer;
}

/**
 * Judges a requirement like `judgeRequirement`, and returns the course of its bounds too; of a study with scenarios also its cells by these
 * axes, where some are named.
 * @throws RangeError as `judgeRequirement`, and for an axis that the study does not have
 */
export function judgeWithCourse(
  table: RunTable,
  requirement: Requirement,
  study: readonly Requirement[] = [],
  by?: readonly string[],
): JudgedRequirement {
  if (by !== undefined) requireAxes(table.cells, by);
  if (table.cells === undefined) return judgeTableWithCourse(table, requirement, study);
  const cells = judgeCells(table, table.cells, requirement, study);
  const answer = answerOfCells(cells, table.cells);
  return by === undefined ? answer : { ...answer, by: rowsByAxes(cells, table.cells, by) };
}

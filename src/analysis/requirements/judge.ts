/** Judges a requirement on the runs of a study; of a study with scenarios in each cell. */
import type { RunTable } from '../table/run-table.ts';
import type { Requirement } from '../../contract/types.ts';
import type { JudgedRequirement, RequirementAnswer } from './answer.ts';
import { requireAxes } from '../table/cell-tables.ts';
import { openUntilExtracted } from '../table/extracted.ts';
import { answerOfCells, answerOfPool, judgeCells, rowsByAxes } from './cells/judge-cells.ts';
import { decisionOfCells } from './cells/decision.ts';
import { judgeTableWithCourse } from './judge-table.ts';

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
  const { course: _, ...answer } = judgeWithCourse(table, requirement, study);
  return answer;
}

/**
 * Judges a requirement like `judgeRequirement`, and returns the course of its bounds too; of a study with scenarios also its cells by these
 * axes, where some are named.
 * @throws RangeError as `judgeRequirement`, and for an axis that the study does not have
 */
export function judgeWithCourse(
  whole: RunTable,
  requirement: Requirement,
  study: readonly Requirement[] = [],
  by?: readonly string[],
): JudgedRequirement {
  if (by !== undefined) requireAxes(whole.cells, by);
  const table = openUntilExtracted(whole, outputsOf(requirement, study));
  if (table.cells === undefined) {
    if (requirement.in === undefined) return judgeTableWithCourse(table, requirement, study);
    throw new RangeError(`in is for studies with scenarios, and this one has none; leave it out`);
  }
  const cells = judgeCells(table, table.cells, requirement, study);
  const decision = decisionOfCells(table, table.cells, requirement, study);
  const answer =
    requirement.in === 'pooled'
      ? answerOfPool(table, table.cells, requirement, study, cells, decision)
      : answerOfCells(cells, table.cells, requirement.in, decision);
  return by === undefined ? answer : { ...answer, by: rowsByAxes(cells, table.cells, by) };
}

/** The outputs that decide a requirement, also those of requirements that it names. */
const outputsOf = ({ output, all = [] }: Requirement, study: readonly Requirement[]): string[] =>
  [output, ...all.map((name) => study.find((it) => it.name === name)?.output)].filter((it) => it !== undefined);

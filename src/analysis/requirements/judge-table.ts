/** Judges a requirement on the runs of one table: of a study, or of one cell of a study with scenarios. */
import { noSampleOf, type NoSample } from '../../domain/study/design-method.ts';
import { unfinishedWarnings, dependenceWarnings } from '../table/header.ts';
import {
  type RunTable,
  absentCancelled,
  completePrefix,
  prefixRuns,
  runIdOf,
  runsOf,
  statisticRows,
} from '../table/run-table.ts';
import type { Requirement } from '../../contract/types.ts';
import type { Warning } from '../warning.ts';
import type { JudgedRequirement, RequirementAnswer } from './answer.ts';
import { decisionOfCells } from './cells/decision.ts';
import { requirementCourse } from './course.ts';
import { RequirementProgress } from './progress.ts';
import { outcomeReader, parseRequirement } from './requirement.ts';

/**
 * The verdict on one requirement. While runs are open it depends on the complete prefix alone.
 * `study`: the requirements among which are those that it names. `limits`: of the study, beside those of the table.
 * @throws RangeError when the requirement is not usable; the message begins with the member's name.
 */
export function judgeTable(
  table: RunTable,
  requirement: Requirement,
  study: readonly Requirement[] = [],
  limits: readonly Warning[] = [],
): RequirementAnswer {
  return judged(table, requirement, study, limits).answer();
}

/** Judges a requirement like `judgeTable`, and returns the course of its bounds too. @throws RangeError as `judgeTable` */
export function judgeTableWithCourse(
  table: RunTable,
  requirement: Requirement,
  study: readonly Requirement[] = [],
): JudgedRequirement {
  const { parsed, answer: answerOf, runs, absent } = judged(table, requirement, study);
  const answer = answerOf();
  const course = requirementCourse(table, parsed, runs, absent);
  const last = course.at(-1);
  // Where a sequential test has not decided at the end, the verdict has other bounds than the points before.
  if (last !== undefined) Object.assign(last, { lower: answer.lower, upper: answer.upper });
  return { ...answer, course };
}

/** The number of first rows up to the run that decided the sequential test; null where it has not decided. */
export function judgedRows(table: RunTable, requirement: Requirement, study: readonly Requirement[]): number | null {
  if (table.cells !== undefined) return decisionOfCells(table, table.cells, requirement, study)?.rows ?? null;
  const { runs, isSettled } = judged(table, requirement, study);
  return isSettled ? runs : null;
}

function judged(
  table: RunTable,
  requirement: Requirement,
  study: readonly Requirement[],
  others: readonly Warning[] = [],
) {
  const parsed = parseRequirement(requirement, study);
  if (typeof parsed === 'string') throw new RangeError(`requirement "${requirement.name}" is not usable: ${parsed}`);
  const outcomeOf = outcomeReader(table, parsed);
  const progress = new RequirementProgress(parsed);
  const prefix = Math.min(completePrefix(table), statisticRows(table));
  let runs = 0;
  for (; runs < prefix && !progress.isSettled; runs++) {
    const outcome = outcomeOf(runs);
    if (outcome !== 'open') progress.take(outcome, runIdOf(table, runs));
  }
  const isWhole = runs === table.rows && table.settledRows === undefined && !progress.isSettled;
  const absent = isWhole ? absentCancelled(table) : 0;
  if (absent > 0) progress.takeUnknown(absent);
  const limits = [...others, ...unfinishedWarnings(table), ...dependenceWarnings(table.method)];
  const open = runsOf(table) - prefixRuns(table);
  return {
    parsed,
    runs,
    absent,
    isSettled: progress.isSettled,
    answer: () => withinDesign(progress.answer(open, limits), noSampleOf(table.method)),
  };
}

/** The answer; of runs that are not a sample the counts alone, since no bound and no verdict holds. */
function withinDesign(answer: RequirementAnswer, limit: NoSample | undefined): RequirementAnswer {
  if (limit === undefined) return answer;
  return {
    ...answer,
    wilson: null,
    lower: 0,
    upper: 1,
    verdict: null,
    reason: limit.code,
    settled: null,
    settled_at_run_id: null,
    log_e_met: null,
    log_e_violated: null,
    more_clean_runs: null,
    needed_clean_runs: null,
    failures_left: null,
    sentence: `no verdict: ${limit.why}; ${answer.passed} of ${answer.judged} runs pass`,
  };
}

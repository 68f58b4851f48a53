/** The runs of a study that stopped by itself: those up to the run that decided. */
import type { BatchSubmission } from '../contract/types.ts';
import { precisionsAlong } from './precision/judge.ts';
import { precisionsOf } from './precision/planning.ts';
import { judgedRows } from './requirements/judge-table.ts';
import { requirementsOf } from './requirements/requirement.ts';
import { CLASS_CODES } from './table/run-class.ts';
import { type RunTable, absentCancelled, runsOf } from './table/run-table.ts';

type Stopping = Partial<Pick<BatchSubmission, 'requirements' | 'policy'>>;

/**
 * The table with its statistics limited to the runs up to the one at which the study stopped: at the decision on its last requirement, or where all its
 * precisions were reached. The later ones were cancelled, or had ended by chance before that, and decided nothing.
 */
export function limitedToStop(table: RunTable, submission: Stopping): RunTable {
  const rule = submission.policy?.stop_when;
  if (rule === undefined || table.replicates !== undefined) return table;
  const settledRows = rule === 'settled' ? rowsToSettle(table, submission) : rowsToPrecision(table, submission);
  return settledRows < runsOf(table) ? { ...table, settledRows, stoppedBy: rule } : table;
}

/**
 * The table that requirements are judged on. A study that stopped at its precision, or in its cells, is judged up to there: runs that were cancelled are not
 * unknown ones, and those that ended by chance decide nothing. A requirement of other studies takes no run after its own decision.
 */
export const judgedUpToStop = (table: RunTable, submission: Stopping): RunTable =>
  submission.policy?.stop_when === 'precise' || table.cells !== undefined ? limitedToStop(table, submission) : table;

/**
 * Infinity where a requirement is not settled, or where no run was cancelled: the verdicts then have all runs beside them. Cells of scenarios take runs
 * after the decision of the study, so that these end at the stop in any case.
 */
function rowsToSettle(table: RunTable, submission: Stopping): number {
  if (table.cells === undefined && !table.classes.includes(CLASS_CODES.cancelled) && absentCancelled(table) === 0)
    return Infinity;
  const requirements = requirementsOf(submission);
  const rows = requirements.map((it) => judgedRows(table, it, requirements));
  return rows.length > 0 && rows.every((it) => it !== null) ? Math.max(...rows) : Infinity;
}

/** Infinity where a precision is not reached. */
function rowsToPrecision(table: RunTable, submission: Stopping): number {
  const precisions = precisionsOf(submission);
  if (precisions.length === 0) return Infinity;
  const found = precisionsAlong(table, precisions);
  return found.stopRunId === null ? Infinity : found.runs;
}

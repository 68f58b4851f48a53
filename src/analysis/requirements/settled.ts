/** The runs of a study that a stop has settled. */
import type { BatchSubmission } from '../../contract/types.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { type RunTable, absentCancelled, runsOf } from '../table/run-table.ts';
import { judgedRows } from './judge.ts';
import { requirementsOf } from './requirement.ts';

/**
 * The table with its statistics limited to the runs up to the decision on the last requirement, where a study that stops when it is
 * settled has stopped: the later ones were cancelled, or had ended by chance before that, and decided nothing.
 */
export function limitedToSettled(
  table: RunTable,
  submission: Partial<Pick<BatchSubmission, 'requirements' | 'policy'>>,
): RunTable {
  const requirements = requirementsOf(submission);
  const hasCancelled = table.classes.includes(CLASS_CODES.cancelled) || absentCancelled(table) > 0;
  const mayStop = submission.policy?.stop_when !== undefined && requirements.length > 0;
  if (!mayStop || table.replicates !== undefined || !hasCancelled) return table;
  const rows = requirements.map((it) => judgedRows(table, it, requirements));
  const settledRows = rows.every((it) => it !== null) ? Math.max(...rows) : Infinity;
  return settledRows < runsOf(table) ? { ...table, settledRows } : table;
}

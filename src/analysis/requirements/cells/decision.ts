/** Where a requirement that is judged run by run is decided in the cells of a study: along its complete prefix, as the coordinator does. */
import type { Requirement } from '../../../contract/types.ts';
import { completePrefix, type RunTable, runIdOf, statisticRows, type TableCells } from '../../table/run-table.ts';
import { outcomeReader, type ParsedRequirement, parseRequirement } from '../requirement.ts';
import { CellsProgress } from './cells-progress.ts';

export interface CellsDecision {
  verdict: 'met' | 'violated';
  runId: number;
  /** The rows up to this run. */
  rows: number;
}

/** The decision; null while there is none, and for a requirement that is looked at once. Expects a usable requirement. */
export function decisionOfCells(
  table: RunTable,
  { cells }: TableCells,
  requirement: Requirement,
  study: readonly Requirement[],
): CellsDecision | null {
  const parsed = parseRequirement(requirement, study) as ParsedRequirement;
  if (parsed.look !== 'continuous') return null;
  const outcomeOf = outcomeReader(table, parsed);
  const progress = new CellsProgress(parsed, requirement, cells);
  const prefix = Math.min(completePrefix(table), statisticRows(table));
  let rows = 0;
  for (; rows < prefix && !progress.isSettled; rows++) {
    const outcome = outcomeOf(rows);
    if (outcome !== 'open') progress.take(outcome, runIdOf(table, rows));
  }
  const { verdict, settled_at_run_id: runId } = progress.toJSON();
  return verdict === null ? null : { verdict, runId: runId!, rows };
}

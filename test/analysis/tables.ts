/** Run tables for the analysis tests. */
import type { JobStatus } from '../../src/contract/types.ts';
import type { RunClass } from '../../src/analysis/table/run-class.ts';
import type { RunTable } from '../../src/analysis/table/run-table.ts';
import type { TableLayout } from '../../src/analysis/table/layout.ts';
import { RunTableBuilder, type RunRecord } from '../../src/analysis/table/table-builder.ts';

/** A run of a table: a number is a completed run with that value of `y`; a class is a run without one. */
export type Run = number | RunClass | Omit<RunRecord, 'row'>;

const ENDINGS: Record<Exclude<RunClass, 'open'>, { status: JobStatus; reason?: string }> = {
  ok: { status: 'Completed' },
  terminated: { status: 'Failed', reason: 'early_termination' },
  crashed: { status: 'Failed', reason: 'exit' },
  timeout: { status: 'Timeout', reason: 'timeout' },
  lost: { status: 'Failed', reason: 'infrastructure' },
  cancelled: { status: 'Cancelled' },
};

/** A study whose row i is `runs[i]`. */
export function tableOf(runs: readonly Run[], layout: Partial<TableLayout> = {}): RunTable {
  const builder = new RunTableBuilder({ batchId: 'b1', method: 'monte_carlo', runs: runs.length, ...layout });
  for (const [row, run] of runs.entries()) {
    if (run === 'open') continue;
    if (typeof run === 'number') builder.add({ row, status: 'Completed', outputs: [['y', run]] });
    else if (typeof run === 'string') builder.add({ row, ...ENDINGS[run] });
    else builder.add({ row, ...run });
  }
  return builder.build();
}

/** `count` times the same run. */
export const times = (count: number, run: Run): Run[] => Array.from({ length: count }, () => run);

/** Figures of a study's progress that several pages show. Pure. */
import type { Batch, BatchStatusResponse } from '../../../src/contract/types.ts';

export const isOpen = ({ status }: Batch): boolean => status === 'Pending' || status === 'Running';

/** Runs that ended by themselves: a cancelled run did not. */
export const endedOf = ({ jobs_by_status: counts }: BatchStatusResponse): number =>
  counts.Completed + counts.Failed + counts.Timeout;

/** The part of the runs that ended by themselves, from 0 to 1. */
export function shareOf(progress: BatchStatusResponse): number {
  const { total_jobs: total } = progress.batch;
  if (total === 0) return isOpen(progress.batch) ? 0 : 1;
  return endedOf(progress) / total;
}

/** A share in percent: `100 %` only where nothing is missing. */
export function percent(share: number): string {
  if (share >= 1) return '100 %';
  if (share > 0.99) return `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;
  if (share > 0 && share < 0.01) return `${Number((share * 100).toPrecision(1))} %`;
  return `${Math.floor(share * 100)} %`;
}

/** The state of a study, for people. */
export function stateOf(batch: Batch): string {
  if (batch.settled_at_run_id !== undefined) return 'Settled';
  if (batch.stopped_at_run_id !== undefined) return 'Precise';
  if (batch.paused === true && isOpen(batch)) return 'Paused';
  if (batch.waiting_for_rows === true) return 'Waiting for rows';
  if (batch.waiting_for_canary !== undefined) return 'Waiting for canary';
  return batch.status;
}

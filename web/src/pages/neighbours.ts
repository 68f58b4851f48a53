/** The runs before and after a run in its study. Pure. */
import type { BatchStatusResponse, BatchSubmission, Job } from '../../../src/contract/types.ts';
import { runsHeld } from '../../../src/domain/runs/run-selection.ts';

export interface Neighbours {
  before: number | undefined;
  after: number | undefined;
}

/** The runs of the batch before and after this one. */
export function neighboursOf(
  job: Job,
  status: BatchStatusResponse | undefined,
  submission: BatchSubmission | undefined,
): Neighbours {
  if (status === undefined || submission === undefined) return { before: undefined, after: undefined };
  const selection = runsHeld(submission.config, status.batch.total_jobs);
  const at = selection.indexOf(job.run_config.run_id);
  const runAt = (index: number): number | undefined =>
    index >= 0 && index < selection.count ? selection.nth(index) : undefined;
  return at === undefined ? { before: undefined, after: undefined } : { before: runAt(at - 1), after: runAt(at + 1) };
}

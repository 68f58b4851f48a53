/** The outcome of a study for people: how it ended, why, and its failures by pattern. */
import { ApiError, type Client } from '../../client/client.ts';
import type { BatchStatusResponse, StudySummary } from '../../contract/types.ts';
import { formatCounts } from './progress-text.ts';
import { paint, statusTone } from '../terminal/colour.ts';
import { formatDuration, printable, secondsBetween } from '../terminal/format.ts';
import { note } from '../terminal/output.ts';

/** The time from the start of the first run to the end of the last one. */
export const tookSecs = ({ batch }: BatchStatusResponse): number | undefined =>
  secondsBetween(batch.started_at, batch.ended_at);

/** `recovery area: Completed in 3m 05s - 398 Completed, 2 Failed`, or `recovery area: Pending, its canary has failed - 400 Pending`. */
export function outcomeLine(status: BatchStatusResponse): string {
  const { batch, jobs_by_status: counts } = status;
  const secs = tookSecs(status);
  const took = secs === undefined ? '' : ` in ${formatDuration(secs)}`;
  const reused = batch.reused_jobs === undefined ? '' : ` (${batch.reused_jobs} reused)`;
  const canary = batch.canary_failed === true ? ', its canary has failed' : '';
  return `${printable(batch.name)}: ${paint(batch.status, statusTone(batch.status))}${canary}${took} - ${formatCounts(counts)}${reused}`;
}

/** Why a study was cancelled or stopped, and that an early end is an answer. */
export function reasonLines({ batch }: BatchStatusResponse): string[] {
  const { stopped_at_run_id: stopped, cancel_reason: reason, terminated_jobs: terminated } = batch;
  return [
    ...(reason === undefined ? [] : [`${stopped === undefined ? 'cancelled' : 'stopped'}: ${printable(reason)}`]),
    ...(terminated === undefined
      ? []
      : [`${terminated} of the failed runs met an early-termination condition: answers, not faults`]),
  ];
}

/** The failures by pattern; none where the coordinator cannot compute them, which is said. */
export async function failuresOf(client: Client, { batch }: BatchStatusResponse): Promise<StudySummary['failures']> {
  if (batch.failed_jobs === 0) return [];
  try {
    return (await client.analysis.ask('summary', batch.id)).failures;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    note(`the failures cannot be grouped: ${printable(error.message)}`);
    return [];
  }
}

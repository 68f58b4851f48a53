/** The progress of a study in one line, what matters first. Pure. */
import { TERMINAL_STATUSES, JOB_STATUSES } from '../../contract/enums.ts';
import type { Batch, BatchStatusResponse, JobStatus } from '../../contract/types.ts';
import type { EtaEstimator } from './eta.ts';
import { formatAgo, formatDuration, formatRate, plural, shortId } from '../terminal/format.ts';

/** Returns the number of terminal runs. */
export const doneOf = (counts: Record<JobStatus, number>): number =>
  TERMINAL_STATUSES.reduce((sum, status) => sum + counts[status], 0);

/** Formats `312 Completed, 4 Failed, 2 Running`: statuses with a count, terminal ones first. */
export function formatCounts(counts: Record<JobStatus, number>): string {
  const isOpen = (status: JobStatus): boolean => !(TERMINAL_STATUSES as readonly JobStatus[]).includes(status);
  const order: JobStatus[] = [...TERMINAL_STATUSES, ...JOB_STATUSES.filter(isOpen).toReversed()];
  const present = order.filter((status) => counts[status] > 0).map((status) => `${counts[status]} ${status}`);
  return present.length === 0 ? 'no runs' : present.join(', ');
}

/** Whole per cent of the runs that have ended; 100 only when all have. */
export const percentDone = (done: number, total: number): number =>
  total === 0 ? 100 : Math.floor((done / total) * 100);

const DAY_SECS = 86_400;

/** `1m 17s left (19:01)`: the time of day in the user's zone, with the weekday beyond a day; undefined when nothing is known. */
export function leftText(secs: number | undefined, nowMs: number): string | undefined {
  if (secs === undefined || !Number.isFinite(secs)) return undefined;
  const end = new Date(nowMs + secs * 1000);
  const time = `${String(end.getHours()).padStart(2, '0')}:${String(end.getMinutes()).padStart(2, '0')}`;
  const day = secs < DAY_SECS ? '' : `${end.toDateString().slice(0, 10)} `;
  return `${formatDuration(secs)} left (${day}${time})`;
}

const idleText = ({ waiting_for_rows: isWaiting }: Batch): string =>
  isWaiting === true ? 'waiting for rows' : 'none running';

/** The status of a study in words: `Running, waits for its canary runs`. */
export const statusText = ({ status, waiting_for_canary: canary }: Batch): string =>
  canary === undefined ? status : `${status}, waits for its canary ${canary}`;

/** Since when a study waits for rows, and the commands that end it; undefined where it does not wait. */
export function waitingText(batch: Batch, nowMs: number): string | undefined {
  if (batch.waiting_for_rows !== true) return undefined;
  const { id, budget = 0, total_jobs: total, rounds = 0 } = batch;
  const left = `${plural(rounds, 'round')} so far, ${budget - total} of ${plural(budget, 'run')} left`;
  const commands = `simbatch append ${shortId(id)} rows.csv --key NAME, or simbatch close ${shortId(id)}`;
  return `for rows since ${formatAgo(batch.waiting_since, nowMs)}, ${left}: ${commands}`;
}

/** `58% 2935/5000  11 failed  26/s  1m 17s left (19:01)  8 running`; the time left is the coordinator's estimate, or that of `pace`. */
export function progressText(status: BatchStatusResponse, pace: EtaEstimator, nowMs: number): string {
  const { batch, jobs_by_status: counts, eta } = status;
  const done = doneOf(counts);
  const isOpen = batch.status === 'Pending' || batch.status === 'Running';
  const failed = counts.Failed + counts.Timeout;
  const running = counts.Claimed + counts.Running;
  const left = isOpen ? leftText(eta?.median ?? pace.secondsLeft(batch.total_jobs), nowMs) : undefined;
  // While the study grows, a share of the runs has no meaning, and the time left is that of the round.
  const grows = batch.budget !== undefined && batch.closed !== true;
  const share = grows ? '' : `${percentDone(done, batch.total_jobs)}% `;
  return [
    `${share}${done}/${batch.total_jobs}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(counts.Cancelled > 0 ? [`${counts.Cancelled} cancelled`] : []),
    ...(pace.perSecond === undefined || !isOpen ? [] : [formatRate(pace.perSecond)]),
    ...(batch.paused === true ? ['paused'] : left === undefined ? [] : [grows ? `this round: ${left}` : left]),
    ...(running > 0 ? [`${running} running`] : isOpen ? [idleText(batch)] : [batch.status]),
  ].join('  ');
}

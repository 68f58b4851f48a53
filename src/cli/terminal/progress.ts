/** Follows a study to its end: a progress bar and the verdicts so far on a terminal, plain lines elsewhere. */
import { MultiBar, type SingleBar } from 'cli-progress';
import { UnreachableError, type Client } from '../../client/client.ts';
import { JOB_STATUSES } from '../../contract/enums.ts';
import type { BatchStatusResponse, JobStatus, Uuid } from '../../contract/types.ts';
import { EXIT } from '../exit-codes.ts';
import { progressLine } from '../study/answer-text.ts';
import { Failure } from '../failure.ts';
import { formatDuration, formatRate } from './format.ts';
import { note } from './output.ts';
import { EtaEstimator } from './eta.ts';
import { sleep, systemClock } from '../../base/clock.ts';

const POLL_MS = 1_000;
/** How long to wait for a coordinator that restarts. */
const PATIENCE_MS = 120_000;
/** Without a terminal, a line is written after this share of progress, or after a minute. */
const LINE_SHARE = 0.05;
const LINE_MS = 60_000;

const TERMINAL: readonly JobStatus[] = ['Completed', 'Failed', 'Timeout', 'Cancelled'];

/** Returns the number of terminal runs. */
export const doneOf = (counts: Record<JobStatus, number>): number =>
  TERMINAL.reduce((sum, status) => sum + counts[status], 0);

/** Formats `312 Completed, 4 Failed, 2 Running`: statuses with a count, terminal ones first. */
export function formatCounts(counts: Record<JobStatus, number>): string {
  const order: JobStatus[] = [...TERMINAL, ...JOB_STATUSES.filter((status) => !TERMINAL.includes(status)).toReversed()];
  const present = order.filter((status) => counts[status] > 0).map((status) => `${counts[status]} ${status}`);
  return present.length === 0 ? 'no runs' : present.join(', ');
}

interface Display {
  show(status: BatchStatusResponse, pace: EtaEstimator): void;
  say(line: string): void;
  end(): void;
}

/** Returns the final status. @throws Failure when `signal` is aborted, or when the coordinator stays unreachable. */
export async function follow(client: Client, batchId: Uuid, signal: AbortSignal): Promise<BatchStatusResponse> {
  const display = process.stderr.isTTY ? new BarDisplay() : new LineDisplay();
  const pace = new EtaEstimator();
  let unreachableSinceMs: number | undefined;
  try {
    for (;;) {
      if (signal.aborted)
        throw new Failure(EXIT.interrupted, `stopped watching; the study continues: simbatch watch ${batchId}`);
      try {
        const status = await client.batch(batchId);
        unreachableSinceMs = undefined;
        pace.see(systemClock.now(), doneOf(status.jobs_by_status));
        display.show(status, pace);
        if (status.batch.status !== 'Pending' && status.batch.status !== 'Running') return status;
      } catch (error) {
        if (!(error instanceof UnreachableError)) throw error;
        if (unreachableSinceMs === undefined)
          display.say(`the coordinator does not answer; retrying for ${formatDuration(PATIENCE_MS / 1000)}`);
        unreachableSinceMs ??= systemClock.now();
        if (systemClock.now() - unreachableSinceMs > PATIENCE_MS) throw error;
      }
      await sleep(systemClock, POLL_MS, signal);
    }
  } finally {
    display.end();
  }
}

/** The coordinator's interval, or the rate of this program's own sightings while there is none. */
function etaText({ eta, batch }: BatchStatusResponse, pace: EtaEstimator): string {
  if (eta === undefined) return formatDuration(pace.secondsLeft(batch.total_jobs));
  return `${formatDuration(eta.median)} (${formatDuration(eta.low)} to ${formatDuration(eta.high)})`;
}

/** The requirements whose verdicts have a line of their own below the bar. */
const SHOWN_REQUIREMENTS = 10;

/** The verdicts so far, a line each. */
const verdictsOf = ({ requirements = [] }: BatchStatusResponse): string[] => requirements.map(progressLine);

class BarDisplay implements Display {
  // The cursor stays visible: a killed program must not leave a terminal without one.
  readonly #bars = new MultiBar({
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
    hideCursor: false,
    linewrap: false,
    stream: process.stderr,
  });
  #progress: SingleBar | undefined;
  /** A line for each requirement; the library draws it as a bar without one. */
  readonly #lines: SingleBar[] = [];

  show(status: BatchStatusResponse, pace: EtaEstimator): void {
    const total = status.batch.total_jobs;
    const done = doneOf(status.jobs_by_status);
    const payload = {
      done,
      all: total,
      rate: formatRate(pace.perSecond),
      left: etaText(status, pace),
      counts: formatCounts(status.jobs_by_status),
    };
    const format = '{bar} {percentage}%  {done}/{all}  {rate}  ETA {left}  {counts}';
    this.#progress ??= this.#bars.create(total, done, payload, { format });
    this.#progress.update(done, payload);
    for (const [at, line] of verdictsOf(status).slice(0, SHOWN_REQUIREMENTS).entries()) {
      this.#lines[at] ??= this.#bars.create(1, 0, { line }, { format: '{line}' });
      this.#lines[at].update(0, { line });
    }
  }

  say(line: string): void {
    if (this.#progress === undefined) note(line);
    else this.#bars.log(`${line}\n`);
  }

  end(): void {
    this.#bars.stop();
  }
}

class LineDisplay implements Display {
  #lastDone = -1;
  #lastMs = 0;
  #lastStatus = '';
  #lastVerdicts = '';

  show(status: BatchStatusResponse, pace: EtaEstimator): void {
    const { batch, jobs_by_status: counts, requirements = [] } = status;
    const done = doneOf(counts);
    const now = systemClock.now();
    const verdicts = requirements.map((it) => it.verdict).join();
    const isNews = done - this.#lastDone >= batch.total_jobs * LINE_SHARE && done > this.#lastDone;
    const isSame = batch.status === this.#lastStatus && verdicts === this.#lastVerdicts;
    if (!isNews && isSame && now - this.#lastMs < LINE_MS) return;
    this.#lastDone = done;
    this.#lastMs = now;
    this.#lastStatus = batch.status;
    this.#lastVerdicts = verdicts;
    const percent = batch.total_jobs === 0 ? 100 : Math.floor((done / batch.total_jobs) * 100);
    const left = etaText(status, pace);
    note(
      `${batch.status} ${done}/${batch.total_jobs} (${percent}%)  ${formatRate(pace.perSecond)}  ETA ${left}  ${formatCounts(counts)}`,
    );
    for (const line of verdictsOf(status)) note(`  ${line}`);
  }

  say(line: string): void {
    note(line);
  }

  end(): void {}
}

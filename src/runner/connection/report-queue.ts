/**
 * Sends reports to the coordinator in bulk. A start is sent at once, because a slot waits for its answer; outcomes go with it. Each
 * report is repeated until it is answered; the coordinator answers an exact repeat as it answered the first.
 */
import { ApiError } from '../../client/client.ts';
import type { Problem, Report, ReportOutcome } from '../../client/client.ts';
import type { Clock } from '../../base/clock.ts';
import type { RunnerConfig } from '../config/config.ts';
import type { CoordinatorConnection } from './coordinator-connection.ts';
import type { Log } from '../log.ts';

/** The answer to a report: the job's state, or why it was refused and changed nothing. */
export type Verdict = { status: string } | { problem: Pick<Problem, 'code' | 'detail'> };

interface PendingReport {
  report: Report;
  /** Size on the wire in characters, about. */
  size: number;
  resolve: (verdict: Verdict) => void;
  reject: (error: unknown) => void;
}

const LARGEST_BULK = 500;
/** Characters of one request; a larger report goes alone. */
const LARGEST_REQUEST = 512 << 10;
const REFUSED_BODY = new Set([400, 413, 422]);
/** How long an outcome, which is in the spool, waits for the start of the next run, to share its request. */
const SHARE_MS = 25;
/** A start does not wait for the answer to the request before it; outcomes do. */
const MOST_REQUESTS = 2;

export interface ReportQueueOptions {
  connection: CoordinatorConnection;
  clock: Pick<Clock, 'after'>;
  log: Log;
  config: Pick<RunnerConfig, 'id'>;
  /** The random name of this process. */
  instance: string;
  /** Aborted when no further request is to be sent. */
  stop: AbortSignal;
  /** Whether a start will be reported as soon as a run ends. */
  isStartExpected: () => boolean;
}

export class ReportQueue {
  readonly #options: ReportQueueOptions;
  readonly #waiting: PendingReport[] = [];
  #requests = 0;
  /** A report must be sent as soon as a request may be. */
  #isDue = false;
  #isStartWaiting = false;
  /** True when the queue is sent at the end of this turn of the event loop. */
  #isScheduled = false;
  #cancelWait: (() => void) | undefined;

  constructor(options: ReportQueueOptions) {
    this.#options = options;
  }

  /**
   * @param size of the report in characters, about, where it is known.
   * @throws Stopped when the runner stops before an answer came.
   */
  report(report: Report, size = JSON.stringify(report).length): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ report, size, resolve, reject });
      if (report.type === 'start') this.#isStartWaiting = true;
      if (report.type === 'start' || !this.#options.isStartExpected()) this.#sendSoon();
      else this.#cancelWait ??= this.#options.clock.after(SHARE_MS, () => this.#sendSoon());
    });
  }

  /** Reports made in one turn of the event loop go together. */
  #sendSoon(): void {
    this.#isDue = true;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#sendDue();
    });
  }

  #sendDue(): void {
    while (this.#isDue && this.#requests < (this.#isStartWaiting ? MOST_REQUESTS : 1)) {
      this.#cancelWait?.();
      this.#cancelWait = undefined;
      const bulk = this.#waiting.splice(0, bulkLength(this.#waiting));
      this.#isDue = this.#waiting.length > 0;
      this.#isStartWaiting = this.#waiting.some(({ report }) => report.type === 'start');
      if (bulk.length === 0) return;
      this.#requests += 1;
      void this.#send(bulk).then(() => {
        this.#requests -= 1;
        this.#sendDue();
      });
    }
  }

  async #send(bulk: readonly PendingReport[]): Promise<void> {
    try {
      const outcomes = await this.#ask(bulk.map((it) => it.report));
      for (const [index, it] of bulk.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined || outcome.job_id !== it.report.job_id)
          it.reject(new Error('no outcome for the report'));
        else it.resolve('problem' in outcome ? { problem: outcome.problem } : { status: outcome.status });
      }
    } catch (error) {
      if (error instanceof ApiError && REFUSED_BODY.has(error.status)) await this.#oneByOne(bulk, error);
      else for (const it of bulk) it.reject(error);
    }
  }

  /** One malformed report makes the coordinator refuse the whole request; sent one by one, the others succeed. */
  async #oneByOne(bulk: readonly PendingReport[], error: ApiError): Promise<void> {
    if (bulk.length > 1) {
      for (const it of bulk) await this.#send([it]);
      return;
    }
    const [it] = bulk;
    if (it === undefined) return;
    const smaller = reduced(it.report, error);
    if (smaller === undefined) {
      it.resolve({ problem: { code: error.code, detail: error.message } });
      return;
    }
    this.#options.log.warn(
      `the coordinator refuses a result as it is; reporting it without its details: ${error.message}`,
      {
        job_id: it.report.job_id,
      },
    );
    await this.#send([{ ...it, report: smaller }]);
  }

  async #ask(reports: Report[]): Promise<ReportOutcome[]> {
    const { connection, config, instance, stop } = this.#options;
    const answer = await connection.ask(() => connection.client.reports(config.id, { instance, reports }), stop);
    return answer.outcomes;
  }
}

/** How many of the waiting reports fit into one request. */
function bulkLength(waiting: readonly PendingReport[]): number {
  let size = 0;
  let count = 0;
  for (const { size: more } of waiting) {
    if (count > 0 && (count >= LARGEST_BULK || size + more > LARGEST_REQUEST)) break;
    size += more;
    count += 1;
  }
  return count;
}

const REDUCED = 'simbatch_result_reduced';

/**
 * The outcome without the parts that may be too large or too odd: first without those that the simulation left, then without what the
 * runner measured, which an older coordinator does not know. Undefined when nothing is left to leave out.
 */
function reduced(report: Report, error: ApiError): Report | undefined {
  if (!('result' in report) || report.result === undefined) return undefined;
  const { execution_time_secs, output_files, metadata: given, telemetry_data: _, ...measured } = report.result;
  if (REDUCED in given) {
    if (Object.keys(measured).length === 0) return undefined;
    return { ...report, result: { execution_time_secs, output_files, metadata: given } };
  }
  const metadata = {
    [REDUCED]: `${error.message}; ${String(output_files.length)} output files are on the runner`,
  };
  return {
    ...report,
    result: { ...measured, execution_time_secs, output_files: output_files.slice(0, 100), metadata },
  };
}

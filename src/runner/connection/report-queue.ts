/**
 * Sends reports to the coordinator in bulk: reports made while one request is in flight share the next. Each report
 * is repeated until it is answered; the coordinator answers an exact repeat as it answered the first.
 */
import { ApiError } from '../../client/client.ts';
import type { Problem, Report, ReportOutcome } from '../../client/client.ts';
import { Coalescer } from '../../base/coalescer.ts';
import type { CoordinatorConnection } from './coordinator-connection.ts';
import type { Log } from '../log.ts';

/** The answer to a report: the job's state, or why it was refused and changed nothing. */
export type Verdict = { status: string } | { problem: Pick<Problem, 'code' | 'detail'> };

interface PendingReport {
  report: Report;
  /** Characters on the wire, about. */
  size: number;
  resolve: (verdict: Verdict) => void;
  reject: (error: unknown) => void;
}

const LARGEST_BULK = 500;
/** Characters of one request; a larger report goes alone. */
const LARGEST_REQUEST = 512 << 10;
const REFUSED_BODY = new Set([400, 413, 422]);

export class ReportQueue {
  readonly #link: CoordinatorConnection;
  readonly #log: Log;
  readonly #runnerId: string;
  readonly #instance: string;
  readonly #stop: AbortSignal;
  readonly #reports = new Coalescer<PendingReport>(
    (bulk) => this.#send(bulk),
    (waiting) => bulkLength(waiting),
  );

  constructor(link: CoordinatorConnection, log: Log, who: { runnerId: string; instance: string }, stop: AbortSignal) {
    this.#link = link;
    this.#log = log;
    this.#runnerId = who.runnerId;
    this.#instance = who.instance;
    this.#stop = stop;
  }

  /** @throws Stopped when the runner stops before an answer came. */
  report(report: Report): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      this.#reports.add({ report, size: JSON.stringify(report).length, resolve, reject });
    });
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
    this.#log.warn(`the coordinator refuses a result as it is; reporting it without its details: ${error.message}`, {
      job_id: it.report.job_id,
    });
    await this.#send([{ ...it, report: smaller }]);
  }

  async #ask(reports: Report[]): Promise<ReportOutcome[]> {
    const answer = await this.#link.ask(
      () => this.#link.client.reports(this.#runnerId, { instance: this.#instance, reports }),
      this.#stop,
    );
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
 * The same outcome without what may be too large or too odd: first without what the simulation left, then without what the
 * runner measured, which an older coordinator does not know. Undefined when nothing is left to leave out.
 */
function reduced(report: Report, error: ApiError): Report | undefined {
  if (report.type === 'start' || report.type === 'hand_back' || report.result === undefined) return undefined;
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

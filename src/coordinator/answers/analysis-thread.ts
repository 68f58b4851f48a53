/** The analysis worker as the coordinator holds it: started at the first question, replaced after a crash. */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Uuid } from '../../contract/types.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { RowReadings } from './row-readings.ts';
import { ThreadChannel } from './thread-channel.ts';
import type { TelemetryReading } from './worker/telemetry/drawn-runs.ts';
import type { CoordinatorMethods, WorkerMethods } from './worker/worker.ts';

/** The limit of the worker's heap; columns are outside of it. Beyond it the worker ends, and the process continues. */
const MAX_HEAP_MB = 2048;
/** A third of V8's own limit: streams make much garbage that dies at once, and 70 MB less are resident for 8 % more processor time. */
const MAX_YOUNG_MB = 16;

// The sources run without a build during development.
const WORKER_FILE = fileURLToPath(
  new URL(`./worker/worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
);

export interface AnalysisThreadHooks {
  /** The worker ended although it was not stopped. */
  crashed(error: Error): void;
  /** Reads the telemetry file of a run. */
  telemetryOf(jobId: Uuid): Promise<TelemetryReading>;
}

export class AnalysisThread {
  readonly #readings: RowReadings;
  readonly #hooks: AnalysisThreadHooks;
  #running: { worker: Worker; channel: ThreadChannel<WorkerMethods> } | undefined;
  #isStopped = false;

  constructor(readings: RowReadings, hooks: AnalysisThreadHooks) {
    this.#readings = readings;
    this.#hooks = hooks;
  }

  /** @throws SimbatchError `unavailable` when the worker crashes or is stopped meanwhile; those of the method. */
  call: ThreadChannel<WorkerMethods>['call'] = (method, argument) => this.#channel().call(method, argument);

  /** The running worker, for tests; undefined before the first question. */
  get worker(): Worker | undefined {
    return this.#running?.worker;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const running = this.#running;
    this.#running = undefined;
    running?.channel.fail(new SimbatchError('unavailable', 'the answer was not computed: the coordinator is stopping'));
    await running?.worker.terminate();
  }

  #channel(): ThreadChannel<WorkerMethods> {
    if (this.#isStopped)
      throw new SimbatchError('unavailable', 'the question is not accepted: the coordinator is stopping');
    this.#running ??= this.#start();
    return this.#running.channel;
  }

  #start(): { worker: Worker; channel: ThreadChannel<WorkerMethods> } {
    const worker = new Worker(WORKER_FILE, {
      name: 'analysis',
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
    });
    const methods: CoordinatorMethods = {
      openReading: (batchId) => this.#readings.open(batchId),
      openStudy: (request) => this.#readings.openStudy(request),
      openReadings: (batchIds) => this.#readings.openAll(batchIds),
      nextRows: (request) => this.#readings.next(request),
      nextHistories: (request) => this.#readings.nextHistories(request),
      readRows: (request) => this.#readings.rows(request),
      nextRounds: (request) => this.#readings.rounds(request),
      restartReading: (request) => this.#readings.restart(request),
      closeReading: (reading) => this.#readings.close(reading),
      readTelemetry: (jobId) => this.#hooks.telemetryOf(jobId),
    };
    const channel = new ThreadChannel<WorkerMethods>(worker, methods);
    const ended = (why: string, cause?: Error): void => {
      if (this.#running?.worker !== worker) return;
      this.#running = undefined;
      const error = new SimbatchError(
        'unavailable',
        `the answer was not computed: the analysis worker ended (${why}); repeat the request, and see the log if it ends again`,
        { cause },
      );
      channel.fail(error);
      void this.#readings.closeAll();
      this.#hooks.crashed(cause ?? error);
    };
    worker.once('error', (error: NodeJS.ErrnoException) => ended(error.code ?? error.message, error));
    worker.once('exit', (code) => ended(`exit code ${code}`));
    return { worker, channel };
  }
}

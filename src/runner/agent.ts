/**
 * The runner's loop: registers, claims as many jobs as it has room for, sends heartbeats, and leaves in good order. What
 * becomes of a claimed job is in `holdings.ts`, how the coordinator is reached in `link.ts`, what survives this process in
 * `spool.ts`.
 */
import { UnreachableError } from '../client/client.ts';
import type { Client, ClaimResponse } from '../client/client.ts';
import { supportedSimulationTypes } from './config/config.ts';
import type { RunnerConfig } from './config/config.ts';
import type { Python } from './attempt/engine.ts';
import { AttemptManager } from './attempt-manager.ts';
import { isForgotten, CoordinatorConnection, Stopped } from './connection/coordinator-connection.ts';
import type { Log } from './log.ts';
import { ReportQueue } from './connection/report-queue.ts';
import type { Spool } from './spool.ts';
import { oneLine } from './system-error.ts';
import { keepProcessAlive, sleep } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';

export interface AgentOptions {
  config: RunnerConfig;
  client: Client;
  spool: Spool;
  clock: Clock;
  log: Log;
  /** The random name of this process, as the spool was opened with. */
  instance: string;
  python: Python | undefined;
  /** What simulations inherit; see `inheritedEnvironment`. */
  env: Readonly<Record<string, string>>;
}

const CLAIM_WAIT_SECS = 25;
/** A claim answered emptier and faster than this did not wait: the next one must not follow at once. */
const HASTY_MS = 1000;
/** How long a heartbeat may take at least. */
const SHORTEST_HEARTBEAT_MS = 2000;
/** The last outcomes are delivered within the grace time, and have at least this long. */
const SHORTEST_FLUSH_MS = 2000;

/** Why a question for jobs is taken back. */
class Unfit extends Error {}

export class Agent {
  readonly #options: AgentOptions;
  readonly #link: CoordinatorConnection;
  readonly #holdings: AttemptManager;
  /** Aborted when no new work is wanted. */
  readonly #leaving = new AbortController();
  /** Aborted when nothing is to be told to the coordinator any more. */
  readonly #over = new AbortController();
  #wake: () => void = () => {};
  /** Aborted when the machine turns out to be unfit while it asks for jobs. */
  #asking = new AbortController();
  #intervalSecs: number;

  constructor(options: AgentOptions) {
    const { config, client, clock, log, instance, spool, python, env } = options;
    this.#options = options;
    this.#intervalSecs = config.heartbeatIntervalSecs;
    this.#link = new CoordinatorConnection({
      client,
      clock,
      log,
      identity: {
        id: config.id,
        name: config.name,
        capabilities: {
          max_concurrent_jobs: config.maxConcurrentJobs,
          cpu_cores: config.cpuCores,
          memory_gb: config.memoryGb,
          gpu_available: config.gpuAvailable,
          supported_simulation_types: supportedSimulationTypes(config),
          ...(python === undefined ? {} : { python_version: python.version }),
        },
        tags: [...config.tags],
        instance,
        heartbeat_interval_secs: config.heartbeatIntervalSecs,
      },
      replaces: spool.replaces,
      held: () => this.#holdings.refs(),
      onLost: (lost) => {
        for (const ref of lost) this.#holdings.drop(ref, 'the coordinator gave it away');
      },
    });
    this.#holdings = new AttemptManager({
      config,
      spool,
      reporter: new ReportQueue(this.#link, log, { runnerId: config.id, instance }, this.#over.signal),
      site: {
        clock,
        log,
        python: python?.executable,
        env,
        environmentAllowed: config.environmentAllowed,
        workingDirectory: config.workingDirectory,
      },
      leaving: this.#leaving.signal,
      onChange: () => {
        this.#wake();
      },
      onUnfit: () => {
        this.#asking.abort(new Unfit());
      },
    });
  }

  /**
   * Works until `leave` is called and everything is in order.
   * @throws ApiError when the coordinator refuses the first registration for good (credential, configuration).
   */
  async run(): Promise<void> {
    const endKeepAlive = keepProcessAlive();
    try {
      await this.#work();
    } finally {
      // Whatever failed: without this the heartbeats would keep a runner online that does nothing else any more.
      this.#over.abort();
      endKeepAlive();
    }
  }

  async #work(): Promise<void> {
    const { spool, log } = this.#options;
    // First: a process killed here must be dead before the coordinator gives its run to another runner.
    const undelivered = await this.#holdings.recover();
    try {
      const { heartbeat_interval_secs } = await this.#link.register(this.#leaving.signal);
      this.#intervalSecs = heartbeat_interval_secs;
      spool.registered();
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      log.info('stopped before it was registered');
      return;
    }
    this.#holdings.resume(undelivered);
    const heartbeats = this.#heartbeats();
    await this.#claims();
    await this.#finish();
    this.#over.abort();
    await heartbeats;
  }

  /** Takes no new jobs, lets the running ones finish within the grace time, hands the others back, signs off. */
  leave(): void {
    this.#leaving.abort();
    this.#wake();
  }

  /** Sends SIGKILL to every simulation before it returns. What is not reported is left to the next process under this id. */
  killAll(): void {
    this.#leaving.abort();
    this.#holdings.dropAll('stopped at once');
    this.#over.abort();
    this.#wake();
  }

  async #heartbeats(): Promise<void> {
    const { config, client, instance, clock } = this.#options;
    const over = this.#over.signal;
    for (;;) {
      await sleep(clock, this.#intervalSecs * 1000, over);
      if (over.aborted) return;
      // One that hangs must not keep the next from being sent in time.
      const hanging = new AbortController();
      const callOff = clock.after(Math.max(SHORTEST_HEARTBEAT_MS, this.#intervalSecs * 1000), () => {
        hanging.abort(new UnreachableError(client.endpoint, 'no answer to a heartbeat within its interval'));
      });
      try {
        const request = { instance, holding: this.#holdings.refs() };
        const signal = AbortSignal.any([over, hanging.signal]);
        const answer = await client.heartbeat(config.id, request, { signal });
        this.#link.wentWell();
        for (const notice of answer.cancel) this.#holdings.drop(notice, `cancelled: ${notice.reason}`);
        for (const ref of answer.lost) this.#holdings.drop(ref, 'the coordinator gave it away');
      } catch (error) {
        if (over.aborted) return;
        if (isForgotten(error)) this.#registerAgain();
        else this.#link.wentWrong(error);
      } finally {
        callOff();
      }
    }
  }

  /** In the background: the heartbeats must not stand still for it. */
  #registerAgain(): void {
    this.#link.register(this.#over.signal).catch((error: unknown) => {
      if (!(error instanceof Stopped)) this.#options.log.error(oneLine(error));
    });
  }

  /** Returns when no more work is wanted. */
  async #claims(): Promise<void> {
    const { clock, log } = this.#options;
    const leaving = this.#leaving.signal;
    let hasty = 0;
    while (!leaving.aborted) {
      const unfitMs = this.#holdings.unfitUntilMs - clock.monotonicMs();
      if (unfitMs > 0) await sleep(clock, unfitMs, leaving);
      else if (this.#holdings.free <= 0) await this.#change();
      else {
        const sinceMs = clock.monotonicMs();
        try {
          const taken = this.#take(await this.#link.ask(() => this.#claim(), leaving));
          hasty = taken === 0 && clock.monotonicMs() - sinceMs < HASTY_MS ? hasty + 1 : 0;
        } catch (error) {
          if (error instanceof Stopped) return;
          if (error instanceof Unfit) continue;
          log.error(`the coordinator refuses to give work: ${oneLine(error)}`);
          hasty += 1;
        }
        if (hasty > 0) await sleep(clock, Math.min(15, 2 ** (hasty - 1)) * HASTY_MS, leaving);
      }
    }
  }

  #claim(): Promise<ClaimResponse> {
    const { config, client, instance, clock } = this.#options;
    // While the coordinator could not be reached, this may have come to light.
    if (this.#holdings.unfitUntilMs > clock.monotonicMs()) return Promise.reject(new Unfit());
    this.#asking = new AbortController();
    // Claimed jobs we do not name are handed out again: so a reply that was lost strands nothing.
    const holding = this.#holdings.refs();
    // All places, not only those that are free: more become free while the question waits, and the coordinator, which
    // counts what is claimed and running, never gives more than there is room for.
    const request = { instance, max_jobs: config.maxConcurrentJobs, wait_seconds: CLAIM_WAIT_SECS, holding };
    return client.claim(config.id, request, { signal: AbortSignal.any([this.#leaving.signal, this.#asking.signal]) });
  }

  #take(answer: ClaimResponse): number {
    return answer.assignments.filter((it) => this.#holdings.take(it, answer.batches[it.job.batch_id]?.config)).length;
  }

  /** The grace time, the handing back, the sign-off. */
  async #finish(): Promise<void> {
    const { config, client, instance, clock, log, spool } = this.#options;
    if (this.#over.signal.aborted) return;
    const { running } = this.#holdings;
    log.info(`leaving: ${String(running)} runs under way, ${String(config.graceSecs)} s of grace`);
    const graceEndMs = clock.monotonicMs() + config.graceSecs * 1000;
    await this.#until(() => this.#holdings.running === 0, config.graceSecs * 1000);
    this.#holdings.dropAll('handed back, the grace time is over');
    // Killing takes as long as it takes; delivering does not.
    await this.#until(() => this.#holdings.running === 0, Infinity);
    const flushMs = Math.max(SHORTEST_FLUSH_MS, graceEndMs - clock.monotonicMs());
    await this.#until(() => this.#holdings.size === 0, flushMs);
    if (this.#over.signal.aborted) return;
    const left = await spool.leftovers();
    if (left.length > 0) {
      log.warn(
        `${String(left.length)} outcomes could not be delivered; they are kept for the next start under this id`,
      );
      return;
    }
    try {
      await client.signOff(config.id, { instance });
      spool.signedOff();
      log.info('signed off');
    } catch (error) {
      log.warn(`could not sign off: ${oneLine(error)}`);
    }
  }

  /** Resolves when the condition holds, after `ms`, or when all is over. */
  async #until(holds: () => boolean, ms: number): Promise<void> {
    const { clock } = this.#options;
    const endMs = clock.monotonicMs() + ms;
    while (!holds() && clock.monotonicMs() < endMs && !this.#over.signal.aborted) {
      await this.#change(endMs - clock.monotonicMs());
    }
  }

  /** Resolves when something changed, or after `ms`. */
  async #change(ms = Infinity): Promise<void> {
    const changed = new AbortController();
    this.#wake = () => {
      changed.abort();
    };
    if (ms === Infinity) await new Promise((resolve) => changed.signal.addEventListener('abort', resolve));
    else await sleep(this.#options.clock, ms, changed.signal);
  }
}

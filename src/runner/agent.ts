/**
 * The runner's loop: registers, claims as many jobs as it has free slots, sends heartbeats, and leaves in an orderly way.
 * Claimed jobs are in `attempt-manager.ts`, the coordinator's side in `connection/`, durable state in `spool.ts`.
 */
import type { Client, ClaimResponse } from '../client/client.ts';
import type { RunnerConfig } from './config/config.ts';
import type { Python } from './launch/engine.ts';
import type { ExecutionSite } from './attempt/execution-site.ts';
import { AttemptManager } from './attempt-manager.ts';
import { CoordinatorConnection, Stopped } from './connection/coordinator-connection.ts';
import { Heartbeats } from './connection/heartbeats.ts';
import { MachineGauge } from './connection/machine-gauge.ts';
import { ParentRuns } from './attempt/extraction/parent-runs.ts';
import { StoredCheckpoints } from './checkpoints/stored-checkpoints.ts';
import { Uploads } from './files/uploads.ts';
import { LiveViews } from './telemetry/live/views.ts';
import { serveFiles } from './files/file-service.ts';
import { functionFiles } from './functions/function-files.ts';
import { ReportQueue } from './connection/report-queue.ts';
import type { EngineCodes } from './code/engine-codes.ts';
import type { Spool } from './spool.ts';
import { identityOf } from './connection/identity.ts';
import { finish, leavingReason } from './connection/leaving.ts';
import { declaredEnd, LifetimeWatch } from './connection/lifetime.ts';
import { ListenerPool } from './telemetry-listeners.ts';
import { peersCanBeChecked } from './processes/peer-process.ts';
import { oneLine } from './system-error.ts';
import { keepProcessAlive, settlesWithin, sleep } from '../base/clock.ts';

/** The machine of the runner, and its configuration. `env` is what simulations inherit; see `inheritedEnvironment`. */
export interface AgentOptions extends Pick<
  ExecutionSite,
  'clock' | 'log' | 'env' | 'launchers' | 'containers' | 'waits' | 'processes' | 'archiver'
> {
  config: RunnerConfig;
  client: Client;
  spool: Spool;
  codes: EngineCodes;
  /** The random name of this process, as the spool was opened with. */
  instance: string;
  python: Python | undefined;
}

const CLAIM_WAIT_SECS = 25;
/** A claim answered without jobs and faster than this did not wait: the next one must not follow at once. */
const HASTY_MS = 1000;
/** How long a runner that is stopped at once tries to hand its runs back. */
const QUICK_END_MS = 1500;
/** Why a claim is cancelled. */
class Unfit extends Error {}

export class Agent {
  readonly #options: AgentOptions;
  readonly #connection: CoordinatorConnection;
  readonly #attempts: AttemptManager;
  /** Aborted when no new work is wanted. */
  readonly #leaving = new AbortController();
  /** Aborted when no request to the coordinator follows. */
  readonly #over = new AbortController();
  /** No step of leaving waits longer (monotonic). */
  #endByMs = Infinity;
  readonly #heartbeats: Heartbeats;
  readonly #listeners: ListenerPool;
  readonly #lifetime: LifetimeWatch;
  readonly #uploads: Uploads;
  readonly #serveFiles: () => Promise<void>;
  readonly #checkpoints: StoredCheckpoints;
  #wake: () => void = () => {};
  /** True when the runner leaves because of a signal, and not by itself. */
  #isSignalled = false;
  /** Aborted when the runner leaves or the machine proves unfit. */
  #asking = new AbortController();
  #isIdle = true;

  constructor(options: AgentOptions) {
    const { config, client, clock, log, instance, spool, codes, python, env, launchers, waits, processes } = options;
    this.#options = options;
    this.#leaving.signal.addEventListener('abort', () => this.#asking.abort());
    const endMs = declaredEnd(config.lifetime, clock.now());
    this.#lifetime = new LifetimeWatch({
      clock,
      endMs,
      graceMs: config.graceSecs * 1000,
      idleMs: config.lifetime.idleMs,
      leave: (why) => {
        log.info(`leaving: ${why}`);
        this.leave(why, { isSignalled: false });
      },
    });
    this.#connection = new CoordinatorConnection({
      client,
      clock,
      log,
      identity: identityOf(config, { instance, pythonVersion: python?.version, endMs }),
      replaces: spool.replaces,
      held: () => this.#attempts.refs(),
      engines: () => codes.stated(),
      slotsLost: () => this.#attempts.slots.lost,
      onLost: (lost) => {
        for (const ref of lost) this.#attempts.drop(ref, 'the coordinator has given it to another runner');
      },
    });
    this.#heartbeats = new Heartbeats({
      clock,
      log,
      connection: this.#connection,
      runnerId: config.id,
      instance,
      held: () => this.#attempts.refs(),
      gauge: new MachineGauge(clock, config.workingDirectory),
      slotsLost: () => this.#attempts.slots.lost,
      leaving: () => leavingReason(this.#leaving.signal, this.#attempts.running, this.#uploads.size),
      onDrop: (...dropped) => {
        this.#attempts.drop(...dropped);
      },
      stop: this.#over.signal,
    });
    // Where senders cannot be checked, a late sender of one run would be taken for the next.
    this.#listeners = new ListenerPool(clock, peersCanBeChecked());
    const sending = { ...options, connection: this.#connection, stop: this.#over.signal };
    const live = config.servesFiles ? new LiveViews(clock) : undefined;
    this.#serveFiles = () => serveFiles({ ...sending, live });
    this.#uploads = new Uploads({ ...sending, onChange: () => this.#wake() });
    this.#checkpoints = new StoredCheckpoints(sending);
    this.#attempts = new AttemptManager({
      config,
      spool,
      reporter: new ReportQueue({ ...sending, isStartExpected: () => this.#attempts.isStartExpected }),
      site: {
        clock,
        log,
        waits,
        processes,
        listeners: this.#listeners,
        launchers,
        codes,
        uploads: this.#uploads,
        live,
        storedCheckpoints: this.#checkpoints,
        parents: new ParentRuns(sending),
        archiver: options.archiver,
        containers: options.containers,
        python: python?.executable,
        env,
        leaving: this.#leaving.signal,
        environmentAllowed: config.environmentAllowed,
        workingDirectory: config.workingDirectory,
        ...(config.allowFunctions ? { functions: functionFiles(spool.directory, sending) } : {}),
      },
      leaving: this.#leaving.signal,
      onChange: () => {
        this.#lifetime.holds(this.#attempts.size);
        this.#wake();
      },
      onUnfit: () => {
        this.#asking.abort(new Unfit());
      },
    });
  }

  /**
   * Runs until `leave` is called and everything is delivered, or kept for the next process.
   * @throws ApiError when the coordinator refuses the first registration for good (credential, configuration).
   */
  async run(): Promise<void> {
    const endKeepAlive = keepProcessAlive();
    try {
      await this.#work();
    } finally {
      // Whatever failed: without this the heartbeats would keep a runner online that does nothing else any more.
      this.#over.abort();
      this.#lifetime.close();
      this.#listeners.close();
      await this.#heartbeats.end();
      endKeepAlive();
    }
  }

  async #work(): Promise<void> {
    const { spool, log } = this.#options;
    // Recovery comes first: a process that it kills must be dead before the coordinator gives its run to another runner.
    const undelivered = await this.#attempts.recover();
    let heartbeatSecs: number;
    try {
      heartbeatSecs = (await this.#connection.register(this.#leaving.signal)).heartbeat_interval_secs;
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      log.info('stopped before it was registered');
      return;
    }
    // A failure is harmless: the former instances stay listed.
    await spool.registered().catch((error: unknown) => {
      log.warn(`the spool cannot be written: ${oneLine(error)}`);
    });
    this.#attempts.resume(undelivered);
    this.#heartbeats.start(heartbeatSecs);
    void this.#serveFiles();
    this.#lifetime.holds(this.#attempts.size);
    await this.#claims();
    await this.#finish();
  }

  /**
   * Claims no more jobs, lets the running ones finish within the grace time, hands the others back, signs off.
   * @param why for the log and the histories of these runs, as a clause or the name of a signal.
   * @param options `isSignalled`: it does not stay for files that are not sent.
   */
  leave(why: string, { isSignalled = true } = {}): void {
    this.#isSignalled ||= isSignalled;
    this.#leaving.abort(why);
    this.#wake();
  }

  /**
   * Sends SIGKILL to every simulation before it returns; `run` resolves soon, after a sign-off where that is possible. Undelivered
   * outcomes are left to the next process under this id.
   */
  killAll(): void {
    this.#leaving.abort('at once');
    this.#attempts.dropAll('stopped at once');
    this.#endByMs = this.#options.clock.monotonicMs() + QUICK_END_MS;
    this.#options.clock.after(QUICK_END_MS, () => {
      this.#over.abort();
      this.#wake();
    });
    this.#wake();
  }

  /** Claims jobs, and returns when no more are to be claimed. */
  async #claims(): Promise<void> {
    const { clock, log } = this.#options;
    const leaving = this.#leaving.signal;
    let hasty = 0;
    while (!leaving.aborted) {
      const unfitMs = this.#attempts.unfitUntilMs - clock.monotonicMs();
      if (unfitMs > 0) await sleep(clock, unfitMs, leaving);
      else if (this.#attempts.wanted <= 0) await this.#change();
      else {
        const sinceMs = clock.monotonicMs();
        try {
          this.#isIdle = this.#take(await this.#connection.ask(() => this.#claim(), leaving)) === 0;
          hasty = this.#isIdle && clock.monotonicMs() - sinceMs < HASTY_MS ? hasty + 1 : 0;
        } catch (error) {
          if (error instanceof Stopped) return;
          if (error instanceof Unfit) continue;
          log.error(`the coordinator refuses to give work: ${oneLine(error)}`);
          hasty = Math.max(hasty, 1) + 1;
        }
        if (hasty > 1) await sleep(clock, Math.min(15, 2 ** (hasty - 2)) * HASTY_MS, leaving);
      }
    }
  }

  async #claim(): Promise<ClaimResponse> {
    const { config, client, instance, clock, codes } = this.#options;
    const engines = await codes.stated(this.#isIdle ? 'now' : 'lately');
    if (this.#attempts.unfitUntilMs > clock.monotonicMs()) throw new Unfit();
    // One controller, since a combination of two signals costs more than the rest of a small request.
    this.#asking = new AbortController();
    if (this.#leaving.signal.aborted) this.#asking.abort();
    // Claimed jobs that are not named here are handed out again: a lost reply strands none.
    const holding = this.#attempts.refs();
    // All slots, not only the free ones: more become free while the claim waits, and the coordinator never gives more than there are.
    const { depth } = this.#attempts.ahead;
    const request = {
      instance,
      max_jobs: config.maxConcurrentJobs + depth,
      ...(depth === 0 ? {} : { ahead: depth }),
      wait_seconds: CLAIM_WAIT_SECS,
      holding,
      slots_lost: this.#attempts.slots.lost,
      engines,
    };
    return await client.claim(config.id, request, { signal: this.#asking.signal });
  }

  #take(answer: ClaimResponse): number {
    const taken = answer.assignments.filter((it) => {
      const { config, priority, uploads } = answer.batches[it.job.batch_id] ?? {};
      const ref = { job_id: it.job.id, attempt: it.attempt };
      if (uploads === true) for (const them of [this.#uploads, this.#checkpoints]) them.want(ref);
      return this.#attempts.take(it, config, priority);
    });
    this.#lifetime.holds(this.#attempts.size);
    return taken.length;
  }

  async #finish(): Promise<void> {
    if (this.#over.signal.aborted) return;
    await finish({
      ...this.#options,
      attempts: this.#attempts,
      uploads: this.#uploads,
      checkpoints: this.#checkpoints,
      heartbeats: this.#heartbeats,
      lifetime: this.#lifetime,
      why: String(this.#leaving.signal.reason),
      isSignalled: () => this.#isSignalled,
      stop: this.#over.signal,
      until: (holds, ms) => this.#until(holds, ms),
    });
  }

  /** Resolves when the condition holds, after `ms`, or when the runner is stopped at once. */
  async #until(holds: () => boolean, ms: number): Promise<void> {
    const { clock } = this.#options;
    const endMs = clock.monotonicMs() + ms;
    const leftMs = (): number => Math.min(endMs, this.#endByMs) - clock.monotonicMs();
    while (!holds() && leftMs() > 0 && !this.#over.signal.aborted) await this.#change(leftMs());
  }

  /** Resolves when something changed, or after `ms`. */
  async #change(ms?: number): Promise<void> {
    const changed = new Promise<void>((resolve) => (this.#wake = resolve));
    await (ms === undefined ? changed : settlesWithin(this.#options.clock, ms, changed));
    // One look at all runs for each group of short runs that ends.
    await new Promise<void>((resolve) => this.#options.clock.soon(resolve));
  }
}

/**
 * A cluster and a coordinator in memory, under a simulated clock: an engine whose allocations start, register runners, execute
 * runs and end. It can crash the launcher at any of its steps, refuse, and give no answer before or after an effect.
 */
import type { DemandResponse, Runner } from '../../../src/contract/types.ts';
import {
  EngineRefused,
  EngineUnreachable,
  NothingStarted,
  type AllocationRequest,
  type Engine,
  type EngineAllocation,
  type EngineView,
} from '../../../src/launcher/engine.ts';
import type { CoordinatorPort, TokenRequest } from '../../../src/launcher/loop/ports.ts';
import { runnerIdOf } from '../../../src/launcher/request.ts';
import type { SimulatedClock } from '../../support/simulated-clock.ts';
import { group, runner } from '../decision/support.ts';
import { viewOf, type KnownJob } from '../support.ts';

/** The launcher's process is dead: nothing after the step happens. */
export class Crash extends Error {}

export interface FakeJob extends KnownJob {
  submittedAtMs: number;
  endedAtMs?: number;
  /** Runs that its runner executes; undefined before it has registered. */
  runs?: { endsAtMs: number }[];
  idleSinceMs?: number;
  /** The variables that its runner allows. */
  allowed?: string[];
  /** Its runner gets no new runs. */
  isDrained?: boolean;
  /** Its runs never end, and its runner takes no notice of a signal. */
  isHung?: boolean;
  /** Its node has failed: the pool lists its runner until it counts as Offline. */
  diedAtMs?: number;
  /** Its runner has signed off, and its process stays. */
  hasLeft?: boolean;
}

export interface FakeClusterOptions {
  clock: SimulatedClock;
  /** Runs to execute, each for `runMs`. */
  runs: number;
  runMs?: number;
  /** Allocations that the engine runs at once. */
  nodes?: number;
  /** From the start of an allocation to the registration of its runner; undefined: never. */
  registerMs?: number | undefined;
  hasTokens?: boolean;
  /** Its allocations are on hosts, as those of ssh. */
  hasPlaces?: boolean;
  /** Of each run; 0: none. A run that hangs takes no notice of it. */
  timeLimitMs?: number;
}

export class FakeCluster implements Engine, CoordinatorPort {
  readonly settleMs = 30_000;
  readonly jobs = new Map<string, FakeJob>();
  /** Calls of `submit` for each id. */
  readonly submissions = new Map<string, number>();
  readonly tokens = new Map<string, string>();
  pending: number;
  completed = 0;
  mostLive = 0;
  requests: string[] = [];
  /** Variables that the runs have, and those that runners which register from now on allow. */
  environment: { set: string[]; allowed: string[] } = { set: [], allowed: [] };
  /** The digests of the pinned code, and of the code that is installed where runners start. */
  code: { pinned: string; installed: string } | undefined;
  /** The answer of the next calls, by the name of the method; a function may decide by the request. */
  faults: {
    list?: Error;
    /** Places that give no answer; allocations are on `a` and `b` by turns. */
    dead?: string;
    submit?: (request: AllocationRequest) => 'refused' | 'full' | 'lost' | 'unanswered' | 'late' | undefined;
    coordinator?: Error;
  } = {};
  /** Crashes the launcher at this step, counted from 1; undefined: never. */
  crashAt: number | undefined;
  steps = 0;
  /** The process of the launcher is dead, also when it catches the error. A new one clears it. */
  isCrashed = false;
  readonly #places = new Map<string, string>();
  /** Submissions that the engine has received and not yet processed. */
  readonly #late: { request: AllocationRequest; atMs: number }[] = [];
  readonly #options: Required<Omit<FakeClusterOptions, 'registerMs'>> & { registerMs: number | undefined };

  constructor(options: FakeClusterOptions) {
    this.#options = {
      runMs: 20_000,
      nodes: 100,
      hasTokens: true,
      timeLimitMs: 600_000,
      hasPlaces: false,
      ...options,
      registerMs: 'registerMs' in options ? options.registerMs : 3_000,
    };
    this.pending = options.runs;
  }

  /** Each effect outside of the launcher is between two steps, so that it may crash before and after it. */
  step(): void {
    if (this.isCrashed) throw new Crash('the process is dead');
    this.steps += 1;
    if (this.steps !== this.crashAt) return;
    this.isCrashed = true;
    throw new Crash(`crash at step ${String(this.steps)}`);
  }

  get live(): FakeJob[] {
    return [...this.jobs.values()].filter((it) => it.state !== 'ended');
  }

  // The engine.

  async list(): Promise<EngineView> {
    this.requests.push('list');
    this.step();
    if (this.faults.list !== undefined) throw this.faults.list;
    const { allocations } = viewOf(this.jobs);
    const { dead } = this.faults;
    if (dead === undefined) return { allocations, silent: [] };
    const seen = allocations.filter((it) => this.#places.get(it.id) !== dead);
    return { allocations: seen, silent: [{ queue: 'main', place: dead, why: `${dead}: no route to host` }] };
  }

  async submit(request: AllocationRequest): Promise<{ handle: string; place?: string }> {
    this.requests.push('submit');
    this.step();
    this.submissions.set(request.id, (this.submissions.get(request.id) ?? 0) + 1);
    const fault = this.faults.submit?.(request);
    if (fault === 'refused') throw new EngineRefused('invalid partition');
    if (fault === 'full') throw new NothingStarted('no host that answers has room: b: no route to host');
    if (fault === 'late') this.#late.push({ request, atMs: this.#options.clock.now() + this.settleMs - 5_000 });
    else if (fault !== 'lost') this.#begin(request);
    this.step();
    if (fault !== undefined) throw new EngineUnreachable('the controller timed out');
    if (!this.#options.hasPlaces) return { handle: `job-${request.id}` };
    const place = ['a', 'b'].filter((it) => it !== this.faults.dead)[this.#places.size % 2] ?? 'b';
    this.#places.set(request.id, place);
    return { handle: `job-${request.id}`, place };
  }

  async stop(allocations: readonly EngineAllocation[], isImmediate: boolean): Promise<void> {
    this.requests.push(isImmediate ? 'stop now' : 'stop');
    this.step();
    for (const { id } of allocations) {
      const job = this.jobs.get(id);
      if (job === undefined || job.state === 'ended') continue;
      if (isImmediate || job.isHung !== true) this.#end(job, 'cancelled');
    }
    this.step();
  }

  #begin(request: AllocationRequest): void {
    this.jobs.set(request.id, { request, state: 'queued', submittedAtMs: this.#options.clock.now() });
    this.mostLive = Math.max(this.mostLive, this.live.length);
  }

  check = async () => [];
  script = () => '';

  // The coordinator.

  async demand(): Promise<DemandResponse> {
    this.#asked('demand');
    const { set } = this.environment;
    const named = group({
      runs: this.pending,
      timeout_secs: 600,
      ...(set.length === 0 ? {} : { environment: set }),
      ...(this.code === undefined ? {} : { code: this.code.pinned }),
    });
    // As the coordinator does: runs of a pinned code are not part of the demand while the connected runners have another one.
    const isUnserved = this.#isOtherCode && this.live.some((it) => it.runs !== undefined && it.hasLeft !== true);
    if (isUnserved) return { runs: 0, demand: [] };
    return { runs: this.pending, demand: this.pending === 0 ? [] : [named] };
  }

  async runners(): Promise<Runner[]> {
    this.#asked('runners');
    const now = this.#options.clock.now();
    const known = [...this.jobs.values()].filter(
      (it) => it.state !== 'ended' || now < (it.diedAtMs ?? -Infinity) + 15_000,
    );
    return known.flatMap((it) => {
      if (it.runs === undefined || it.hasLeft === true) return [];
      const { id, queue } = it.request;
      const { capabilities } = runner();
      return [
        runner({
          capabilities: { ...capabilities, environment_allowed: it.allowed ?? [] },
          ...(this.code === undefined
            ? {}
            : { engines: [{ name: '*', code: { kind: 'entrypoint', digest: this.code.installed } }] }),
          id: runnerIdOf(queue, id),
          allocation: `fake/${queue}/${id}`,
          status: it.isDrained === true ? 'Maintenance' : it.runs.length > 0 ? 'Busy' : 'Idle',
          last_heartbeat: new Date(it.diedAtMs ?? now).toISOString(),
          current_jobs: it.runs.map((_, index) => String(index)),
        }),
      ];
    });
  }

  async timeLimits(runnerIds: readonly string[]): Promise<Map<string, number>> {
    this.#asked('timeLimits');
    return new Map(runnerIds.map((id) => [id, this.#options.timeLimitMs]));
  }

  async makeTokens(requests: readonly TokenRequest[]): Promise<Map<string, string | undefined>> {
    this.#asked('makeTokens');
    const made = new Map<string, string | undefined>();
    for (const { allocation } of requests) {
      const token = this.#options.hasTokens ? `secret of ${allocation}` : undefined;
      made.set(allocation, token);
      if (token !== undefined) this.tokens.set(allocation, token);
    }
    this.step();
    return made;
  }

  async revokeTokens(allocations: readonly string[]): Promise<void> {
    this.#asked('revokeTokens');
    for (const it of allocations) this.tokens.delete(it);
    this.step();
  }

  get #isOtherCode(): boolean {
    return this.code !== undefined && this.code.pinned !== this.code.installed;
  }

  #asked(request: string): void {
    this.requests.push(request);
    this.step();
    if (this.faults.coordinator !== undefined) throw this.faults.coordinator;
  }

  /** Lets the time pass: allocations start, runners register, claim, finish and leave when idle. */
  advance(): void {
    const now = this.#options.clock.now();
    while ((this.#late[0]?.atMs ?? Infinity) <= now)
      this.#begin((this.#late.shift() as { request: AllocationRequest }).request);
    const { nodes, registerMs, runMs } = this.#options;
    for (const job of this.live) {
      const { request } = job;
      const running = this.live.filter((it) => it.startedAtMs !== undefined).length;
      if (job.startedAtMs === undefined) {
        if (running >= nodes) continue;
        job.startedAtMs = now;
        job.state = 'running';
      }
      if (registerMs === undefined || now < job.startedAtMs + registerMs) continue;
      const allocation = `fake/${request.queue}/${request.id}`;
      const isKnown = !this.#options.hasTokens || this.tokens.get(allocation) === request.token;
      if (!isKnown) {
        this.#end(job, 'failed');
        continue;
      }
      job.runs ??= [];
      const before = job.runs.length;
      job.runs = job.runs.filter((it) => job.isHung === true || it.endsAtMs > now);
      this.completed += before - job.runs.length;
      job.allowed ??= this.environment.allowed;
      const isRefused = this.#isOtherCode || this.environment.set.some((it) => job.allowed?.includes(it) !== true);
      while (!isRefused && job.isDrained !== true && job.hasLeft !== true && job.runs.length < 4 && this.pending > 0) {
        this.pending -= 1;
        job.runs.push({ endsAtMs: now + runMs });
      }
      if (job.runs.length > 0) delete job.idleSinceMs;
      else job.idleSinceMs ??= now;
      const isKept = !request.runner.args.includes('--idle-exit') || job.hasLeft === true;
      if (!isKept && job.idleSinceMs !== undefined && now >= job.idleSinceMs + 60_000) this.#end(job, 'completed');
      else if (now >= job.startedAtMs + request.lifetimeSecs * 1_000) this.#end(job, 'timeout');
    }
    // As Slurm does, the engine forgets ended allocations after 300 s.
    for (const [id, { endedAtMs = Infinity }] of this.jobs) if (now > endedAtMs + 300_000) this.jobs.delete(id);
  }

  /** The node of the job fails: its runner sends no heartbeat any more. */
  die(job: FakeJob): void {
    Object.assign(job, { state: 'ended', end: { kind: 'node-failure' }, diedAtMs: this.#options.clock.now() });
    job.endedAtMs = this.#options.clock.now();
  }

  #end(job: FakeJob, kind: 'completed' | 'failed' | 'timeout' | 'cancelled'): void {
    // Runs of a runner that ends are handed back.
    this.pending += job.runs?.length ?? 0;
    delete job.runs;
    job.state = 'ended';
    job.end = { kind };
    job.endedAtMs = this.#options.clock.now();
  }
}

/** A launcher of the simulation, which crashes at any step of its effects, beside the coordinator of a stage and a cluster. */
import type { CoordinatorApi } from '../../../src/coordinator/api.ts';
import type {
  AllocationEndKind,
  LauncherReport,
  LauncherReportResponse,
  RunnerContext,
} from '../../../src/contract/types.ts';
import type { LauncherConfig } from '../../../src/launcher/settings.ts';
import { reportOf } from '../../../src/launcher/loop/coordinator.ts';
import { Launcher } from '../../../src/launcher/loop/launcher.ts';
import type { CoordinatorPort, OperatorCommand } from '../../../src/launcher/loop/ports.ts';
import type { AllocationRecord } from '../../../src/launcher/state/allocations.ts';
import type { LauncherStatus } from '../../../src/launcher/loop/status.ts';
import type { Changes } from '../../../src/coordinator/kernel/storage/store.ts';
import { queueConfig } from '../../launcher/support.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { all } from '../../support/scene.ts';
import { seededRandom } from '../../support/simulated-clock.ts';
import { insist, Violation } from '../acknowledged.ts';
import type { Stage } from '../scenario.ts';
import { SETTLE_MS, SimCluster, type ClusterBug } from './cluster.ts';

const POLL_MS = 3_000;
const HOUR_MS = 3_600_000;
/** Of a submission. */
const HANG_PROBABILITY = 0.07;

export interface LauncherBug extends ClusterBug {
  /** The write that reaches the disk of the launcher. */
  written?(changes: Changes): Changes;
  /** Tokens are never revoked. */
  keepsTokens?: boolean;
}

/** The process of the launcher is dead: nothing after the step happens. */
class Crash extends Error {}

/** Ends that say nothing about the runs. */
const TAKEN: ReadonlySet<AllocationEndKind> = new Set<AllocationEndKind>([
  'completed',
  'timeout',
  'preempted',
  'evicted',
  'node-failure',
  'cancelled',
]);

export class LauncherSite {
  readonly cluster: SimCluster;
  readonly config: LauncherConfig;
  readonly log: string[] = [];
  crashes = 0;
  rounds = 0;
  status: LauncherStatus | undefined;
  readonly #stage: Stage;
  readonly #bug: LauncherBug;
  readonly #disk = new Map<string, string>();
  readonly #tokens = new Set<string>();
  readonly #random: () => number;
  #commands: OperatorCommand[] = [];
  #launcher: Launcher | undefined;
  /** Counts processes: a dead one has no further effect, also where it catches the error. */
  #life = 0;
  #isBusy = false;
  #nextRoundMs = 0;
  /** Effects that wait for a later step. */
  #slow: (() => void)[] = [];
  #violation: Error | undefined;
  /** Core milliseconds of allocations that the engine has forgotten. */
  #forgottenCoreMs = 0;
  /** Reports that have not taken back a loss, in a row, by the record of the runner. */
  readonly #lateReports = new Map<string, number>();
  readonly #counted = new Set<string>();

  constructor(stage: Stage, bug: LauncherBug) {
    this.#stage = stage;
    this.#bug = bug;
    this.#random = seededRandom(stage.seed);
    this.cluster = new SimCluster(stage, bug, (allocation) => this.#tokens.has(allocation));
    const { dice } = stage;
    this.config = {
      launcher: 'sim',
      endpoint: 'http://127.0.0.1:1',
      runnerEndpoint: 'http://127.0.0.1:1',
      pollMs: POLL_MS,
      limits: {
        maxAllocations: dice.chance(0.5) ? 2 : undefined,
        // So many whole lifetimes of allocations.
        maxCoreHours: dice.chance(0.5) ? ((3 + dice.int(4)) * 4 * 300_000) / HOUR_MS : undefined,
        maxCoreHoursPerDay: undefined,
      },
      queues: [
        queueConfig({
          section: {},
          size: { cores: 4, memoryBytes: 0, gpus: 0 },
          lifetimeMs: 300_000,
          lifetimeMarginMs: 10_000,
          min: dice.int(2),
          max: 3,
          maxQueued: 2,
          startTimeoutMs: 40_000,
          queueTimeoutMs: dice.chance(0.5) ? 20_000 : undefined,
          drainTimeoutMs: dice.chance(0.5) ? 30_000 : undefined,
          backoff: { firstMs: 5_000, maxMs: 20_000, pauseAfter: 4 },
        }),
      ],
    };
  }

  /** Begins a round where it is time for one. Its effects may take several steps. */
  act(): void {
    this.cluster.act();
    for (const resume of this.#slow.splice(0)) resume();
    const now = this.#stage.now();
    if (this.#isBusy || now < this.#nextRoundMs) return;
    this.#isBusy = true;
    this.#nextRoundMs = now + POLL_MS;
    const life = this.#life;
    this.#round()
      .catch((error: unknown) => {
        if (!(error instanceof Crash)) this.#violation ??= error as Error;
      })
      .finally(() => {
        if (life === this.#life) this.#isBusy = false;
      });
  }

  async #round(): Promise<void> {
    this.#launcher ??= await this.#open(this.#life);
    this.status = await this.#launcher.round();
    this.rounds += 1;
  }

  /** Kills the process: a new one begins with the records on disk. */
  crash(): void {
    this.crashes += 1;
    this.#life += 1;
    this.#launcher = undefined;
    this.#isBusy = false;
  }

  send(command: OperatorCommand): void {
    this.#commands.push(command);
  }

  /** No fault any more: an operator lifts the limit of core hours and resumes the queue. */
  calm(): void {
    this.cluster.isCalm = true;
    Object.assign(this.config.limits, { maxCoreHours: undefined });
    // Nothing is kept, so that everything ends.
    Object.assign(this.config.queues[0]!, { min: 0 });
    this.crash();
    this.send({ type: 'resume' });
    this.send({ type: 'stop', immediately: false, reason: 'the end of the scenario' });
  }

  /** True when nothing lives, neither in the engine nor in the records, and no token is left. */
  get isQuiet(): boolean {
    const counts = this.status?.queues.map((it) => Object.keys(it.counts).length) ?? [1];
    return this.cluster.live.length === 0 && this.#tokens.size === 0 && counts.every((it) => it === 0);
  }

  get explanation(): string {
    const records = [...this.#disk.values()].filter((it) => it.includes('"value"')).join('\n');
    return `${this.cluster.live.length} live, ${this.#tokens.size} tokens\n${this.log.slice(-12).join('\n')}\n${records.slice(0, 2_000)}`;
  }

  check(): void {
    if (this.#violation !== undefined)
      throw new Violation(`the launcher failed: ${this.#violation.stack ?? this.#violation.message}`);
    const { cluster, config } = this;
    const [queue] = config.queues;
    const { maxAllocations = Infinity, maxCoreHours } = config.limits;
    const most = Math.min(queue!.max, maxAllocations);
    insist(cluster.live.length <= most, () => `${cluster.live.length} allocations live, and the limit is ${most}`);
    const queued = cluster.live.filter((it) => it.state === 'queued').length;
    insist(queued <= queue!.maxQueued, () => `${queued} allocations are queued, and the limit is ${queue!.maxQueued}`);
    for (const id of this.#givenUp())
      insist(!cluster.jobs.has(id), () => `the engine has ${id}, which was given up as never submitted`);
    for (const [id, times] of cluster.submissions) insist(times === 1, () => `${id} was submitted ${times} times`);
    if (maxCoreHours !== undefined) {
      const hours = this.#coreMs() / HOUR_MS;
      insist(hours <= maxCoreHours + 1e-9, () => `${hours} core hours are used, and the limit is ${maxCoreHours}`);
    }
  }

  /** The ids of allocations whose records say that the engine has never had them. */
  *#givenUp(): Generator<string> {
    for (const record of this.#disk.values()) {
      if (!/"kind":"(never-submitted|abandoned)"/.test(record)) continue;
      const { value, context } = JSON.parse(record) as AllocationRecord;
      if (value === 'Ended') yield context.id;
    }
  }

  /** Live allocations count with their whole lifetime. */
  #coreMs(): number {
    let sum = this.#forgottenCoreMs;
    for (const [id, { request, startedAtMs, endedAtMs, state }] of this.cluster.jobs) {
      if (this.#counted.has(id)) continue;
      const whole = 1_000 * request.lifetimeSecs;
      // The steps of the scenario end an allocation a little after its wall time.
      const usedMs = Math.min(whole, (endedAtMs ?? 0) - (startedAtMs ?? endedAtMs ?? 0));
      const ms = state === 'ended' ? usedMs : whole;
      if (state === 'ended') {
        this.#counted.add(id);
        this.#forgottenCoreMs += request.size.cores * ms;
      }
      sum += request.size.cores * ms;
    }
    return sum;
  }

  /** One effect: the process may die before it and after it, and it may take a while. */
  async #effect<T>(life: number, act: () => Promise<T>): Promise<T> {
    this.#step(life);
    await this.#wait(life);
    const result = await act().finally(() => this.#step(life));
    await this.#wait(life);
    return result;
  }

  #step(life: number): void {
    if (life === this.#life && !this.cluster.isCalm && this.#stage.dice.chance(0.004)) this.crash();
    if (life !== this.#life) throw new Crash('the process is dead');
  }

  async #wait(life: number): Promise<void> {
    if (this.cluster.isCalm || !this.#stage.dice.chance(0.05)) return;
    await new Promise<void>((resolve) => this.#slow.push(resolve));
    if (life !== this.#life) throw new Crash('the process is dead');
  }

  /** At times a call takes long before it reaches the engine. */
  async #hang(life: number): Promise<boolean> {
    if (this.cluster.isCalm || !this.#stage.dice.chance(HANG_PROBABILITY)) return false;
    this.cluster.note('slow');
    const untilMs = this.#stage.now() + this.#stage.dice.int(SETTLE_MS);
    while (this.#stage.now() < untilMs) await new Promise<void>((resolve) => this.#slow.push(resolve));
    if (life !== this.#life) throw new Crash('the process is dead');
    return true;
  }

  #open(life: number): Promise<Launcher> {
    const { cluster, config } = this;
    const effect = <T>(act: () => Promise<T>): Promise<T> => this.#effect(life, act);
    const store = new MemoryStore(this.#disk);
    const write = store.write.bind(store);
    store.write = (changes) => effect(() => write(this.#bug.written?.(changes) ?? changes));
    return Launcher.open({
      config,
      engines: new Map([
        [
          config.queues[0]!.name,
          {
            settleMs: SETTLE_MS,
            list: () => effect(() => cluster.list()),
            submit: (request) => effect(async () => cluster.submit(request, await this.#hang(life))),
            stop: (allocations, now) => effect(() => cluster.stop(allocations, now)),
            check: cluster.check,
            script: cluster.script,
          },
        ],
      ]),
      coordinator: this.#port(effect),
      store,
      clock: {
        now: () => this.#stage.now(),
        monotonicMs: () => this.#stage.now(),
        after: () => () => {},
        every: () => () => {},
        soon: (action) => queueMicrotask(action),
        random: (bytes) => Uint8Array.from({ length: bytes }, () => Math.floor(this.#random() * 256)),
      },
      inbox: {
        take: async () => ({
          commands: [...this.#commands],
          done: async () => void (this.#commands = []),
        }),
      },
      log: (level, message) => void this.log.push(`${level} ${message}`),
      onStatus: async (status) => {
        if (status.isCoordinatorSilent) return;
        this.#stage.follow('the launcher reports', this.#report(reportOf(status)), ['unavailable'], {});
      },
      isDryRun: false,
    });
  }

  /** Reports; no loss of a silent runner counts any more soon after the report that the cluster took its allocation away. */
  async #report(report: LauncherReport): Promise<LauncherReportResponse> {
    const response = await this.#stage.api.reportLauncher(report);
    const taken = new Set((report.ended ?? []).filter(({ end }) => TAKEN.has(end)).map((it) => it.allocation));
    for (const [key, record] of this.#stage.disk) {
      if (!key.startsWith('!runner!')) continue;
      const {
        value,
        allocation = '',
        lost,
      } = JSON.parse(record) as { value: string } & Pick<RunnerContext, 'allocation' | 'lost'>;
      const isCounted = value === 'Offline' && lost !== undefined && taken.has(allocation);
      const reports = isCounted ? (this.#lateReports.get(key) ?? 0) + 1 : 0;
      this.#lateReports.set(key, reports);
      // The answer to a report may come before the change that an earlier one has made is on disk.
      insist(
        reports < 10,
        () => `the loss of ${key} counts after ${reports} reports that ${allocation} was taken away`,
      );
    }
    return response;
  }

  #port(effect: <T>(act: () => Promise<T>) => Promise<T>): CoordinatorPort {
    const api = (): CoordinatorApi => this.#stage.api;
    const asked = <T>(act: () => Promise<T>): Promise<T> =>
      effect(async () => {
        if (!this.cluster.isCalm && this.#stage.dice.chance(0.05)) throw new Error('the coordinator gives no answer');
        return act();
      });
    return {
      demand: () => asked(() => api().demand()),
      runners: () => asked(async () => (await api().runners({})).runners),
      timeLimits: (runnerIds) =>
        asked(async () => {
          const limits = new Map<string, number>();
          for (const it of await all(await api().jobs({ runner_id: [...runnerIds], status: ['Claimed', 'Running'] }))) {
            const id = it.assigned_runner ?? '';
            const ms = 1_000 * it.timeout_secs;
            limits.set(id, ms === 0 || limits.get(id) === 0 ? 0 : Math.max(limits.get(id) ?? 0, ms));
          }
          return limits;
        }),
      makeTokens: (requests) =>
        asked(async () => {
          for (const { allocation } of requests) this.#tokens.add(allocation);
          return new Map(requests.map(({ allocation }) => [allocation, `secret of ${allocation}`]));
        }),
      revokeTokens: (allocations) =>
        asked(async () => {
          if (this.#bug.keepsTokens !== true) for (const it of allocations) this.#tokens.delete(it);
        }),
    };
  }
}

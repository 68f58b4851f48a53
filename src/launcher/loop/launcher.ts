/**
 * The launcher's loop. One round: read the demand, the pool and the engines once each, compare, decide, submit, stop, revoke.
 * Every step is on disk before the next one, so that a crash between any two submits nothing twice and forgets nothing.
 */
import { SimbatchError } from '../../domain/errors.ts';
import { plural } from '../../domain/plural.ts';
import type { Clock } from '../../base/clock.ts';
import type { Store } from '../../coordinator/kernel/storage/store.ts';
import type { AllocationFact } from '../../../machines/allocation/context.ts';
import type { LauncherConfig } from '../settings.ts';
import type { RunnerSettings } from '../decision/fits.ts';
import { coreMsOf, isLive, usageOf, type Usage } from '../decision/usage.ts';
import { wanted, type QueueDecision, type Unserved } from '../decision/wanted.ts';
import type { Engine } from '../engine.ts';
import { Allocations } from '../state/allocations.ts';
import { readLauncherStore, writeLauncherStore, type LauncherRecord } from '../state/launcher-store.ts';
import { afterFailure, afterReady, blockOf, INITIAL_QUEUE, type QueueState } from '../state/queue-state.ts';
import { EngineQuestions } from './ask-engines.ts';
import { applyCommand } from './commands.ts';
import {
  askPool,
  expire,
  isCutOff,
  observeEngines,
  observePool,
  runnerNameOf,
  type EngineAnswers,
  type Pool,
} from './observe.ts';
import type { CoordinatorPort, Inbox, LauncherLog, StatusSink } from './ports.ts';
import { Forgetting, latestInstant } from './forget.ts';
import { FullQueues } from './full-queues.ts';
import { revokeEnded } from './revoke.ts';
import { statusOf, type LauncherStatus } from './status.ts';
import { Stopping } from './stopping.ts';
import { submitAll } from './submit.ts';

export interface LauncherParts {
  config: LauncherConfig;
  /** The engine of each queue, by its name. */
  engines: ReadonlyMap<string, Engine>;
  coordinator: CoordinatorPort;
  store: Store;
  clock: Clock;
  inbox: Inbox;
  log: LauncherLog;
  onStatus: StatusSink;
  /** True to decide and report alone: no allocation is submitted or stopped, no record is written. */
  isDryRun: boolean;
  /** See `ForgettingParts`. */
  keepDays?: number | undefined;
}

const TOKEN_DELAY_MS = 60_000;

export class Launcher {
  readonly #parts: LauncherParts;
  readonly #allocations: Allocations;
  readonly #stopping: Stopping;
  readonly #questions: EngineQuestions;
  #forgetting: Forgetting;
  readonly #full = new FullQueues();
  readonly #queues = new Map<string, QueueState>();
  readonly #changedQueues = new Set<string>();
  /** The settings of the last runner of a queue. They are not stored: a restart and `resume` ask the next runner again. */
  readonly #settings = new Map<string, RunnerSettings>();
  /** The settings of runners that were ready before are not those of the next ones; by queue. */
  readonly #settingsSince = new Map<string, number>();
  #record: LauncherRecord;
  #isRecordChanged = false;
  #decisions: ReadonlyMap<string, QueueDecision> = new Map();
  #unserved: readonly Unserved[] = [];
  #tokenFault: { why: string; untilMs: number } | undefined;

  private constructor(parts: LauncherParts) {
    this.#parts = parts;
    this.#allocations = new Allocations((fact) => this.#onFact(fact));
    this.#stopping = new Stopping(parts.engines, parts.log);
    this.#questions = new EngineQuestions(parts.config, parts.engines);
    this.#forgetting = forgettingOf(parts, Infinity);
    this.#record = { format: 1, launcher: parts.config.launcher, forgottenCoreMs: 0 };
  }

  /**
   * Reads the records of the store; an allocation that was planned and not submitted is abandoned.
   * @throws SimbatchError `invalid-configuration` when live allocations have another launcher's label; those of the store
   */
  static async open(parts: LauncherParts): Promise<Launcher> {
    const launcher = new Launcher(parts);
    const stored = await readLauncherStore(parts.store);
    for (const it of stored.allocations) launcher.#allocations.restore(it);
    for (const [name, state] of stored.queues) launcher.#queues.set(name, state);
    const live = stored.allocations.filter(isLive).length;
    const former = stored.launcher;
    if (former !== undefined && former.launcher !== parts.config.launcher && live > 0) {
      throw new SimbatchError(
        'invalid-configuration',
        `the launcher is named ${parts.config.launcher}: ${plural(live, 'allocation')} of this state folder live under the name ` +
          `${former.launcher}; use that name until they have ended, or another state folder`,
      );
    }
    if (former !== undefined) launcher.#record = { ...former, launcher: parts.config.launcher };
    launcher.#forgetting = forgettingOf(parts, former?.instantMs ?? latestInstant(stored.allocations));
    launcher.#isRecordChanged = true;
    const now = parts.clock.now();
    for (const { value, context } of launcher.#allocations.live()) {
      if (value === 'Planned') {
        const reason = 'the launcher was restarted before it was submitted';
        launcher.#allocations.send(context.id, { type: 'ABANDON', reason, now });
      } else if (value === 'Submitting' && context.unansweredAtMs === undefined) {
        // The former process may have called the engine at its very end.
        const reason = 'the launcher was restarted while it was submitted';
        launcher.#allocations.send(context.id, { type: 'UNANSWERED', reason, now });
      }
    }
    await launcher.#persist();
    return launcher;
  }

  /** One round. @throws when the records cannot be written; every other failure is a problem in the status. */
  async round(): Promise<LauncherStatus> {
    const { coordinator, clock, inbox, isDryRun, config, log } = this.#parts;
    const { commands, done } = await inbox.take();
    for (const it of commands) applyCommand(it, { allocations: this.#allocations, queues: this, config, log, clock });
    await this.#persist();
    await done();

    // All questions are asked before anything is submitted: an answer never misses a submission of its own round.
    const pool = await askPool(coordinator, this.#allocations);
    const answers = await this.#questions.ask(this.#allocations.live(), 'why' in pool ? undefined : pool, clock.now());
    const problems = answers.silent.map(
      (it) => `the engine of ${it.queue}${it.place === undefined ? '' : ` at ${it.place}`} gives no answer: ${it.why}`,
    );
    if ('why' in pool) problems.push(`the coordinator gives no answer: ${pool.why}`);
    this.#observe(answers, 'why' in pool ? undefined : pool);
    await this.#persist();

    const silent = new Map(
      answers.silent.flatMap((it) =>
        it.place === undefined ? [[it.queue, `its engine gives no answer: ${it.why}`]] : [],
      ),
    );
    if (!('why' in pool)) await this.#decideAndSubmit(pool, silent, answers);
    if (!isDryRun) {
      await this.#stopping.stop(this.#allocations.live(), answers, clock.now());
      if (!('why' in pool)) await revokeEnded({ ...this.#parts, allocations: this.#allocations });
      if (this.#forgetting.begin()) await this.#forget();
    }
    await this.#persist();
    const status = this.#status(problems, silent, 'why' in pool);
    await this.#parts.onStatus(status);
    return status;
  }

  queueState(name: string): QueueState {
    return this.#queues.get(name) ?? INITIAL_QUEUE;
  }

  setQueueState(name: string, state: QueueState): void {
    if (state === this.queueState(name)) return;
    this.#queues.set(name, state);
    this.#changedQueues.add(name);
  }

  forgetSettings(name: string): void {
    this.#settings.delete(name);
    this.#settingsSince.set(name, this.#parts.clock.now());
  }

  #observe(answers: EngineAnswers, pool: Pool | undefined): void {
    const { config, engines, clock, log } = this.#parts;
    const now = clock.now();
    if (pool !== undefined) observePool(this.#allocations, pool, now);
    const settleMsOf = (queue: string): number => engines.get(queue)?.settleMs ?? 0;
    for (const id of observeEngines(this.#allocations, answers, config, settleMsOf, now)) {
      log('warn', `adopted ${id}: it lives in the engine under the label of this launcher`);
    }
    // An adopted allocation may have a registered runner.
    if (pool !== undefined) observePool(this.#allocations, pool, now);
    expire(this.#allocations, pool !== undefined, answers.silent, now);
  }

  async #decideAndSubmit(
    { demand, all, runners }: Pool,
    silent: ReadonlyMap<string, string>,
    answers: EngineAnswers,
  ): Promise<void> {
    const { config, clock, isDryRun } = this.#parts;
    const now = clock.now();
    const live = this.#allocations.live();
    const own = new Set(live.map((it) => runnerNameOf(it.context)));
    for (const { context } of live) {
      const runner = runners.get(runnerNameOf(context));
      const isOld = (context.readyAtMs ?? 0) < (this.#settingsSince.get(context.queue) ?? 0);
      if (runner !== undefined && !isOld)
        this.#settings.set(context.queue, { ...runner.capabilities, engines: runner.engines });
    }
    const blocked = new Map<string, string>();
    const at = { silent: answers.silent, live: live.map((it) => it.context.queue), now };
    for (const { name } of config.queues) {
      const full = this.#full.blockOf(name, at);
      const why = blockOf(this.queueState(name), now) ?? silent.get(name) ?? full ?? this.#tokenBlock(now);
      if (why !== undefined) blocked.set(name, why);
    }
    const decision = wanted({
      demand,
      otherRunners: all.filter((it) => it.allocation === undefined || !own.has(it.allocation)),
      allocations: live
        .map((it) => ({ ...it, runner: runners.get(runnerNameOf(it.context)) }))
        .filter((it) => {
          const startTimeoutMs = config.queues.find(({ name }) => name === it.context.queue)?.startTimeoutMs ?? 0;
          return !isCutOff(it, it.runner, { silent: answers.silent, startTimeoutMs, now });
        }),
      queues: config.queues,
      blocked,
      settings: this.#settings,
      limits: config.limits,
      usage: this.#usage(),
      now,
    });
    this.#decisions = new Map(decision.queues.map((it) => [it.queue, it]));
    this.#unserved = decision.unserved;
    if (isDryRun) return;
    const tokenFault = await submitAll(decision.queues, {
      ...this.#parts,
      allocations: this.#allocations,
      persist: () => this.#persist(),
      onFull: (queue, why) => this.#full.note(queue, why, at),
    });
    this.#noteTokens(tokenFault, clock.now());
  }

  /** Without tokens nothing is submitted for a while, so that a missing scope does not fill the records. */
  #noteTokens(why: string | undefined, now: number): void {
    if (why === undefined) return;
    this.#tokenFault = { why, untilMs: now + TOKEN_DELAY_MS };
  }

  /** Deletes old records of ended allocations; their core time stays counted. */
  async #forget(): Promise<void> {
    this.#record = { ...this.#record, instantMs: this.#parts.clock.now() };
    this.#isRecordChanged = true;
    await this.#persist();
    for (const { context } of await this.#forgetting.sweep(this.#allocations.all())) {
      this.#record = { ...this.#record, forgottenCoreMs: this.#record.forgottenCoreMs + coreMsOf(context) };
      this.#isRecordChanged = true;
      this.#allocations.forget(context.id);
    }
  }

  #tokenBlock(now: number): string | undefined {
    const fault = this.#tokenFault;
    return fault === undefined || now >= fault.untilMs ? undefined : fault.why;
  }

  #onFact(fact: AllocationFact): void {
    const { config, log } = this.#parts;
    const context = this.#allocations.get(fact.id)?.context;
    if (context === undefined) return;
    const name = runnerNameOf(context);
    if (fact.type === 'allocation.ready') {
      log('info', `${name}: its runner has registered`);
      this.setQueueState(context.queue, afterReady(this.queueState(context.queue)));
      return;
    }
    log(fact.isFailure ? 'warn' : 'info', `${name} has ended: ${fact.reason}`);
    const queue = config.queues.find((it) => it.name === context.queue);
    if (!fact.isFailure || queue === undefined) return;
    const { reason, now } = fact;
    const failure = { reason, now, plannedAtMs: context.plannedAtMs };
    const state = afterFailure(this.queueState(queue.name), queue.backoff, failure);
    this.setQueueState(queue.name, state);
    log('warn', `${queue.name} submits nothing: ${blockOf(state, now) ?? 'for a moment'}`);
  }

  async #persist(): Promise<void> {
    if (this.#parts.isDryRun) return;
    const changes = {
      ...(this.#isRecordChanged ? { launcher: this.#record } : {}),
      allocations: this.#allocations.takeChanges(),
      queues: [...this.#changedQueues].map((name): [string, QueueState] => [name, this.queueState(name)]),
    };
    this.#isRecordChanged = false;
    this.#changedQueues.clear();
    await writeLauncherStore(this.#parts.store, changes);
  }

  #usage(): Usage {
    return usageOf(this.#allocations.all(), this.#record.forgottenCoreMs, this.#parts.clock.now());
  }

  #status(
    problems: readonly string[],
    silent: ReadonlyMap<string, string>,
    isCoordinatorSilent: boolean,
  ): LauncherStatus {
    const { config, clock } = this.#parts;
    return statusOf({
      ...config,
      now: clock.now(),
      problems,
      isCoordinatorSilent,
      states: (name) => this.queueState(name),
      decisions: this.#decisions,
      silent,
      tokenBlock: this.#tokenBlock(clock.now()),
      unserved: this.#unserved,
      usage: this.#usage(),
      allocations: this.#allocations.all(),
    });
  }
}

const forgettingOf = (parts: LauncherParts, knownMs: number): Forgetting =>
  new Forgetting({ keepDays: undefined, ...parts }, knownMs);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

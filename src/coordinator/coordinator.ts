/**
 * The coordinator: builds the parts over an open store, recovers the active actors and runs a periodic tick. `http/` uses
 * it through `api.ts`; nothing here depends on HTTP.
 */
import { createActor, type ActorRefFrom } from 'xstate';
import type { DueDeadline, Fact } from '../../machines/protocol.ts';
import { supervisorMachine, type SupervisorSnapshot } from '../../machines/supervisor.ts';
import { SimbatchError } from '../domain/errors.ts';
import type { ClaimResponse } from '../contract/types.ts';
import { Answers } from './answers/answers.ts';
import { Judgements } from './judgement/judgements.ts';
import { apiOf, type CoordinatorApi } from './api.ts';
import { openJobsOf, schedulerSources } from './scheduling/live-queries.ts';
import { GroupCommit, type CommittedGroup } from './kernel/turn/group-commit.ts';
import { DEFAULT_OPTIONS, type Core, type CoordinatorOptions } from './core.ts';
import { DeadlineQueue } from './kernel/actors/deadline-queue.ts';
import { Directory, stateOf, type Activation } from './kernel/actors/directory.ts';
import { CrowdedRunners } from './scheduling/crowded-runners.ts';
import { Scheduler } from './scheduling/scheduler.ts';
import { addFactRecords, updateIndex, updateIndexes } from './scheduling/indexes.ts';
import { quarantineFailing } from './runs/quarantine.ts';
import { findings } from './reads/findings.ts';
import { poolUse } from './pool/runners.ts';
import { servePendingPolls } from './runs/claims.ts';
import { forgetOldKeys } from './kernel/turn/idempotency.ts';
import type { Commit, CoordinatorHooks } from './hooks.ts';
import { Notifications } from './notifications/notifications.ts';
import { CheckpointRemovals } from './files/checkpoints/checkpoint-removals.ts';
import { FileRequests } from './files/runner/file-requests.ts';
import { LiveReadings } from './files/runner/live-readings.ts';
import { runTelemetry } from './files/run-telemetry.ts';
import { MeasuredTurns } from './kernel/turn/measured-turns.ts';
import type { Lifecycle } from './lifecycle.ts';
import { recover } from './recovery.ts';
import { Purges } from './studies/purges.ts';
import { sweepRetention } from './studies/deletions.ts';
import type { Store } from './kernel/storage/store.ts';
import { BatchIdGenerator } from './kernel/storage/batch-id-generator.ts';
import { StudyCache } from './kernel/records/study-cache.ts';
import { Turns } from './kernel/turn/turn.ts';
import { createStatistics, simulationsIn, summarize } from './scheduling/statistics.ts';
import { LauncherReports } from './pool/launcher-reports.ts';
import { PoolHistory } from './pool/pool-history.ts';
import { StudyHealth } from './runs/study-health.ts';
import { LongPolls } from './scheduling/long-polls.ts';
import type { Clock } from '../base/clock.ts';
import { EventLoopShare } from '../base/event-loop-share.ts';

/** The interval between ticks, and so the resolution of deadlines. */
export const TICK_MS = 1_000;
/** The interval between sweeps for expired idempotency keys, batches and runners. */
const SWEEP_MS = 3_600_000;
const NOTHING: ClaimResponse = { assignments: [], batches: {} };

/** A running coordinator: its operations, and what its owner does with it. */
export type Coordinator = CoordinatorApi & Lifecycle;

/** Opens a coordinator on a store, which it then owns, and recovers the active actors. */
export async function openCoordinator(
  store: Store,
  clock: Clock,
  settings: Partial<CoordinatorOptions> & { hooks?: CoordinatorHooks } = {},
): Promise<Coordinator> {
  const { hooks = {}, ...options } = settings;
  const coordinator = new RunningCoordinator(store, clock, { ...DEFAULT_OPTIONS, ...options }, hooks);
  await coordinator.open();
  return Object.assign(coordinator, apiOf(coordinator.core));
}

class RunningCoordinator implements Lifecycle {
  readonly core: Core;
  readonly #deadlines = new DeadlineQueue();
  readonly #supervisor: ActorRefFrom<typeof supervisorMachine>;
  readonly #hooks: CoordinatorHooks;
  readonly #watchers = new Set<(commit: Commit) => void>();
  #cancelTick = (): void => {};
  #isStopped = false;
  #isServeScheduled = false;
  #sweepAtMs: number;

  constructor(store: Store, clock: Clock, options: CoordinatorOptions, hooks: CoordinatorHooks) {
    this.#hooks = hooks;
    this.#sweepAtMs = clock.now();
    const onFact = (fact: Fact): void => this.core.turns.onFact(fact);
    const share = new EventLoopShare(clock);
    const groupCommit = new GroupCommit(store, clock, {
      waiting: (areWaiting) => share.requestsWait(areWaiting),
      committed: (...group) => this.#committed(...group),
      failed: (error) => this.#failed(error),
    });
    const studyCache = new StudyCache(groupCommit);
    const directory = new Directory(groupCommit, studyCache.indexOf, onFact, options.interpreter);
    const longPolls = new LongPolls<ClaimResponse>(clock);
    const statistics = createStatistics();
    const scheduler = new Scheduler(schedulerSources(directory, longPolls, studyCache, statistics, groupCommit));
    const crowded = new CrowdedRunners();
    const parts: ConstructorParameters<typeof Turns>[0] = {
      directory,
      groupCommit,
      clock,
      registry: { openJobsOf: (batchId) => openJobsOf(directory, scheduler, batchId) },
      listener: {
        ending: (facts, turn) => {
          addFactRecords(facts, turn);
          this.core.notifications.announce(facts, turn);
        },
        completed: (changed, facts) => {
          updateIndexes({ scheduler, deadlines: this.#deadlines, crowded }, changed, facts);
          // A turn that changed nothing added neither work nor capacity. A serving turn that assigns nothing changes nothing,
          // and would schedule itself without end.
          if (changed.length > 0) this.#schedulePendingPolls();
        },
        faulted: (operation, error) => this.#faulted(operation, error),
      },
    };
    const turns = hooks.turn === undefined ? new Turns(parts) : new MeasuredTurns(parts, hooks.turn);
    const fileRequests = new FileRequests(clock);
    const tools = { clock, share, store, studyCache };
    const core = {
      ...tools,
      turns,
      directory,
      groupCommit,
      scheduler,
      crowded,
      longPolls,
      answers: new Answers(tools, {
        crashed: (error) => hooks.fault?.('analysis', error),
        telemetryOf: (jobId) => runTelemetry(this.core, jobId),
      }),
      judgements: new Judgements({
        ...tools,
        turns,
        stateOf: (batchId) => directory.state('batch', batchId),
        failed: (error) => this.#faulted('judge', error),
      }),
      batchIds: new BatchIdGenerator(),
      statistics,
      health: new StudyHealth({ store, share }),
      launcherReports: new LauncherReports(),
      poolHistory: new PoolHistory(),
      options,
      purges: new Purges({ share, store, turns }),
      fileRequests,
      liveReadings: new LiveReadings(clock, fileRequests),
      checkpointRemovals: new CheckpointRemovals({ ...tools, turns, objectStore: options.objectStore }, (...failure) =>
        hooks.checkpointKept?.(...failure),
      ),
      warned: (...warning: Parameters<Core['warned']>) => hooks.warned?.(...warning),
    };
    const notifications = new Notifications({
      ...core,
      settings: options.notifications,
      findings: (batchId) => findings(this.core, batchId),
      failed: (error) => this.#faulted('notify', error),
    });
    this.core = { ...core, notifications };

    this.#supervisor = createActor(supervisorMachine, { input: { now: clock.now() } });
    this.#supervisor.on('*', onFact);
    this.#supervisor.start();
  }

  async open(): Promise<void> {
    await recover(this.core, this.#deadlines);
    this.core.health.restore([...this.core.directory.jobs.values()].map((it) => stateOf(it)));
    await this.core.turns.run('open', (turn) => this.#supervisor.send({ type: 'OPENED', now: turn.now }));
    await Promise.all([this.core.purges.resume(), this.core.checkpointRemovals.restore()]);
    this.#tickLater();
  }

  supervisor(): SupervisorSnapshot {
    return this.#supervisor.getSnapshot();
  }

  watch(listener: (commit: Commit) => void): () => void {
    this.#watchers.add(listener);
    this.core.turns.isWatched = true;
    return () => {
      this.#watchers.delete(listener);
      this.core.turns.isWatched = this.#watchers.size > 0;
    };
  }

  #tickLater(): void {
    if (this.#isStopped) return;
    this.#cancelTick = this.core.clock.after(TICK_MS, () => {
      // The turn logs a refused tick; the next tick is scheduled in either case.
      this.tick().then(
        () => this.#tickLater(),
        () => this.#tickLater(),
      );
    });
  }

  #stopTick(): void {
    this.#isStopped = true;
    this.#cancelTick();
  }

  async tick(): Promise<void> {
    const { turns, clock } = this.core;
    const written: Promise<void>[] = [];
    // Each deadline has a turn of its own, so that a turn that fails does not block the other deadlines.
    for (const due of this.#deadlines.due(clock.now())) {
      try {
        const turn = turns.runNow('tick', ({ now }) => this.#supervisor.send({ type: 'TICK', now, due: [due] }));
        written.push(turn.written);
      } catch (error) {
        if (!(error instanceof SimbatchError)) throw error;
      }
      this.#requeueDeadline(due);
    }
    this.core.checkpointRemovals.tick();
    this.core.poolHistory.sample(clock.now(), () => poolUse(this.core));
    this.#schedulePendingPolls();
    this.core.notifications.tick();
    if (this.core.options.quarantine !== false) written.push(quarantineFailing(this.core));
    if (clock.now() >= this.#sweepAtMs) {
      this.#sweepAtMs = clock.now() + SWEEP_MS;
      await forgetOldKeys(this.core);
      // After the running purges: a tick does not wait for it.
      this.core.purges.run(() => sweepRetention(this.core));
    }
    await Promise.all(written);
  }

  /** Queues a deadline again that was not acted on, because its turn was rolled back or the clock was set back. */
  #requeueDeadline({ address }: DueDeadline): void {
    const { directory, scheduler, crowded } = this.core;
    for (const live of [directory.jobs, directory.runners, directory.notifications]) {
      const activation = live.get(address.slice(address.indexOf('/') + 1));
      if (activation?.deadline === undefined && activation?.address === address) {
        updateIndex({ scheduler, deadlines: this.#deadlines, crowded }, activation);
      }
    }
  }

  /** Serves the pending long polls after the running requests: work or capacity may have been added. */
  #schedulePendingPolls(): void {
    const { longPolls, scheduler, crowded } = this.core;
    if (this.#isServeScheduled || longPolls.size === 0 || (!scheduler.hasWork && crowded.size === 0)) return;
    this.#isServeScheduled = true;
    queueMicrotask(() => {
      this.#isServeScheduled = false;
      servePendingPolls(this.core).catch(() => {
        // The turn or the failed write has logged the error; the polls keep waiting.
      });
    });
  }

  #committed(group: CommittedGroup, actors: readonly Activation[]): void {
    const { facts, steps } = group;
    const { directory, statistics, clock } = this.core;
    // A heartbeat emits no fact, and heartbeats are most of the requests of an idle pool.
    const summary = facts.length > 0 ? summarize(facts, clock.now(), simulationsIn(directory)) : undefined;
    // Before the actors of ended and requeued runs are dropped, which hold the records of their attempts.
    this.core.health.onFacts(facts, (jobId) => directory.state('job', jobId));
    this.core.poolHistory.onFacts(facts);
    this.core.checkpointRemovals.onFacts(facts);
    for (const actor of actors) directory.deactivate(actor);
    // The change is on disk: an error in a watcher must not delay its reply.
    try {
      const { answers, judgements, notifications } = this.core;
      for (const part of [answers, judgements, notifications]) part.committed(facts);
      if (summary !== undefined) statistics.trigger.committed(summary);
      this.#hooks.committed?.(group);
      for (const watcher of this.#watchers) watcher({ facts, transitions: steps });
    } catch (error) {
      this.#faulted('publish', error);
    }
  }

  #faulted(operation: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#supervisor.send({ type: 'FAULT', now: this.core.clock.now(), operation, message });
    this.#hooks.fault?.(operation, error);
  }

  #failed(error: SimbatchError): void {
    this.#stopTick();
    this.core.turns.refuse(error);
    this.#supervisor.send({ type: 'WRITE_FAILED', now: this.core.clock.now(), message: error.message });
    this.core.longPolls.close(NOTHING);
    this.#hooks.failed?.(error);
  }

  releaseWaiting(): void {
    this.core.fileRequests.close();
    this.core.longPolls.close(NOTHING);
  }

  async close(): Promise<void> {
    const { turns, groupCommit, store, clock } = this.core;
    this.#stopTick();
    if (this.#supervisor.getSnapshot().value === 'Serving') {
      // The failed write has been reported; the store must be closed in either case.
      await turns.run('stop', ({ now }) => this.#supervisor.send({ type: 'STOP', now })).catch(() => {});
    }
    turns.refuse(new SimbatchError('unavailable', 'the coordinator is stopping'));
    this.releaseWaiting();
    await this.core.notifications.stop();
    this.core.checkpointRemovals.stop();
    await this.core.judgements.stop();
    await this.core.purges.stop();
    await this.core.answers.close();
    await groupCommit.durable().catch(() => {});
    this.#supervisor.send({ type: 'CLOSED', now: clock.now() });
    await store.close();
  }
}

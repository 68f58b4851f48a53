/**
 * The coordinator: the parts of the system put together over an open store, brought back to life as the store has them, and
 * moved by a tick. `http/` asks it through `api.ts`; it knows nothing of HTTP.
 */
import { createActor, type ActorRefFrom } from 'xstate';
import type { DueDeadline, Fact } from '../../machines/protocol.ts';
import { supervisorMachine, type SupervisorSnapshot } from '../../machines/supervisor.ts';
import { SimbatchError } from '../domain/errors.ts';
import type { ClaimResponse, SubmissionWarning, Uuid } from '../contract/types.ts';
import type { CoordinatorApi } from './api.ts';
import { backupText } from './storage/backup.ts';
import { isOtherFree, openJobsOf } from './scheduling/live-queries.ts';
import { GroupCommit, type CommittedGroup } from './turn/group-commit.ts';
import { DEFAULT_OPTIONS, type Core, type CoordinatorOptions } from './core.ts';
import { DeadlineQueue } from './scheduling/deadline-queue.ts';
import { Directory, type Activation } from './actors/directory.ts';
import { Scheduler } from './scheduling/scheduler.ts';
import { project, updateIndex, updateIndexes } from './turn/projections.ts';
import { cancelBatch, cancelJob } from './operations/cancel.ts';
import { claim, servePendingPolls } from './operations/claims.ts';
import { batches, batchResults, jobs } from './operations/listings.ts';
import { drain, heartbeat, register, resume, signOff } from './operations/pool.ts';
import * as readings from './operations/readings.ts';
import { complete, fail, reports, start } from './operations/reports.ts';
import { exportSnapshot } from './operations/snapshot.ts';
import { forgetOldKeys, submit } from './operations/submit.ts';
import { MeasuredTurns, type TurnObserver } from './turn/measured-turns.ts';
import { recover } from './recovery.ts';
import { Retention } from './storage/retention.ts';
import type { Store } from './storage/store.ts';
import { BatchIdGenerator } from './storage/batch-id-generator.ts';
import { StudyCache } from './resources/study-cache.ts';
import type { ActorTransition } from './turn/actor-transition.ts';
import { Turns } from './turn/turn.ts';
import { createStatistics, summarize } from './resources/statistics.ts';
import { LongPolls } from './scheduling/long-polls.ts';
import type { Clock } from '../base/clock.ts';

/** How often the supervisor looks at the clock. Deadlines are kept to within this. */
export const TICK_MS = 1_000;
/** How often what is too old is looked for. */
const SWEEP_MS = 3_600_000;
const NOTHING: ClaimResponse = { assignments: [], batches: {} };

/** What happened to the system as a whole, for the log. */
export interface CoordinatorHooks {
  /** A turn threw and was rolled back. */
  fault?(operation: string, error: unknown): void;
  /** A study was accepted that will probably mislead. */
  warned?(batchId: Uuid, warnings: readonly SubmissionWarning[]): void;
  /** The store did not take a write: the process must end. */
  failed?(error: SimbatchError): void;
  /** A group of changes reached the disk. */
  committed?(group: CommittedGroup): void;
  /** A turn has ended, and took so long. */
  turn?: TurnObserver;
}

/** A group of changes that has reached the disk, as watchers hear of it. */
export interface Commit {
  facts: readonly Fact[];
  /** Every event every actor took. Empty for turns that ran before the first watcher came. */
  steps: readonly ActorTransition[];
}

export interface Coordinator extends CoordinatorApi {
  /** What the system consists of; for tests and the recorder of snapshots. */
  readonly core: Core;
  supervisor(): SupervisorSnapshot;
  /** Calls the listener after each committed group, until the function returned is called. Free while nobody watches. */
  watch(listener: (commit: Commit) => void): () => void;
  /** Looks at the clock now. Called by its own timer; tests with a simulated clock call it themselves. */
  tick(): Promise<void>;
  /** Answers waiting runners with nothing, now and from now on, so that their connections can be closed. */
  releaseWaiting(): void;
  /** Finishes what was begun, writes it and closes the store. */
  close(): Promise<void>;
}

/** Opens a coordinator on a store and brings back to life what was alive. Owns the store from then on. */
export async function openCoordinator(
  store: Store,
  world: Clock,
  settings: Partial<CoordinatorOptions> & { news?: CoordinatorHooks } = {},
): Promise<Coordinator> {
  const { news = {}, ...options } = settings;
  const coordinator = new RunningCoordinator(store, world, { ...DEFAULT_OPTIONS, ...options }, news);
  await coordinator.begin();
  return coordinator;
}

class RunningCoordinator implements Coordinator {
  readonly core: Core;
  readonly #deadlines = new DeadlineQueue();
  readonly #supervisor: ActorRefFrom<typeof supervisorMachine>;
  readonly #news: CoordinatorHooks;
  readonly #retention: Retention;
  readonly #watchers = new Set<(commit: Commit) => void>();
  #cancelTick = (): void => {};
  #isStopped = false;
  #isServeScheduled = false;
  #sweepAtMs: number;

  constructor(store: Store, world: Clock, options: CoordinatorOptions, news: CoordinatorHooks) {
    this.#news = news;
    this.#sweepAtMs = world.now();
    const hear = (fact: Fact): void => this.core.turns.onFact(fact);
    const commits = new GroupCommit(store, world, {
      committed: (...group) => this.#committed(...group),
      failed: (error) => this.#failed(error),
    });
    const directory = new Directory(commits, hear);
    const dispatch = new Scheduler({
      isTouched: (id) => directory.isTouched(id),
      isOtherFree: (batch, notThis) => isOtherFree(directory, batch, notThis),
    });
    const parts: ConstructorParameters<typeof Turns>[0] = {
      directory,
      commits,
      world,
      registry: { openJobsOf: (batchId) => openJobsOf(directory, dispatch, batchId) },
      listener: {
        ending: project,
        concluded: (changed, facts) => {
          updateIndexes({ dispatch, deadlines: this.#deadlines }, changed, facts);
          // A turn that changed nothing brought neither work nor room. Serving is such a turn when there is nothing for those
          // who wait, and would call for itself without end.
          if (changed.length > 0) this.#serveSoon();
        },
        faulted: (operation, error) => this.#faulted(operation, error),
      },
    };
    const turns = news.turn === undefined ? new Turns(parts) : new MeasuredTurns(parts, news.turn);
    const waiting = new LongPolls<ClaimResponse>(world);
    this.core = {
      clock: world,
      store,
      turns,
      directory,
      groupCommit: commits,
      scheduler: dispatch,
      longPolls: waiting,
      studyCache: new StudyCache(commits),
      batchIds: new BatchIdGenerator(),
      statistics: createStatistics(),
      options,
    };
    this.#retention = new Retention(this.core);
    this.#supervisor = createActor(supervisorMachine, { input: { now: world.now() } });
    this.#supervisor.on('*', hear);
    this.#supervisor.start();
  }

  async begin(): Promise<void> {
    await recover(this.core, this.#deadlines);
    await this.core.turns.run('open', (turn) => this.#supervisor.send({ type: 'OPENED', now: turn.now }));
    await this.#retention.resume();
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
      // A tick that was refused is told in the log by the turn; the next one is due all the same.
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
    const { turns, clock: world } = this.core;
    const written: Promise<void>[] = [];
    // Each deadline is a turn of its own, so that one that cannot be judged does not keep the others from it.
    for (const due of this.#deadlines.due(world.now())) {
      try {
        const turn = turns.runNow('tick', ({ now }) => this.#supervisor.send({ type: 'TICK', now, due: [due] }));
        written.push(turn.written);
      } catch (error) {
        if (!(error instanceof SimbatchError)) throw error;
      }
      this.#judgeAgain(due);
    }
    this.#serveSoon();
    if (world.now() >= this.#sweepAtMs) {
      this.#sweepAtMs = world.now() + SWEEP_MS;
      await forgetOldKeys(this.core);
      this.#retention.sweepLater();
    }
    await Promise.all(written);
  }

  /** A deadline that was not acted on, since its turn was rolled back or the clock set back, comes up again. */
  #judgeAgain({ address }: DueDeadline): void {
    if (this.#deadlines.has(address)) return;
    const { directory, scheduler: dispatch } = this.core;
    for (const live of [directory.jobs, directory.runners]) {
      const activation = live.get(address.slice(address.indexOf('/') + 1));
      if (activation !== undefined && address.startsWith(activation.kind)) {
        updateIndex({ dispatch, deadlines: this.#deadlines }, activation);
      }
    }
  }

  /** Work may have come up, or room for it: those who wait are served once the running requests have had their turn. */
  #serveSoon(): void {
    if (this.#isServeScheduled || this.core.longPolls.size === 0 || !this.core.scheduler.hasWork) return;
    this.#isServeScheduled = true;
    queueMicrotask(() => {
      this.#isServeScheduled = false;
      servePendingPolls(this.core).catch(() => {
        // Told by the turn or by the failing write; who waits goes on waiting.
      });
    });
  }

  #committed(group: CommittedGroup, actors: readonly Activation[]): void {
    const { facts, steps } = group;
    const { directory, statistics: views, clock: world } = this.core;
    const simulationOf = (batchId: Uuid): string | undefined =>
      directory.state('batch', batchId)?.context.simulationName;
    // A sign of life tells no fact, and is most of what a waiting pool sends.
    const summary = facts.length > 0 ? summarize(facts, world.now(), simulationOf) : undefined;
    for (const actor of actors) directory.deactivate(actor);
    // The change is on disk: a fault of those who look on must not keep its reply back.
    try {
      if (summary !== undefined) views.trigger.committed(summary);
      this.#news.committed?.(group);
      for (const watcher of this.#watchers) watcher({ facts, steps });
    } catch (error) {
      this.#faulted('publish', error);
    }
  }

  #faulted(operation: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#supervisor.send({ type: 'FAULT', now: this.core.clock.now(), operation, message });
    this.#news.fault?.(operation, error);
  }

  #failed(error: SimbatchError): void {
    this.#stopTick();
    this.core.turns.refuse(error);
    this.#supervisor.send({ type: 'WRITE_FAILED', now: this.core.clock.now(), message: error.message });
    this.core.longPolls.close(NOTHING);
    this.#news.failed?.(error);
  }

  releaseWaiting(): void {
    this.core.longPolls.close(NOTHING);
  }

  async close(): Promise<void> {
    const { turns, groupCommit: commits, store, clock: world } = this.core;
    this.#stopTick();
    if (this.#supervisor.getSnapshot().value === 'Serving') {
      // A write that fails here has been told; the store must be closed all the same.
      await turns.run('stop', ({ now }) => this.#supervisor.send({ type: 'STOP', now })).catch(() => {});
    }
    turns.refuse(new SimbatchError('unavailable', 'the coordinator is stopping'));
    this.releaseWaiting();
    await this.#retention.stop();
    await commits.durable().catch(() => {});
    this.#supervisor.send({ type: 'CLOSED', now: world.now() });
    await store.close();
  }

  // The interface, operation by operation.
  submit: CoordinatorApi['submit'] = async (...args) => {
    const response = await submit(this.core, ...args);
    if (response.warnings !== undefined) this.#news.warned?.(response.batch_id, response.warnings);
    return response;
  };
  cancelBatch: CoordinatorApi['cancelBatch'] = (batchId, reason) => cancelBatch(this.core, batchId, reason);
  cancelJob: CoordinatorApi['cancelJob'] = (jobId, reason) => cancelJob(this.core, jobId, reason);
  deleteBatch: CoordinatorApi['deleteBatch'] = (batchId) => this.#retention.deleteBatch(batchId);
  forgetRunner: CoordinatorApi['forgetRunner'] = (runnerId) => this.#retention.forgetRunner(runnerId);
  backup: CoordinatorApi['backup'] = async () => backupText(this.core.store, this.core.clock.now());
  register: CoordinatorApi['register'] = (request) => register(this.core, request);
  heartbeat: CoordinatorApi['heartbeat'] = (...args) => heartbeat(this.core, ...args);
  claim: CoordinatorApi['claim'] = (...args) => claim(this.core, ...args);
  start: CoordinatorApi['start'] = (...args) => start(this.core, ...args);
  complete: CoordinatorApi['complete'] = (...args) => complete(this.core, ...args);
  fail: CoordinatorApi['fail'] = (...args) => fail(this.core, ...args);
  reports: CoordinatorApi['reports'] = (...args) => reports(this.core, ...args);
  signOff: CoordinatorApi['signOff'] = (...args) => signOff(this.core, ...args);
  drain: CoordinatorApi['drain'] = (runnerId, reason) => drain(this.core, runnerId, reason);
  resume: CoordinatorApi['resume'] = (runnerId) => resume(this.core, runnerId);
  job: CoordinatorApi['job'] = async (jobId) => readings.job(this.core, jobId);
  jobResult: CoordinatorApi['jobResult'] = async (jobId) => readings.jobResult(this.core, jobId);
  jobHistory: CoordinatorApi['jobHistory'] = async (jobId) => readings.jobHistory(this.core, jobId);
  jobs: CoordinatorApi['jobs'] = (...args) => jobs(this.core, ...args);
  batch: CoordinatorApi['batch'] = async (batchId) => readings.batch(this.core, batchId);
  submission: CoordinatorApi['submission'] = async (batchId) => readings.submission(this.core, batchId);
  samples: CoordinatorApi['samples'] = async (batchId) => readings.samples(this.core, batchId);
  batches: CoordinatorApi['batches'] = (...args) => batches(this.core, ...args);
  batchResults: CoordinatorApi['batchResults'] = (...args) => batchResults(this.core, ...args);
  runner: CoordinatorApi['runner'] = async (runnerId) => readings.runner(this.core, runnerId);
  runners: CoordinatorApi['runners'] = (filter) => readings.runners(this.core, filter);
  exportSnapshot: CoordinatorApi['exportSnapshot'] = async (batchId) => exportSnapshot(this.core, batchId);
}

/**
 * The coordinator: builds the parts over an open store, and restores, ticks and closes them in the order of one list. `http/` uses it
 * through `api.ts`; nothing here depends on HTTP.
 */
import type { SupervisorSnapshot } from '../../machines/supervisor/supervisor.ts';
import type { Clock } from '../base/clock.ts';
import { Lanes } from '../base/async/lanes.ts';
import { EventLoopShare } from '../base/event-loop-share.ts';
import type { ClaimResponse } from '../contract/types.ts';
import { SimbatchError } from '../domain/errors.ts';
import { Answers } from './answers/answers.ts';
import { apiOf } from './api.ts';
import { openBudgets } from './budgets/budgets.ts';
import { CheckpointRemovals } from './files/checkpoints/checkpoint-removals.ts';
import { StoreWatch } from './files/object-store/store-watch.ts';
import { runTelemetry } from './files/run-telemetry.ts';
import { FileRequests } from './files/runner/file-requests.ts';
import { LiveReadings } from './files/runner/live-readings.ts';
import type { Coordinator, CoordinatorHooks, CoordinatorParts, CoordinatorSettings, Lifecycle } from './lifecycle.ts';
import { TransitionLog } from './kernel/turn/transition-log.ts';
import { Judgements } from './judgement/judgements.ts';
import { DeadlineQueue } from './kernel/actors/deadline-queue.ts';
import { ActorSystem } from './kernel/actors/actor-system.ts';
import { Directory, stateOf, type Activation } from './kernel/actors/directory.ts';
import { StudyCache } from './kernel/records/study-cache.ts';
import { BatchIdGenerator } from './kernel/storage/batch-id-generator.ts';
import type { Store } from './kernel/storage/store.ts';
import { addFactRecords } from './kernel/turn/fact-records.ts';
import { GroupCommit, type CommittedGroup } from './kernel/turn/group-commit.ts';
import { MeasuredTurns } from './kernel/turn/measured-turns.ts';
import { Turns } from './kernel/turn/turn.ts';
import { Notifications } from './notifications/notifications.ts';
import { DEFAULT_OPTIONS, type CoordinatorOptions } from './options.ts';
import { PartList, type Part } from './parts.ts';
import { LauncherReports } from './pool/launcher-reports.ts';
import { PoolHistory } from './pool/pool-history.ts';
import { poolUse } from './pool/runners.ts';
import { extractionHooks } from './reads/extractions.ts';
import { findings } from './reads/findings.ts';
import { Taking } from './reuse/taking.ts';
import { KnownPoints } from './rounds/known-points.ts';
import { RareEvents } from './rounds/rare-events.ts';
import { RoundProgress } from './rounds/round-progress.ts';
import { RunEnds } from './rounds/run-ends.ts';
import { StudyWaits } from './judgement/study-waits.ts';
import { PendingPolls } from './runs/pending-polls.ts';
import { quarantineFailing } from './runs/quarantine.ts';
import { StudyHealth } from './runs/study-health.ts';
import { SitePools } from './scheduling/site-pools.ts';
import { CrowdedRunners } from './scheduling/crowded-runners.ts';
import { updateIndexes } from './scheduling/indexes.ts';
import { heldByRunners, openJobsOf, schedulerSources } from './scheduling/live-queries.ts';
import { Deadlines } from './scheduling/deadlines.ts';
import { LongPolls } from './scheduling/long-polls.ts';
import { Scheduler } from './scheduling/scheduler.ts';
import { countFacts, createStatistics } from './scheduling/statistics.ts';
import { StudyIndexing } from './studies/index-studies.ts';
import { endLostCanaries } from './studies/lost-canaries.ts';
import { Purges } from './studies/purges.ts';
import { Sweeps } from './sweeps.ts';

export type { Coordinator } from './lifecycle.ts';

/** The interval between ticks, and so the resolution of deadlines. */
export const TICK_MS = 1_000;
const NOTHING: ClaimResponse = { assignments: [], batches: {} };

/** Opens a coordinator on a store, which it then owns, and recovers the active actors. */
export async function openCoordinator(
  store: Store,
  clock: Clock,
  settings: CoordinatorSettings = {},
): Promise<Coordinator> {
  const { hooks = {}, further = () => [], ...options } = settings;
  const coordinator = new RunningCoordinator(store, clock, { ...DEFAULT_OPTIONS, ...options }, hooks, further);
  await coordinator.open();
  return Object.assign(coordinator, apiOf(coordinator.parts));
}

class RunningCoordinator implements Lifecycle {
  readonly parts: CoordinatorParts;
  readonly #list: PartList;
  readonly #deadlines = new DeadlineQueue();
  readonly system: ActorSystem;
  readonly transitionLog: TransitionLog;
  readonly #hooks: CoordinatorHooks;
  #cancelTick = (): void => {};
  #isStopped = false;

  constructor(
    store: Store,
    clock: Clock,
    options: CoordinatorOptions,
    hooks: CoordinatorHooks,
    further: (parts: CoordinatorParts) => readonly Part[],
  ) {
    this.#hooks = hooks;
    this.system = new ActorSystem({
      clock,
      onFact: (fact) => this.parts.turns.onFact(fact),
      find: (address) => this.parts.directory.find(address),
      failed: (error) => this.parts.groupCommit.giveUp('has lost its supervisor', error),
      interpreter: options.interpreter,
    });
    this.system.supervisor.on('actor.failed', (it) => (this.parts.journal.failed(it), hooks.actorFailed?.(it)));
    this.transitionLog = new TransitionLog(this.system, clock, (error) => this.#faulted('publish', error));
    this.parts = this.#partsOf(store, clock, options);
    this.#list = new PartList([...this.#ownParts(), ...further(this.parts)]);
  }

  #partsOf(store: Store, clock: Clock, options: CoordinatorOptions, hooks = this.#hooks): CoordinatorParts {
    const share = new EventLoopShare(clock);
    const groupCommit = new GroupCommit(store, clock, {
      waiting: (areWaiting) => share.requestsWait(areWaiting),
      committed: (...group) => this.#committed(...group),
      failed: (error) => this.#failed(error),
    });
    const studyCache = new StudyCache(groupCommit);
    const directory = new Directory(groupCommit, studyCache.indexOf, this.system);
    const longPolls = new LongPolls<ClaimResponse>(clock);
    const statistics = createStatistics();
    const pools = options.resources && new SitePools(options.resources, () => heldByRunners(directory));
    const budgets = openBudgets(options.budgets, { store, clock, share, directory }, () => this.parts);
    const sources = schedulerSources(directory, longPolls, studyCache, statistics, groupCommit, pools);
    const scheduler = new Scheduler({ ...sources, isBudgetUsed: budgets?.isUsed });
    const crowded = new CrowdedRunners();
    const ofTurns: ConstructorParameters<typeof Turns>[0] = {
      directory,
      groupCommit,
      clock,
      registry: {
        openJobsOf: (batchId) => openJobsOf(directory, scheduler, batchId),
        isOpen: (batchId) => directory.batches.has(batchId),
      },
      transitionLog: this.transitionLog,
      listener: {
        ending: (facts, turn) => {
          addFactRecords(facts, turn);
          budgets?.charge(facts, turn);
          this.parts.notifications.announce(facts, turn);
        },
        completed: (changed, facts) => {
          budgets?.completed();
          updateIndexes({ scheduler, deadlines: this.#deadlines, crowded }, changed, facts);
          // A turn that changed nothing added neither work nor capacity; a serving turn would schedule itself without end.
          if (changed.length > 0) this.parts.pendingPolls.schedule();
        },
        faulted: (operation, error) => this.#faulted(operation, error),
      },
    };
    const turns = hooks.turn === undefined ? new Turns(ofTurns) : new MeasuredTurns(ofTurns, hooks.turn);
    const fileRequests = new FileRequests(clock);
    const { notifications: settings, objectStore, computesInWorker } = options;
    const tools = { clock, share, store, studyCache, turns, directory, groupCommit, scheduler, computesInWorker };
    const judgements = new Judgements({
      ...tools,
      openBatches: () => [...directory.batches.values()].map((it) => stateOf(it)),
      stateOf: (batchId) => directory.state('batch', batchId),
      failed: (error) => this.#faulted('judge', error),
    });
    return {
      ...tools,
      journal: this.transitionLog.journal,
      crowded,
      longPolls,
      sitePools: pools,
      budgets,
      pendingPolls: new PendingPolls(() => this.parts),
      taking: new Taking(clock, () => this.parts.pendingPolls.schedule()),
      statistics,
      judgements,
      roundProgress: new RoundProgress(tools),
      runEnds: new RunEnds(clock),
      studyWaits: new StudyWaits({ ...tools, judgements }),
      knownPoints: new KnownPoints(groupCommit),
      batchIds: new BatchIdGenerator(),
      studyIndexing: new StudyIndexing(tools, (error) => this.#faulted('index-studies', error)),
      health: new StudyHealth({ store, share, directory }),
      answers: new Answers(tools, {
        crashed: (error) => hooks.fault?.('analysis', error),
        telemetryOf: (jobId) => runTelemetry(this.parts, jobId),
        ...extractionHooks(() => this.parts),
      }),
      notifications: new Notifications({
        ...tools,
        judgements,
        settings,
        findings: (batchId) => findings(this.parts, batchId),
        failed: (error) => this.#faulted('notify', error),
      }),
      launcherReports: new LauncherReports(),
      poolHistory: new PoolHistory(),
      purges: new Purges({ share, store, turns }),
      continuing: new Lanes(),
      fileRequests,
      liveReadings: new LiveReadings(clock, fileRequests),
      checkpointRemovals: new CheckpointRemovals({ ...tools, objectStore }, (...it) => hooks.checkpointKept?.(...it)),
      objectStore,
      storeWatch: new StoreWatch({ clock, objectStore, isWatching: options.watchesStore, hooks }),
      receivers: settings?.receivers ?? [],
      defaultMaxRetries: options.defaultMaxRetries,
      idempotencyMs: options.idempotencyMs,
      freeBytes: options.freeBytes,
      quarantine: options.quarantine,
      retainMs: options.retainMs,
      warned: (batchId, warnings) => hooks.warned?.(batchId, warnings),
    };
  }

  /** The parts in the order in which they are restored and take facts and ticks. They are closed in the reverse order. */
  #ownParts(): Part[] {
    const { parts } = this;
    const { answers, checkpointRemovals, directory, health, judgements, notifications, poolHistory, purges } = parts;
    return [
      new Deadlines({ ...parts, deadlines: this.#deadlines }, (due, { now }) =>
        this.system.supervisor.send({ type: 'TICK', now, due: [due] }),
      ),
      ...(parts.budgets === undefined ? [] : [parts.budgets]),
      health,
      judgements,
      parts.roundProgress,
      parts.runEnds,
      parts.studyWaits,
      new RareEvents(parts, (error) => this.#faulted('rare-event', error)),
      { restore: () => parts.turns.run('open', ({ now }) => this.system.supervisor.send({ type: 'OPENED', now })) },
      { restore: () => endLostCanaries(parts) },
      parts.studyIndexing,
      answers,
      purges,
      checkpointRemovals,
      parts.storeWatch,
      { committed: (it) => poolHistory.committed(it), tick: (ms) => poolHistory.sample(ms, () => poolUse(directory)) },
      parts.pendingPolls,
      notifications,
      { committed: (facts) => countFacts(parts, facts), tick: () => this.transitionLog.publish() },
      { tick: () => quarantineFailing(parts) },
      new Sweeps(
        parts,
        (leap) => this.#hooks.clockLeapt?.(leap),
        (...it) => this.#hooks.uploadsSwept?.(...it),
      ),
    ];
  }

  async open(): Promise<void> {
    await this.#list.restore();
    this.#tickLater();
  }

  readonly supervisor = (): SupervisorSnapshot => this.system.supervisor.getSnapshot();

  readonly watch: Lifecycle['watch'] = (listener) => this.transitionLog.watch(listener);

  #tickLater(): void {
    if (this.#isStopped) return;
    this.#cancelTick = this.parts.clock.after(TICK_MS, () => {
      // The turn logs a refused tick; the next tick is scheduled in either case.
      this.tick().then(
        () => this.#tickLater(),
        () => this.#tickLater(),
      );
    });
  }

  tick(): Promise<void> {
    return this.#list.tick(this.parts.clock.now());
  }

  #committed(group: CommittedGroup, actors: readonly Activation[]): void {
    const { facts, steps } = group;
    // The change is on disk: an error in a part or a watcher must not delay its reply.
    try {
      this.#list.committed(facts);
      this.#hooks.committed?.(group);
      this.transitionLog.publish(facts, steps);
    } catch (error) {
      this.#faulted('publish', error);
    }
    // Actors are deactivated last: those of ended and requeued runs hold the records of their attempts. An actor that a part has changed meanwhile
    // is deactivated after that change is on disk.
    const { directory, groupCommit } = this.parts;
    for (const actor of actors) if (!groupCommit.holds(actor)) directory.deactivate(actor);
  }

  #faulted(operation: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.system.supervisor.send({ type: 'FAULT', now: this.parts.clock.now(), operation, message });
    this.#hooks.fault?.(operation, error);
  }

  #failed(error: SimbatchError): void {
    this.#isStopped = true;
    this.#cancelTick();
    this.parts.turns.refuse(error);
    this.system.supervisor.send({ type: 'WRITE_FAILED', now: this.parts.clock.now(), message: error.message });
    this.parts.longPolls.close(NOTHING);
    this.#hooks.failed?.(error);
  }

  releaseWaiting(): void {
    for (const it of ['roundProgress', 'runEnds', 'studyWaits', 'fileRequests'] as const) this.parts[it].close();
    this.parts.longPolls.close(NOTHING);
  }

  async close(): Promise<void> {
    const { turns, groupCommit, store, clock } = this.parts;
    this.#isStopped = true;
    this.#cancelTick();
    if (this.system.supervisor.getSnapshot().value === 'Serving') {
      // The failed write has been reported; the store must be closed in either case.
      await turns.run('stop', ({ now }) => this.system.supervisor.send({ type: 'STOP', now })).catch(() => {});
    }
    turns.refuse(new SimbatchError('unavailable', 'the coordinator is stopping'));
    this.releaseWaiting();
    await this.#list.close();
    await groupCommit.durable().catch(() => {});
    this.system.supervisor.send({ type: 'CLOSED', now: clock.now() });
    await store.close();
  }
}

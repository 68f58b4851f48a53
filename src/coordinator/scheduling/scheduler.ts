/**
 * The scheduler: an index over the open batches, updated after every turn, that assigns runs to work requests. Planning
 * does not change the index, so a plan that is not applied has no effect.
 *
 * The rules: the owner with the fewest active jobs is served next, and of this owner the batch with the fewest (see `ranking/`); within a batch requeued runs come
 * first, on another runner than the last if one is free, then untouched runs in order. A batch of higher priority is served
 * before all others; a paused batch is not served.
 */
import { activeRuns, releasedRuns, untouchedRuns, type BatchContext } from '../../../machines/batch.ts';
import { jobId } from '../../domain/ids.ts';
import { AUDIT_OTHER_RUNNER_MS, PREFER_OTHER_RUNNER_MS } from '../../domain/rules.ts';
import { hasFeatures } from '../../domain/histories/feature.ts';
import { executesPinned } from '../../domain/code-pin.ts';
import { fits, minus, supports } from '../../domain/scheduling.ts';
import type { RunnerCapabilities, Uuid } from '../../contract/types.ts';
import type { FilePlaces } from './batches/file-places.ts';
import {
  isExtraction,
  isServed,
  openBatchOf,
  pendingOf,
  placeOf,
  type OpenBatch,
  type Requeued,
} from './batches/open-batch.ts';
import { OwnerRanking } from './ranking/owner-ranking.ts';
import { mayHave } from './site-pools.ts';
import type { SchedulerSources } from './sources.ts';
import { noting, waitingRequest, withoutSlot, type PlanLimits, type WorkRequest } from './work-request.ts';

export interface RunAssignment {
  runnerId: string;
  jobId: Uuid;
  /** The index of an untouched run among those of its batch, where that is not the run id. */
  index?: number;
}

/** The runs of a batch that a runner could claim now. */
export interface WaitingRuns {
  context: BatchContext;
  runs: number;
  /** Time at which the oldest waiting run became Pending. */
  sinceMs: number;
}

/** The number of requeued runs that are examined to find a run that last ran on another runner. */
const REQUEUED_LOOKAHEAD = 32;

/** A run to be assigned; `index` for an untouched run. */
interface PlannedRun {
  runId: number;
  index?: number;
}

export class Scheduler {
  readonly #sources: SchedulerSources;
  readonly #batches = new Map<Uuid, OpenBatch>();
  readonly #ranking = new OwnerRanking<OpenBatch>();

  constructor(sources: SchedulerSources) {
    this.#sources = sources;
  }

  /** True when an open batch has a run that may be claimed. */
  get hasWork(): boolean {
    return !this.#ranking.isEmpty;
  }

  /** Adds or updates an open batch. */
  update(context: BatchContext): void {
    const known = this.#batches.get(context.batchId);
    const batch = known ?? openBatchOf(context);
    const hasMore = activeRuns(context) > activeRuns(batch.context);
    batch.context = context;
    batch.version += 1;
    if (known === undefined) this.#batches.set(context.batchId, batch);
    this.#reset(batch);
    if (hasMore) this.#ranking.served(placeOf(batch));
  }

  /** Removes an ended batch. */
  remove(batchId: Uuid): void {
    const batch = this.#batches.get(batchId);
    if (batch === undefined) return;
    this.#ranking.remove(batch, placeOf(batch));
    this.#batches.delete(batchId);
  }

  /** Ranks the batches of an owner anew, whose runs may start no more, or again. */
  reviewOwner(owner: string | undefined): void {
    for (const batch of this.#batches.values()) if (batch.context.owner === owner) this.#reset(batch);
  }

  requeue(batchId: Uuid, run: Requeued): void {
    this.#batches.get(batchId)?.requeued.set(run.runId, run);
  }

  unqueue(batchId: Uuid, runId: number): void {
    this.#batches.get(batchId)?.requeued.delete(runId);
  }

  /** Leaves a requeued run out of all further plans, because its record is missing or damaged. */
  setAside(batchId: Uuid, runId: number): void {
    const batch = this.#batches.get(batchId);
    if (batch === undefined) return;
    batch.requeued.delete(runId);
    batch.unreadable.add(runId);
    this.#reset(batch);
  }

  /** The runs of a batch that were set aside. */
  runsAside(batchId: Uuid): number[] {
    return [...(this.#batches.get(batchId)?.unreadable ?? [])];
  }

  /** The jobs of a batch that are Pending again. */
  requeuedJobs(batchId: Uuid): Uuid[] {
    const { requeued = new Map<number, Requeued>(), unreadable = [] } = this.#batches.get(batchId) ?? {};
    return [...requeued.keys(), ...unreadable].map((runId) => jobId(batchId, runId));
  }

  /** The runner that must not take the next run of an audit, because it executed the original, and until when. */
  reservation(batchId: Uuid): { runnerId: string; untilMs: number } | undefined {
    const batch = this.#batches.get(batchId);
    const { reserved } = batch ?? {};
    if (batch === undefined || reserved === undefined || reserved.index < batch.context.next) return undefined;
    return { runnerId: reserved.runnerId, untilMs: reserved.sinceMs + AUDIT_OTHER_RUNNER_MS };
  }

  /** The open batches with runs that a runner could claim now. Does not change while it is read. */
  waiting(): Iterable<WaitingRuns> {
    return [...this.#batches.values()]
      .filter((it) => this.#isServed(it))
      .map((batch) => {
        const { context, untouched } = batch;
        const capped = context.maxParallelJobs > 0 ? context.maxParallelJobs - activeRuns(context) : Infinity;
        // No further runner has the files that are on one.
        const room = isExtraction(batch) ? Math.min(capped, this.#placesOf(batch)?.reachedByAll ?? 0) : capped;
        const [oldest] = batch.requeued.values();
        const sinceMs = untouched > 0 || oldest === undefined ? context.createdAtMs : oldest.sinceMs;
        return { context, runs: Math.min(pendingOf(batch), room), sinceMs };
      });
  }

  /** True when the runner has what the runs of the batch ask for, and its settings refuse nothing of the study. */
  allows(batch: BatchContext, capabilities: RunnerCapabilities): boolean {
    return this.#sources.isAllowed(batch, capabilities);
  }

  openBatches(): Iterable<BatchContext> {
    return [...this.#batches.values()].map((it) => it.context);
  }

  /**
   * Assigns runs to the requests, one at a time in turn, so that a small study is spread over the runners. Takes a request only when the
   * ones before it have been looked at.
   */
  plan(requests: Iterable<WorkRequest>, now: number, { except, most = Infinity }: PlanLimits = {}): RunAssignment[] {
    const planned = new Set<OpenBatch>();
    for (const batch of [...(except ?? [])].flatMap((id) => this.#batches.get(id) ?? [])) {
      this.#ranking.withdraw(batch, placeOf(batch), batch.plannedActive);
      planned.add(batch);
    }
    this.#sources.pools?.begin();
    // Asked again only for runs to wait, after every runner has as many as it can start.
    const toWait: WorkRequest[] = [];
    const assignments = this.#serve(noting(requests, toWait), now, planned, most);
    if (this.hasWork) {
      for (const assignment of this.#serve(toWait.map(waitingRequest), now, planned, most - assignments.length)) {
        assignments.push(assignment);
        // No run overtakes a waiting run.
        const request = toWait.find((it) => it.runnerId === assignment.runnerId);
        if (request !== undefined) request.capacity = { ...request.capacity, slots: 0 };
      }
    }
    for (const batch of planned) this.#reset(batch);
    return assignments;
  }

  #serve(requests: Iterable<WorkRequest>, now: number, planned: Set<OpenBatch>, most: number): RunAssignment[] {
    const assignments: RunAssignment[] = [];
    const isOver = (): boolean => !this.hasWork || assignments.length >= most;
    // The loop ends as soon as no work is left.
    for (let unserved = requests; !isOver();) {
      const served: WorkRequest[] = [];
      for (const request of unserved) {
        const assignment = request.maxJobs > 0 ? this.#assignmentFor(request, now, planned) : undefined;
        if (assignment === undefined) continue;
        assignments.push(assignment);
        served.push(request);
        if (isOver()) break;
      }
      if (served.length === 0) break;
      unserved = served;
    }
    return assignments;
  }

  #assignmentFor(request: WorkRequest, now: number, planned: Set<OpenBatch>): RunAssignment | undefined {
    if (request.capacity.slots <= 0) return undefined;
    const types = request.capabilities.supported_simulation_types;
    const candidates = types.length === 0 || types.includes('*') ? this.#ranking.all() : this.#ranking.among(types);
    for (const { item: batch } of candidates) {
      const { context } = batch;
      // `*` does not include functions that studies carry.
      if (!supports(request.capabilities, context.simulationName)) continue;
      if (!fits(context, request.capacity) || !this.#sources.isInTime(context, now, request.endsAtMs)) continue;
      if (!this.#sources.isAllowed(context, request.capabilities)) continue;
      if (!executesPinned(request, context) || !hasFeatures(request.capabilities, context.needs)) continue;
      if (!mayHave(request, context, this.#sources.pools)) continue;
      const run = this.#runFor(request, batch, now);
      if (run === undefined) continue;
      if (context.resources !== undefined) this.#sources.pools?.take(context.resources);
      batch.plannedActive += 1;
      planned.add(batch);
      this.#rank(batch);
      request.capacity = request.waits === true ? withoutSlot(request.capacity) : minus(request.capacity, context);
      request.maxJobs -= 1;
      const assignment = { runnerId: request.runnerId, jobId: jobId(context.batchId, run.runId) };
      const { index } = run;
      return index !== undefined && context.selectsRuns === true ? { ...assignment, index } : assignment;
    }
    return undefined;
  }

  #runFor(request: WorkRequest, batch: OpenBatch, now: number): PlannedRun | undefined {
    let looked = 0;
    const places = isExtraction(batch) ? this.#placesOf(batch) : undefined;
    for (const run of batch.requeued.values()) {
      if (batch.assigned.has(run.runId)) continue;
      // Such runs may be many, and keep no other runner from its own.
      if (places?.reaches(request.runnerId, run.runId) === false) continue;
      if (places !== undefined || this.#mayTake(request, batch, run, now)) {
        batch.assigned.add(run.runId);
        return run;
      }
      if ((looked += 1) === REQUEUED_LOOKAHEAD) break;
    }
    return isExtraction(batch) ? this.#nextReached(request, batch) : this.#nextUntouched(request, batch, now);
  }

  /** The next untouched run of an extraction whose files the runner reaches. */
  #nextReached({ runnerId }: WorkRequest, batch: OpenBatch): PlannedRun | undefined {
    const { context, assigned } = batch;
    if (batch.untouched === 0) return undefined;
    const isTouched = (runId: number): boolean => this.#sources.isTouched(jobId(context.batchId, runId));
    const places = this.#placesOf(batch);
    const runId = places?.next(runnerId, batch.version, isTouched, (it) => assigned.has(it));
    if (runId === undefined) return undefined;
    assigned.add(runId);
    batch.ahead += 1;
    batch.untouched -= 1;
    return { runId, index: this.#sources.indexOf(context, runId) ?? runId };
  }

  #placesOf(batch: OpenBatch): FilePlaces | undefined {
    return (batch.places ??= this.#sources.filePlaces(batch.context));
  }

  #mayTake(request: WorkRequest, batch: OpenBatch, run: Requeued, now: number): boolean {
    return (
      run.lastRunner !== request.runnerId ||
      now >= run.sinceMs + PREFER_OTHER_RUNNER_MS ||
      !this.#sources.isOtherFree(batch.context, request.runnerId, now)
    );
  }

  #nextUntouched(request: WorkRequest, batch: OpenBatch, now: number): PlannedRun | undefined {
    if (batch.untouched === 0) return undefined;
    const { context } = batch;
    const runAt = (index: number): number => this.#sources.runAt(context, index);
    let index = batch.next;
    if (context.cancelledAhead > 0) {
      while (index < context.totalJobs && this.#sources.isTouched(jobId(context.batchId, runAt(index)))) index += 1;
    }
    // Runs that were cancelled one by one may be all that is left of the released ones.
    if (index >= releasedRuns(context)) return undefined;
    const isAudit = context.parent?.relation === 'audit';
    if (isAudit && !this.#mayRepeat(request, batch, index, now)) return undefined;
    batch.next = index + 1;
    batch.untouched -= 1;
    return { runId: runAt(index), index };
  }

  /** A run of an audit waits for another runner than that of the original run, for a while and while there is one. */
  #mayRepeat({ runnerId }: WorkRequest, batch: OpenBatch, index: number, now: number): boolean {
    const { context } = batch;
    if (this.#sources.originalRunner(context, this.#sources.runAt(context, index)) !== runnerId) return true;
    if (!this.#sources.isOtherConnected(context, runnerId, now)) return true;
    if (batch.reserved?.index !== index) batch.reserved = { index, runnerId, sinceMs: now };
    return now >= batch.reserved.sinceMs + AUDIT_OTHER_RUNNER_MS;
  }

  /** Discards the plan. */
  #reset(batch: OpenBatch): void {
    batch.plannedActive = activeRuns(batch.context);
    batch.next = batch.context.next;
    batch.untouched = Math.max(0, Math.min(untouchedRuns(batch.context), releasedRuns(batch.context) - batch.next));
    batch.assigned.clear();
    batch.ahead = 0;
    this.#rank(batch);
  }

  #isServed(batch: OpenBatch): boolean {
    return isServed(batch) && this.#sources.isBudgetUsed?.(batch.context.owner) !== true;
  }

  /** Ranks a batch while it has a run to assign and is below its cap. */
  #rank(batch: OpenBatch): void {
    const place = placeOf(batch);
    if (this.#isServed(batch)) this.#ranking.put(batch, place, batch.plannedActive);
    else this.#ranking.withdraw(batch, place, batch.plannedActive);
  }
}

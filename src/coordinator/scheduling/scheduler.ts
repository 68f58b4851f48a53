/**
 * What there is to do, and who gets it. An index over the open batches, kept from their snapshots after every turn; planning
 * reads it and changes nothing, so a plan that is not carried out leaves no trace.
 *
 * The rules: the batch with the fewest active jobs is served next, so no study starves; within a batch requeued runs come
 * first, on another runner than the last if one is free, then untouched runs in order.
 */
import { activeRuns, untouchedRuns, type BatchContext } from '../../../machines/batch.ts';
import { jobId } from '../../domain/ids.ts';
import { PREFER_OTHER_RUNNER_MS } from '../../domain/rules.ts';
import { fits, minus, supports, type FreeCapacity } from '../../domain/scheduling.ts';
import type { RunnerCapabilities, Uuid } from '../../contract/types.ts';
import { RankedSet } from './ranked-set.ts';

/** A run that is Pending again. */
export interface Requeued {
  runId: number;
  lastRunner: string;
  sinceMs: number;
}

/** A runner that asks for work. Room and number shrink as the plan is made. */
export interface WorkRequest {
  runnerId: string;
  capabilities: RunnerCapabilities;
  room: FreeCapacity;
  /** At most this many. */
  maxJobs: number;
}

export interface RunAssignment {
  runnerId: string;
  jobId: Uuid;
}

export interface SchedulerSources {
  /** Has the job a record? Asked only about runs of batches of which some were cancelled one by one. */
  isTouched(id: Uuid): boolean;
  /** Is there a runner other than this one that could take a run of this batch now? */
  isOtherFree(batch: BatchContext, notThis: string): boolean;
}

/** How many requeued runs are looked at to find one that last ran elsewhere. */
const REQUEUED_LOOKAHEAD = 32;

/** An open batch, with the plan under way laid over it. */
interface OpenBatch {
  context: BatchContext;
  requeued: Map<number, Requeued>;
  /** As planned: */
  active: number;
  next: number;
  untouched: number;
  taken: Set<number>;
  isPlanned: boolean;
}

export class Scheduler {
  readonly #sources: SchedulerSources;
  readonly #batches = new Map<Uuid, OpenBatch>();
  readonly #ranking = new RankedSet<OpenBatch>();

  constructor(sources: SchedulerSources) {
    this.#sources = sources;
  }

  /** True when some open batch has a run that may be handed out. */
  get hasWork(): boolean {
    return this.#ranking.size > 0;
  }

  /** An open batch as it is after a turn. */
  update(context: BatchContext): void {
    const known = this.#batches.get(context.batchId);
    const batch = known ?? {
      context,
      requeued: new Map(),
      active: 0,
      next: 0,
      untouched: 0,
      taken: new Set(),
      isPlanned: false,
    };
    batch.context = context;
    if (known === undefined) this.#batches.set(context.batchId, batch);
    this.#reset(batch);
  }

  /** A batch that is over. */
  remove(batchId: Uuid): void {
    const batch = this.#batches.get(batchId);
    if (batch === undefined) return;
    this.#ranking.remove(batch);
    this.#batches.delete(batchId);
  }

  requeue(batchId: Uuid, run: Requeued): void {
    this.#batches.get(batchId)?.requeued.set(run.runId, run);
  }

  unqueue(batchId: Uuid, runId: number): void {
    this.#batches.get(batchId)?.requeued.delete(runId);
  }

  /** The jobs of a batch that are Pending again. */
  requeuedJobs(batchId: Uuid): Uuid[] {
    return [...(this.#batches.get(batchId)?.requeued.keys() ?? [])].map((runId) => jobId(batchId, runId));
  }

  openBatches(): Iterable<BatchContext> {
    return [...this.#batches.values()].map((it) => it.context);
  }

  /** Who gets what, dealt one by one in turn so that a small study is spread over the seekers. */
  plan(seekers: Iterable<WorkRequest>, now: number): RunAssignment[] {
    const picks: RunAssignment[] = [];
    const planned = new Set<OpenBatch>();
    // No more seekers are looked at than there is work for.
    for (let hungry = seekers; this.#ranking.size > 0;) {
      const served: WorkRequest[] = [];
      for (const seeker of hungry) {
        const pick = seeker.maxJobs > 0 ? this.#pickFor(seeker, now, planned) : undefined;
        if (pick === undefined) continue;
        picks.push(pick);
        served.push(seeker);
        if (this.#ranking.size === 0) break;
      }
      if (served.length === 0) break;
      hungry = served;
    }
    for (const batch of planned) this.#reset(batch);
    return picks;
  }

  #pickFor(seeker: WorkRequest, now: number, planned: Set<OpenBatch>): RunAssignment | undefined {
    if (seeker.room.slots <= 0) return undefined;
    const types = seeker.capabilities.supported_simulation_types;
    const candidates = types.length === 0 || types.includes('*') ? this.#ranking.all() : this.#ranking.among(types);
    for (const batch of candidates) {
      if (!fits(batch.context, seeker.room)) continue;
      const runId = this.#runFor(seeker, batch, now);
      if (runId === undefined) continue;
      batch.active += 1;
      planned.add(batch);
      this.#rank(batch);
      seeker.room = minus(seeker.room, batch.context);
      seeker.maxJobs -= 1;
      return { runnerId: seeker.runnerId, jobId: jobId(batch.context.batchId, runId) };
    }
    return undefined;
  }

  #runFor(seeker: WorkRequest, batch: OpenBatch, now: number): number | undefined {
    let looked = 0;
    for (const run of batch.requeued.values()) {
      if (batch.taken.has(run.runId)) continue;
      if (this.#mayTake(seeker, batch, run, now)) {
        batch.taken.add(run.runId);
        return run.runId;
      }
      if ((looked += 1) === REQUEUED_LOOKAHEAD) break;
    }
    return this.#nextUntouched(batch);
  }

  #mayTake(seeker: WorkRequest, batch: OpenBatch, run: Requeued, now: number): boolean {
    return (
      run.lastRunner !== seeker.runnerId ||
      now >= run.sinceMs + PREFER_OTHER_RUNNER_MS ||
      !this.#sources.isOtherFree(batch.context, seeker.runnerId)
    );
  }

  #nextUntouched(batch: OpenBatch): number | undefined {
    if (batch.untouched === 0) return undefined;
    let runId = batch.next;
    if (batch.context.cancelledAhead > 0) {
      while (this.#sources.isTouched(jobId(batch.context.batchId, runId))) runId += 1;
    }
    batch.next = runId + 1;
    batch.untouched -= 1;
    return runId;
  }

  /** Takes back what was planned. */
  #reset(batch: OpenBatch): void {
    batch.active = activeRuns(batch.context);
    batch.next = batch.context.next;
    batch.untouched = untouchedRuns(batch.context);
    batch.taken.clear();
    this.#rank(batch);
  }

  /** A batch is ranked while it has a run to hand out and is below its cap. */
  #rank(batch: OpenBatch): void {
    const { maxParallelJobs, cancelRequested, requeued, simulationName } = batch.context;
    const pending = batch.untouched + requeued - batch.taken.size;
    const isCapped = maxParallelJobs > 0 && batch.active >= maxParallelJobs;
    if (pending > 0 && !isCapped && !cancelRequested) this.#ranking.put(batch, simulationName, batch.active);
    else this.#ranking.remove(batch);
  }
}

/** Whether a runner could take a run of the batch. */
export function couldTake({ capabilities, room }: WorkRequest, batch: BatchContext): boolean {
  return fits(batch, room) && supports(capabilities, batch.simulationName);
}

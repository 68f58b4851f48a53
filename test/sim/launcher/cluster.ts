/**
 * A cluster of the simulation: allocations wait, start, run a scripted runner against the coordinator of the stage, and end by
 * themselves, by a fault or at their wall time. Calls of the engine are refused, lost, unanswered or late.
 */
import {
  EngineRefused,
  EngineUnreachable,
  type AllocationRequest,
  type Engine,
  type EngineAllocation,
  type EngineView,
} from '../../../src/launcher/engine.ts';
import { runnerIdOf } from '../../../src/launcher/request.ts';
import { SimRunner } from '../runners.ts';
import type { Stage } from '../scenario.ts';
import { viewOf, type KnownJob } from '../../launcher/support.ts';

/** A submission of unknown outcome takes effect within this time. */
export const SETTLE_MS = 30_000;
/** A long silence of the engine is longer than a lease: the end of an allocation is then reported late. */
const SILENCE_MS = 90_000;
/** From the start of an allocation to its runner. */
const REGISTER_MS = 4_000;
/** Before its wall time a runner signs off. */
const MARGIN_MS = 10_000;
/** As Slurm does, the engine forgets ended allocations. */
const REMEMBERED_MS = 120_000;

export interface SimJob extends KnownJob {
  endedAtMs?: number;
  runner?: SimRunner;
  idleSinceMs?: number;
  hasLeft?: boolean;
  /** Its runner never does anything again, and takes no notice of a signal. */
  isHung?: boolean;
}

/** A bug between the launcher and its engine. */
export interface ClusterBug {
  /** An engine without an answer seems to have no allocations. */
  silenceIsEmpty?: boolean;
}

export class SimCluster implements Engine {
  readonly settleMs = SETTLE_MS;
  readonly jobs = new Map<string, SimJob>();
  /** Calls of `submit` for each id. */
  readonly submissions = new Map<string, number>();
  /** Without faults of the engine, and with honest runners. */
  isCalm = false;
  readonly faults: Record<string, number> = {};
  readonly #stage: Stage;
  readonly #bug: ClusterBug;
  readonly #hasToken: (allocation: string) => boolean;
  #silentUntilMs = 0;
  #late: { request: AllocationRequest; atMs: number }[] = [];

  constructor(stage: Stage, bug: ClusterBug, hasToken: (allocation: string) => boolean) {
    this.#stage = stage;
    this.#bug = bug;
    this.#hasToken = hasToken;
  }

  get live(): SimJob[] {
    return [...this.jobs.values()].filter((it) => it.state !== 'ended');
  }

  #sometimes(fault: string, probability: number): boolean {
    if (this.isCalm || !this.#stage.dice.chance(probability)) return false;
    this.note(fault);
    return true;
  }

  note(fault: string): void {
    this.faults[fault] = (this.faults[fault] ?? 0) + 1;
  }

  async list(): Promise<EngineView> {
    const now = this.#stage.now();
    if (this.#sometimes('long silent', 0.01)) this.#silentUntilMs = now + SILENCE_MS;
    if ((now < this.#silentUntilMs && !this.isCalm) || this.#sometimes('silent', 0.1)) {
      if (this.#bug.silenceIsEmpty === true) return { allocations: [], silent: [] };
      throw new EngineUnreachable('the controller timed out');
    }
    this.#beginLate(now);
    return viewOf(this.jobs);
  }

  /** @param isSlow the call has taken long to arrive: an engine that is so slow often gives no answer either */
  async submit(request: AllocationRequest, isSlow = false): Promise<{ handle: string }> {
    this.submissions.set(request.id, (this.submissions.get(request.id) ?? 0) + 1);
    if (this.#sometimes('refused', 0.05)) throw new EngineRefused('invalid partition');
    const isLost = this.#sometimes('lost', 0.05);
    const isLate = !isLost && this.#sometimes('late', isSlow ? 0.5 : 0.1);
    const atMs = this.#stage.now() + this.#stage.dice.int(SETTLE_MS);
    if (isLate) this.#late.push({ request, atMs });
    else if (!isLost) this.#begin(request);
    if (isLost || isLate || this.#sometimes('unanswered', 0.05))
      throw new EngineUnreachable('the controller timed out');
    return { handle: `job-${request.id}` };
  }

  async stop(allocations: readonly EngineAllocation[], isImmediate: boolean): Promise<void> {
    if (this.#sometimes('not stopped', 0.1)) throw new EngineUnreachable('the controller timed out');
    for (const { id } of allocations) {
      const job = this.jobs.get(id);
      if (job === undefined || job.state === 'ended') continue;
      if (isImmediate || job.runner === undefined) this.#end(job, 'cancelled');
      else if (job.isHung !== true) this.#leave(job);
    }
  }

  check = async () => [];
  script = () => '';

  #begin(request: AllocationRequest): void {
    this.jobs.set(request.id, { request, state: 'queued' });
  }

  /** Late submissions take effect at their time, also between two steps. */
  #beginLate(now: number): void {
    for (const { request } of this.#late.filter((it) => it.atMs <= now)) this.#begin(request);
    this.#late = this.#late.filter((it) => it.atMs > now);
  }

  /** One step of everything that runs on the cluster. */
  act(): void {
    const now = this.#stage.now();
    this.#beginLate(now);
    for (const job of this.live) this.#actOf(job, now);
    for (const [id, { endedAtMs = Infinity }] of this.jobs) if (now > endedAtMs + REMEMBERED_MS) this.jobs.delete(id);
  }

  #actOf(job: SimJob, now: number): void {
    const { dice } = this.#stage;
    if (job.startedAtMs === undefined) {
      if (!this.isCalm && dice.chance(0.5)) return;
      job.startedAtMs = now;
      job.state = 'running';
    }
    const { request } = job;
    const endsAtMs = job.startedAtMs + 1_000 * request.lifetimeSecs;
    if (now >= endsAtMs) return this.#end(job, 'timeout');
    if (this.#sometimes('preempted', 0.004)) return this.#end(job, 'preempted');
    if (this.#sometimes('failed', 0.004)) return this.#end(job, 'failed');
    if (now < job.startedAtMs + REGISTER_MS) return;
    const allocation = `fake/${request.queue}/${request.id}`;
    if (job.runner === undefined && !this.#hasToken(allocation)) return this.#end(job, 'failed');
    job.runner ??= new SimRunner(this.#stage, runnerIdOf(request.queue, request.id), false, allocation);
    const { runner } = job;
    runner.isHonest = this.isCalm || dice.chance(0.9);
    if (this.#sometimes('hung', 0.004)) job.isHung = true;
    if (job.isHung === true) return;
    // Its sign-off is on its way; the process ends after it.
    if (job.hasLeft === true) return this.#end(job, 'completed');
    runner.act();
    if (runner.isIdle) job.idleSinceMs ??= now;
    else delete job.idleSinceMs;
    const isIdle = job.idleSinceMs !== undefined && now >= job.idleSinceMs + 20_000;
    if (now >= endsAtMs - MARGIN_MS || isIdle) this.#leave(job);
  }

  #leave(job: SimJob): void {
    job.runner?.leave();
    job.hasLeft = true;
  }

  #end(job: SimJob, kind: 'completed' | 'failed' | 'timeout' | 'preempted' | 'cancelled'): void {
    job.state = 'ended';
    job.end = { kind };
    job.endedAtMs = this.#stage.now();
    delete job.runner;
  }
}

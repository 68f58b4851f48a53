/**
 * The runners on which runs wait for a slot, and the assignment of such runs to runners that could start them: a study never
 * waits for one runner while another is free.
 */
import type { BatchContext } from '../../../machines/batch.ts';
import type { HeldAttempt, RunnerCapabilities, RunnerContext, Uuid } from '../../contract/types.ts';
import { minus, supports, waitingOf } from '../../domain/scheduling.ts';
import { couldTake, type WorkRequest } from './work-request.ts';

/** A claimed run that its runner has not started and has no slot for. */
export interface WaitingRun {
  runnerId: string;
  jobId: Uuid;
  attempt: number;
}

export interface WaitingSources {
  runner(runnerId: string): RunnerContext | undefined;
  /** Returns true for a job that is Claimed. */
  isClaimed(jobId: Uuid): boolean;
  batchOf(jobId: Uuid): BatchContext | undefined;
  /** Returns true when a run of the batch ends before the runner's machine is taken from it. */
  isInTime(batch: BatchContext, endsAtMs: number | undefined): boolean;
}

/** The sources of runs that may move. */
export interface MoveSources extends WaitingSources {
  /** Returns true when the runner has what the runs of the batch ask for, and its settings refuse nothing of the study. */
  isAllowed(batch: BatchContext, capabilities: RunnerCapabilities): boolean;
}

export class CrowdedRunners {
  readonly #ids = new Set<string>();

  get size(): number {
    return this.#ids.size;
  }

  /** Notes whether runs wait on a runner. */
  update({ runnerId, capabilities, held }: RunnerContext): void {
    if (waitingOf(capabilities, held).length > 0) this.#ids.add(runnerId);
    else this.#ids.delete(runnerId);
  }

  /** Returns the waiting runs of a runner, the latest claimed first. Runs that have started never wait. */
  waitingOn(runnerId: string, sources: WaitingSources): WaitingRun[] {
    const runner = this.#ids.has(runnerId) ? sources.runner(runnerId) : undefined;
    if (runner === undefined) return [];
    const claimed: HeldAttempt[] = [];
    const started: HeldAttempt[] = [];
    for (const it of runner.held) (sources.isClaimed(it.jobId) ? claimed : started).push(it);
    const waiting = new Set(waitingOf(runner.capabilities, [...started, ...claimed]));
    return claimed
      .filter((it) => waiting.has(it))
      .map(({ jobId, attempt }) => ({ runnerId, jobId, attempt }))
      .toReversed();
  }

  /** Returns the waiting runs of all runners, in turn, so that the most crowded runner does not lose all of its runs. */
  waiting(sources: WaitingSources): WaitingRun[] {
    const queues = [...this.#ids].map((it) => this.waitingOn(it, sources));
    const runs: WaitingRun[] = [];
    for (let at = 0; queues.some((it) => it.length > at); at += 1) {
      for (const queue of queues) {
        const run = queue[at];
        if (run !== undefined) runs.push(run);
      }
    }
    return runs;
  }

  /**
   * Returns the waiting runs that the requests could start now, each with its new runner. Reduces the capacity of the requests.
   */
  reassign(requests: Iterable<WorkRequest>, sources: MoveSources): { run: WaitingRun; to: string }[] {
    if (this.#ids.size === 0) return [];
    const moves: { run: WaitingRun; to: string }[] = [];
    let waiting: (WaitingRun & { batch: BatchContext })[] | undefined;
    for (const request of requests) {
      if (request.maxJobs <= 0 || request.capacity.slots <= 0) continue;
      waiting ??= this.waiting(sources).flatMap((it) => {
        const batch = sources.batchOf(it.jobId);
        // The runs of an extraction stay on the runner that has their files.
        const stays = batch?.parent?.relation === 'extraction';
        return batch === undefined || stays || batch.pausedAtMs !== undefined ? [] : [{ ...it, batch }];
      });
      const names = new Set(waiting.map((it) => it.batch.simulationName));
      if (waiting.length === 0) break;
      if (![...names].some((it) => supports(request.capabilities, it))) continue;
      waiting = waiting.filter(({ batch, ...run }) => {
        if (request.maxJobs <= 0 || run.runnerId === request.runnerId) return true;
        if (!couldTake(request, batch) || !sources.isInTime(batch, request.endsAtMs)) return true;
        if (!sources.isAllowed(batch, request.capabilities)) return true;
        request.capacity = minus(request.capacity, batch);
        request.maxJobs -= 1;
        moves.push({ run, to: request.runnerId });
        return false;
      });
    }
    return moves;
  }
}

/**
 * Which rounds of open adaptive studies have runs that have not ended, and who waits for one. It follows from committed facts; after a
 * restart from the cursor of each study, its touched jobs, and the records of the runs that were cancelled ahead.
 */
import type { Fact } from '../../../machines/protocol.ts';
import type { Abandoned } from '../../base/abandonment.ts';
import { Waiters } from '../../base/async/waiters.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { Uuid } from '../../contract/types.ts';
import { isDamage } from '../../domain/errors.ts';
import { jobId, runIdOf } from '../../domain/ids.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';
import { RoundPlaces } from '../kernel/records/stored-rounds.ts';
import { idOf, keys, ofBatch } from '../kernel/storage/keys.ts';
import { openJobsOf } from '../scheduling/live-queries.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import type { Store } from '../kernel/storage/store.ts';

/** A round with runs that have not ended. */
interface OpenRound {
  round: number;
  first: number;
  count: number;
  /** Its runs that were not claimed yet, and those that were and have not ended. */
  untouched: number;
  touched: number;
}

/** A round whose last run has ended. */
export interface CompletedRound {
  batchId: Uuid;
  round: number;
  first: number;
  count: number;
}

interface ProgressParts {
  clock: Clock;
  share: EventLoopShare;
  store: Store;
  directory: Directory;
  scheduler: Scheduler;
}

export class RoundProgress {
  readonly #parts: ProgressParts;
  /** By study, ascending. */
  readonly #open = new Map<Uuid, OpenRound[]>();
  readonly #waiting: Waiters;
  readonly #listeners = new Set<(completed: CompletedRound) => void>();

  constructor(parts: ProgressParts) {
    this.#parts = parts;
    this.#waiting = new Waiters(parts.clock);
  }

  /** Takes over the open studies after a restart. */
  async restore(): Promise<void> {
    const { directory } = this.#parts;
    for (const activation of directory.batches.values()) {
      const { context } = stateOf(activation);
      if (context.rounds !== undefined)
        await this.#takeOver(context.batchId, context.next, context.totalJobs, context.cancelRequested);
    }
  }

  async #takeOver(batchId: Uuid, next: number, totalJobs: number, isCancelled: boolean): Promise<void> {
    const { share, store, directory, scheduler } = this.#parts;
    const source = { read: (key: string) => store.get(key) };
    const places = new RoundPlaces(source, batchId);
    const open = new Map<number, OpenRound>();
    const openRoundOf = (run: number): OpenRound | undefined => {
      const place = placeOf(places, run);
      if (place === undefined) return undefined;
      const { round, first, count } = place;
      let it = open.get(round);
      if (it === undefined) open.set(round, (it = { round, first, count, untouched: 0, touched: 0 }));
      return it;
    };
    for await (const id of share.paced(openJobsOf(directory, scheduler, batchId))) {
      const it = openRoundOf(runIdOf(id));
      if (it !== undefined) it.touched += 1;
    }
    for (let run = isCancelled ? totalJobs : next; run < totalJobs;) {
      await share.slice();
      const it = openRoundOf(run);
      const end = it === undefined ? run + 1 : it.first + it.count;
      if (it !== undefined) it.untouched += end - run;
      run = end;
    }
    if (!isCancelled) {
      for await (const run of share.paced(await this.#cancelledAhead(batchId, next, totalJobs))) {
        const it = openRoundOf(run);
        if (it !== undefined) it.untouched -= 1;
      }
    }
    const rounds = [...open.values()].filter((it) => it.touched + it.untouched > 0);
    this.#open.set(
      batchId,
      rounds.sort((a, b) => a.round - b.round),
    );
  }

  /** The runs from the cursor on that have a record: they were cancelled one by one. */
  async #cancelledAhead(batchId: Uuid, next: number, totalJobs: number): Promise<number[]> {
    const { share, store } = this.#parts;
    const runs: number[] = [];
    const view = store.snapshot();
    try {
      for await (const chunk of view.entries({ ...ofBatch('job', batchId), gte: keys.job(jobId(batchId, next)) }))
        for await (const [key] of share.paced(chunk)) runs.push(runIdOf(idOf(key)));
      return runs;
    } catch (error) {
      if (!isDamage(error)) throw error;
    } finally {
      await view.close();
    }
    // One damaged record must not keep the coordinator from starting: each is looked for by its key.
    runs.length = 0;
    for (let run = next; run < totalJobs; run++) {
      const later = share.slice();
      if (later !== undefined) await later;
      if (isThere(store, keys.job(jobId(batchId, run)))) runs.push(run);
    }
    return runs;
  }

  committed(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.type === 'batch.appended') {
        const { batchId, round, firstRunId: first, count } = fact;
        const rounds = this.#open.get(batchId);
        const open = { round, first, count, untouched: count, touched: 0 };
        if (rounds === undefined) this.#open.set(batchId, [open]);
        else rounds.push(open);
        continue;
      }
      if (this.#open.size === 0) continue;
      if (fact.type === 'job.claimed' && !fact.requeued) this.#change(fact.batchId, fact.runId, -1, 1);
      else if (fact.type === 'job.ended')
        this.#change(fact.batchId, fact.runId, fact.touched ? 0 : -1, fact.touched ? -1 : 0);
      // A cancelled study ends in the same turn.
      else if (fact.type === 'batch.ended') this.#forget(fact.batchId);
    }
  }

  #change(batchId: Uuid, run: number, untouched: number, touched: number): void {
    const rounds = this.#open.get(batchId);
    if (rounds === undefined) return;
    const place = lastWhere(rounds, ({ first }) => first <= run);
    const it = rounds[place];
    if (it === undefined || run < it.first || run >= it.first + it.count) return;
    it.untouched += untouched;
    it.touched += touched;
    if (it.untouched + it.touched > 0) return;
    rounds.splice(place, 1);
    this.#complete(batchId, it);
  }

  #forget(batchId: Uuid): void {
    const rounds = this.#open.get(batchId) ?? [];
    this.#open.delete(batchId);
    for (const it of rounds) this.#complete(batchId, it);
  }

  #complete(batchId: Uuid, { round, first, count }: OpenRound): void {
    this.#waiting.release(`${batchId}/${round}`);
    for (const listener of this.#listeners) listener({ batchId, round, first, count });
  }

  /** True when every run of the stored round has ended. */
  isComplete(batchId: Uuid, round: number): boolean {
    const rounds = this.#open.get(batchId) ?? [];
    return rounds[lastWhere(rounds, (it) => it.round <= round)]?.round !== round;
  }

  /** Resolves when every run of the round has ended, after `waitMs`, or when the client has disconnected. */
  wait(batchId: Uuid, round: number, waitMs: number, abandoned?: Abandoned): Promise<void> {
    return this.isComplete(batchId, round)
      ? Promise.resolve()
      : this.#waiting.wait(`${batchId}/${round}`, waitMs, abandoned);
  }

  /** Calls the listener for each round whose last run has ended, until the returned function is called. */
  onComplete(listener: (completed: CompletedRound) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#waiting.close();
  }
}

/** True for a record that is there, even if it is damaged. */
function isThere(store: Store, key: string): boolean {
  try {
    return store.get(key) !== undefined;
  } catch (error) {
    if (isDamage(error)) return true;
    throw error;
  }
}

/** Undefined for a run whose round is damaged: one record must not keep the coordinator from starting. Its claim cancels the run. */
function placeOf(places: RoundPlaces, run: number): ReturnType<RoundPlaces['of']> | undefined {
  try {
    return places.of(run);
  } catch {
    return undefined;
  }
}

/** The place of the last round for which the condition holds, which holds for none after one where it does not; -1 for none. */
function lastWhere(rounds: readonly OpenRound[], holds: (round: OpenRound) => boolean): number {
  let [least, greatest] = [-1, rounds.length - 1];
  while (least < greatest) {
    const middle = (least + greatest + 1) >> 1;
    if (holds(rounds[middle]!)) least = middle;
    else greatest = middle - 1;
  }
  return least;
}

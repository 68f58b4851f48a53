/**
 * How the attempts of each study end, counted from the records of runs as committed groups change them; the time since which its
 * active runs execute. In memory: after a restart it is filled up from the latest records of a study when they are asked for.
 */
import type { Fact } from '../../../machines/protocol.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { AttemptRecord, BatchStatusResponse, Uuid } from '../../contract/types.ts';
import { AttemptTally, RECENT, type FinishedAttempt } from '../../domain/runs/attempt-tally.ts';
import { isDamage } from '../../domain/errors.ts';
import { batchIdOf } from '../../domain/ids.ts';
import { decodeJob, decodeRunner, type BatchState, type JobState } from '../kernel/actors/actor-kinds.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';
import { idOf, keys, ofBatch } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';

/** The members of a batch's progress that follow from durations. */
export type TimeLeft = Pick<BatchStatusResponse, 'eta' | 'stragglers'>;

/** The counts of one study. */
export interface BatchHealth {
  tally: AttemptTally;
  /** Start of each Running run in ms since the epoch, the oldest first. */
  readonly running: Map<Uuid, number>;
  /** False when the study ran before the counts began, and its records have not been read. */
  isComplete: boolean;
  /** Attempts that ended while the records were being read. */
  interim: FinishedAttempt[] | undefined;
  /** The latest estimate. */
  timeLeft?: { atMs: number; value: TimeLeft } | undefined;
  /** The estimate that is being made, from these counts. */
  estimating?: { tally: AttemptTally; value: Promise<TimeLeft> } | undefined;
}

interface Parts {
  store: Store;
  share: EventLoopShare;
  directory: Pick<Directory, 'jobs' | 'state'>;
}

/** Studies in memory; the least recently changed one is dropped, and filled up again when it is asked for. */
const MAX_STUDIES = 500;
/** Records that are read to fill up the counts of a study: as many as it takes to find the latest attempts, within these bounds. */
const LEAST_RECORDS = 2 * RECENT;
const MOST_RECORDS = 20_000;

export class StudyHealth {
  readonly #parts: Parts;
  readonly #studies = new Map<Uuid, BatchHealth>();
  /** The studies of which attempts have ended since `takeChanged`. */
  #changed = new Set<Uuid>();
  readonly #filling = new Map<Uuid, Promise<void>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The counts as they are in memory; undefined for none. */
  known(batchId: Uuid): BatchHealth | undefined {
    return this.#studies.get(batchId);
  }

  /** The counts, filled up from the store where they began after the study. */
  async read(batch: BatchState): Promise<BatchHealth> {
    const { batchId } = batch.context;
    const health = this.#of(batchId);
    if (health.isComplete) return health;
    const filling = this.#filling.get(batchId) ?? this.#fill(health, batch);
    this.#filling.set(batchId, filling);
    await filling.finally(() => this.#filling.delete(batchId));
    return health;
  }

  /** Returns the studies of which attempts have ended since the last call. */
  takeChanged(): { batchId: Uuid; tally: AttemptTally }[] {
    const changed = [...this.#changed];
    this.#changed = new Set();
    return changed.flatMap((batchId) => {
      const health = this.#studies.get(batchId);
      return health === undefined ? [] : [{ batchId, tally: health.tally }];
    });
  }

  /** Enters the active jobs after a restart. */
  restore(): void {
    const running: [Uuid, number][] = [];
    for (const job of this.#parts.directory.jobs.values()) {
      const { value, context: c } = stateOf(job);
      if (value === 'Running' && c.startedAtMs !== undefined) running.push([c.jobId, c.startedAtMs]);
    }
    running.sort(([, a], [, b]) => a - b);
    for (const [jobId, startedAtMs] of running) this.#of(batchIdOf(jobId)).running.set(jobId, startedAtMs);
  }

  /** Takes the facts of a group before the actors of ended and requeued runs are dropped, which hold the records of their attempts. */
  committed(facts: readonly Fact[]): void {
    for (const fact of facts) {
      switch (fact.type) {
        case 'batch.opened':
          Object.assign(this.#of(fact.batchId), { tally: new AttemptTally(), isComplete: true });
          break;
        case 'batch.deleted':
          this.#forget(fact.batchId);
          break;
        case 'runner.resumed':
          // The attempts of the runner count from 0 again: it was repaired, or its quarantine is over.
          for (const health of this.#studies.values()) forgetRunner(health, fact.runnerId);
          break;
        case 'job.started':
          this.#of(fact.batchId).running.set(fact.jobId, fact.now);
          break;
        case 'job.requeued':
        case 'job.ended':
          // A taken result ends no attempt.
          if (fact.type === 'job.ended' && fact.reused === true) break;
          this.#onEnd(fact, this.#parts.directory.state('job', fact.jobId));
          break;
        default:
      }
    }
  }

  #onEnd(
    { batchId, jobId, attempt: n }: { batchId: Uuid; jobId: Uuid; attempt: number },
    job: JobState | undefined,
  ): void {
    const health = this.#of(batchId);
    health.running.delete(jobId);
    const record = job?.context.attempts.find((it) => it.n === n);
    const attempt = job && record && finishedAttempt(job, record);
    if (attempt === undefined) return;
    health.tally.add(attempt);
    health.interim?.push(attempt);
    this.#changed.add(batchId);
  }

  #forget(batchId: Uuid): void {
    this.#studies.delete(batchId);
    this.#changed.delete(batchId);
  }

  #of(batchId: Uuid): BatchHealth {
    let health = this.#studies.get(batchId);
    if (health !== undefined) return health;
    health = { tally: new AttemptTally(true), running: new Map(), isComplete: false, interim: undefined };
    this.#studies.set(batchId, health);
    // A Map is in insertion order. The runs of a dropped study that run now are missing until they end.
    if (this.#studies.size > MAX_STUDIES) this.#forget(this.#studies.keys().next().value as Uuid);
    return health;
  }

  /** Returns when the latest quarantine of a runner was lifted, of each runner read once; -Infinity where none was. */
  #countedSinceMs(): (runnerId: string) => number {
    const known = new Map<string, number>();
    return (runnerId) => {
      let sinceMs = known.get(runnerId);
      if (sinceMs === undefined) {
        const record = this.#parts.store.get(keys.runner(runnerId));
        sinceMs = (record && decodeRunner(record).context.countedSinceMs) || -Infinity;
        known.set(runnerId, sinceMs);
      }
      return sinceMs;
    };
  }

  async #fill(health: BatchHealth, { context }: BatchState): Promise<void> {
    const { store, share } = this.#parts;
    const latest = new LatestAttempts();
    health.interim = [];
    const view = store.snapshot();
    try {
      let isEnough = false;
      for await (const chunk of view.entries(ofBatch('job', context.batchId), { reverse: true, chunkSize: 64 })) {
        latest.isSample ||= isEnough;
        if (isEnough) break;
        for await (const [key, record] of share.paced(chunk))
          isEnough = latest.add(decodeJob(idOf(key), record, context));
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      // The findings of a damaged study are needed most: it has the counts of the records before the damaged one.
      latest.isSample = true;
    } finally {
      await view.close();
    }
    const tally = new AttemptTally(latest.isSample);
    const countedSinceMs = this.#countedSinceMs();
    for (const attempt of latest.attempts)
      tally.add({ ...attempt, isForgotten: attempt.endedMs <= countedSinceMs(attempt.runnerId) });
    // The tally counts an attempt that was on the disk already once.
    for (const attempt of health.interim) tally.add(attempt);
    health.tally = tally;
    health.interim = undefined;
    health.isComplete = true;
    health.timeLeft = undefined;
  }
}

/** Counts the attempts of a runner from 0 again, also those that end while the records of the study are being read. */
function forgetRunner(health: BatchHealth, runnerId: string): void {
  health.tally.forgetRunner(runnerId);
  for (const attempt of health.interim ?? []) if (attempt.runnerId === runnerId) attempt.isForgotten = true;
}

const FINISHED = new Set<AttemptRecord['outcome']>(['completed', 'failed', 'timeout']);

/** Undefined for an attempt that did not end by itself: cancelled, released, or lost with its runner. */
function finishedAttempt({ value, context: c }: JobState, it: AttemptRecord): FinishedAttempt | undefined {
  if (!FINISHED.has(it.outcome)) return undefined;
  const isAnswer = it.outcome === 'completed' || it.reason === 'early_termination';
  const isLast = it === c.attempts.at(-1);
  return {
    runId: c.runId,
    attempt: it.n,
    runnerId: it.runner,
    failure: isAnswer ? undefined : (it.message ?? it.reason ?? 'failed'),
    isRetried: it.outcome === 'failed' && !(isLast && value !== 'Pending'),
    durationMs: it.started === undefined || it.ended === undefined ? undefined : Math.max(0, it.ended - it.started),
    endedMs: it.ended ?? it.claimed,
  };
}

/** The attempts in the records of a study, which are read from the last run to the first. */
class LatestAttempts {
  readonly attempts: FinishedAttempt[] = [];
  /** Ends of the latest attempts, ascending, at most `RECENT`. */
  readonly #ends: number[] = [];
  #records = 0;
  #longestMs = 0;
  /** True when records had lost attempts, or were left unread. */
  isSample = false;

  /** Returns whether the records of earlier runs need not be read. */
  add(job: JobState): boolean {
    const { attempts, attemptsOmitted } = job.context;
    this.#records += 1;
    this.isSample ||= attemptsOmitted > 0;
    for (const record of attempts) {
      const attempt = finishedAttempt(job, record);
      if (attempt === undefined) continue;
      this.attempts.push(attempt);
      this.#longestMs = Math.max(this.#longestMs, attempt.endedMs - record.claimed);
      this.#noteEnd(attempt.endedMs);
    }
    return this.#isEnough(job);
  }

  #noteEnd(endedMs: number): void {
    if (this.#ends.length === RECENT && endedMs <= this.#ends[0]!) return;
    let at = this.#ends.length;
    while (at > 0 && this.#ends[at - 1]! > endedMs) at -= 1;
    this.#ends.splice(at, 0, endedMs);
    if (this.#ends.length > RECENT) this.#ends.shift();
  }

  /**
   * The runs before this one were claimed before it: none of them is among the latest to end, unless it took longer than all attempts
   * that were read.
   */
  #isEnough({ context: { attempts } }: JobState): boolean {
    if (this.#records < LEAST_RECORDS) return false;
    if (this.#records >= MOST_RECORDS) return true;
    const claimedMs = attempts[0]?.claimed ?? Infinity;
    return this.#ends.length === RECENT && claimedMs + this.#longestMs < this.#ends[0]!;
  }
}

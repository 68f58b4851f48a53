/**
 * How the attempts of each study end, counted from the facts of committed groups; the time since which its active runs
 * execute. In memory: after a restart it is filled up from the latest records of a study when they are asked for.
 */
import type { Directory } from '../actors/directory.ts';
import type { Fact, JobEnded, JobRequeued } from '../../../machines/protocol.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { AttemptRecord, BatchStatusResponse, Uuid } from '../../contract/types.ts';
import { AttemptTally, RECENT, type FinishedAttempt } from '../../domain/attempt-tally.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import { decodeJob, decodeRunner, type BatchState, type JobState } from '../actors/actor-kinds.ts';
import { idOf, keys, ofBatch } from '../storage/keys.ts';
import type { Store } from '../storage/store.ts';

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

/** Returns the message of an attempt of a job, which an actor in memory holds. */
export type MessageOf = (jobId: Uuid, attempt: number) => string | undefined;

/** Returns the messages of the attempts of active jobs. */
export const messagesIn =
  (directory: Pick<Directory, 'state'>): MessageOf =>
  (jobId, attempt) =>
    directory.state('job', jobId)?.context.attempts.find((it) => it.n === attempt)?.message;

/** Studies in memory; the least recently changed one is dropped, and filled up again when it is asked for. */
const MAX_STUDIES = 500;
/** Records that are read to fill up the counts of a study. */
const MAX_RECORDS = 2 * RECENT;

export class StudyHealth {
  readonly #parts: { store: Store; share: EventLoopShare };
  readonly #studies = new Map<Uuid, BatchHealth>();
  /** The studies of which attempts have ended since `takeChanged`. */
  #changed = new Set<Uuid>();
  readonly #filling = new Map<Uuid, Promise<void>>();

  constructor(parts: { store: Store; share: EventLoopShare }) {
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
  restore(jobs: Iterable<JobState>): void {
    const running: [Uuid, number][] = [];
    for (const { value, context: c } of jobs)
      if (value === 'Running' && c.startedAtMs !== undefined) running.push([c.jobId, c.startedAtMs]);
    running.sort(([, a], [, b]) => a - b);
    for (const [jobId, startedAtMs] of running) this.#of(batchIdOf(jobId)).running.set(jobId, startedAtMs);
  }

  /** `messageOf` returns the message of an attempt that failed. */
  onFacts(facts: readonly Fact[], messageOf: MessageOf): void {
    for (const fact of facts) {
      switch (fact.type) {
        case 'batch.opened':
          Object.assign(this.#of(fact.batchId), { tally: new AttemptTally(), isComplete: true });
          break;
        case 'batch.deleted':
          this.#forget(fact.batchId);
          break;
        case 'runner.resumed':
          // Its attempts count anew: it was repaired, or has had its time out.
          for (const health of this.#studies.values()) forgetRunner(health, fact.runnerId);
          break;
        case 'job.started':
          this.#of(fact.batchId).running.set(fact.jobId, fact.now);
          break;
        case 'job.requeued':
        case 'job.ended':
          this.#onEnd(fact, messageOf);
          break;
        default:
      }
    }
  }

  #onEnd(fact: JobRequeued | JobEnded, messageOf: MessageOf): void {
    const health = this.#of(fact.batchId);
    const startedAtMs = health.running.get(fact.jobId);
    health.running.delete(fact.jobId);
    const attempt = finishedAttempt(fact, startedAtMs, messageOf);
    if (attempt === undefined) return;
    health.tally.add(attempt);
    health.interim?.push(attempt);
    this.#changed.add(fact.batchId);
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
    const attempts: RecordedAttempt[][] = [];
    health.interim = [];
    let isWhole = true;
    const view = store.snapshot();
    try {
      for await (const chunk of view.entries(ofBatch('job', context.batchId), { reverse: true, chunkSize: 64 })) {
        for await (const [key, record] of share.paced(chunk))
          attempts.push(finishedAttempts(decodeJob(idOf(key), record, context)));
        isWhole = attempts.length <= MAX_RECORDS;
        if (!isWhole) break;
      }
    } finally {
      await view.close();
    }
    const tally = new AttemptTally(!isWhole);
    const countedSinceMs = this.#countedSinceMs();
    for (const ofRun of attempts.toReversed())
      for (const { endedMs, ...attempt } of ofRun)
        tally.add({ ...attempt, isForgotten: endedMs <= countedSinceMs(attempt.runnerId) });
    for (const attempt of health.interim) tally.add(attempt);
    health.tally = tally;
    health.interim = undefined;
    health.isComplete = true;
    health.timeLeft = undefined;
  }
}

/** Its attempts count anew, also those that end while the records of the study are being read. */
function forgetRunner(health: BatchHealth, runnerId: string): void {
  health.tally.forgetRunner(runnerId);
  for (const attempt of health.interim ?? []) if (attempt.runnerId === runnerId) attempt.isForgotten = true;
}

/** Undefined for an attempt that did not end by itself: cancelled, released, or lost with its runner. */
function finishedAttempt(
  fact: JobRequeued | JobEnded,
  startedAtMs: number | undefined,
  messageOf: MessageOf,
): FinishedAttempt | undefined {
  const { runId, runnerId, now } = fact;
  if (runnerId === undefined) return undefined;
  const durationMs = startedAtMs === undefined ? undefined : Math.max(0, now - startedAtMs);
  if (fact.type === 'job.requeued') {
    if (fact.outcome !== 'failed') return undefined;
    return { runId, runnerId, failure: messageOf(fact.jobId, fact.attempt) ?? fact.why, isRetried: true, durationMs };
  }
  if (fact.to === 'Cancelled') return undefined;
  const isAnswer = fact.to === 'Completed' || fact.terminated === true;
  return { runId, runnerId, failure: isAnswer ? undefined : (fact.error ?? fact.to), isRetried: false, durationMs };
}

/** An attempt from a record, with the time of its end in ms since the epoch. */
type RecordedAttempt = FinishedAttempt & { endedMs: number };

const FINISHED = new Set<AttemptRecord['outcome']>(['completed', 'failed', 'timeout']);

/** The finished attempts of a run, from its record. */
function finishedAttempts({ value, context: c }: JobState): RecordedAttempt[] {
  return c.attempts
    .filter(({ outcome }) => FINISHED.has(outcome))
    .map((it): RecordedAttempt => {
      const isAnswer = it.outcome === 'completed' || it.reason === 'early_termination';
      const isLast = it === c.attempts.at(-1);
      return {
        runId: runIdOf(c.jobId),
        runnerId: it.runner,
        failure: isAnswer ? undefined : (it.message ?? it.reason ?? 'failed'),
        isRetried: it.outcome === 'failed' && !(isLast && value !== 'Pending'),
        durationMs: it.started === undefined || it.ended === undefined ? undefined : Math.max(0, it.ended - it.started),
        endedMs: it.ended ?? it.claimed,
      };
    });
}

/**
 * Counts of a study's finished attempts: by runner, and the latest ones in detail. Findings, the time left and the quarantine
 * of runners are computed from them. Bounded, whatever the size of the study. Pure.
 */
import { CommonParts, takeApart, type MessageParts } from './failure-groups.ts';
import { HISTORY_MESSAGE_LIMIT } from './rules.ts';

/** One attempt that ended by itself: not cancelled, not released, not lost with its runner. */
export interface FinishedAttempt {
  runId: number;
  runnerId: string;
  /** Undefined for an attempt that succeeded or met an early-termination condition, which is an answer. */
  failure: string | undefined;
  /** True when the run was requeued: another attempt follows. */
  isRetried: boolean;
  /** From its start to its end in ms; undefined when it never started. */
  durationMs: number | undefined;
  /** True when it ended before its runner was resumed: it does not count for the runner. */
  isForgotten?: boolean;
}

/** The failure that most of the latest attempts share. */
export interface CommonFailure {
  /** The message without the numbers, names and addresses that differ. */
  pattern: string;
  attempts: number;
  /** Distinct runs and runners. */
  runs: number;
  runners: number;
  /** The first runs, by run id. */
  examples: readonly number[];
}

export interface AttemptSummary {
  finished: number;
  /** Attempts that failed and were repeated. */
  retried: number;
  /** True when the counts began after the study did, and were filled up from a sample of its runs. */
  isSample: boolean;
  /** The latest attempts, at most `RECENT`. */
  recent: { finished: number; runners: number; commonFailure: CommonFailure | undefined };
}

/** How many of the latest attempts are kept. */
export const RECENT = 256;
/** Runners beyond this number are not counted one by one. */
const MAX_RUNNERS = 4_096;
const EXAMPLES = 10;

export interface RunnerTally {
  runnerId: string;
  succeeded: number;
  failed: number;
}

/** A failure among the latest attempts, and the parts that all its messages have had in common since it was first one of them. */
interface KnownFailure {
  pattern: string;
  parts: CommonParts;
  /** Of the latest attempts. */
  attempts: number;
}

interface RecentAttempt {
  runId: number;
  runnerId: string;
  failure: KnownFailure | undefined;
  durationMs: number | undefined;
}

export class AttemptTally {
  #finished = 0;
  #retried = 0;
  #isSample: boolean;
  readonly #byRunner = new Map<string, RunnerTally>();
  readonly #recent: RecentAttempt[] = [];
  /** By pattern; only those of `#recent`. */
  readonly #failures = new Map<string, KnownFailure>();
  /** The place of the next attempt in `#recent`. */
  #at = 0;

  /** `isSample`: the study ran before the counts began. */
  constructor(isSample = false) {
    this.#isSample = isSample;
  }

  /** Of a message the part is examined that the history of a run keeps, so that records and facts give the same pattern. */
  add({ runId, runnerId, failure, isRetried, durationMs, isForgotten = false }: FinishedAttempt): void {
    this.#finished += 1;
    if (isRetried) this.#retried += 1;
    if (!isForgotten) this.#count(runnerId, failure !== undefined);
    const known = failure === undefined ? undefined : this.#known(failure.slice(0, HISTORY_MESSAGE_LIMIT));
    this.#forget(this.#recent[this.#at]?.failure);
    this.#recent[this.#at] = { runId, runnerId, failure: known, durationMs };
    this.#at = (this.#at + 1) % RECENT;
  }

  #known(message: string): KnownFailure {
    const taken = takeApart(message);
    const known = this.#failures.get(taken.pattern);
    if (known !== undefined) {
      known.parts.add(taken);
      known.attempts += 1;
      return known;
    }
    const kept = detached(taken);
    const first = { pattern: kept.pattern, parts: new CommonParts(kept), attempts: 1 };
    this.#failures.set(first.pattern, first);
    return first;
  }

  /** An attempt with this failure is no longer one of the latest. */
  #forget(failure: KnownFailure | undefined): void {
    if (failure === undefined) return;
    failure.attempts -= 1;
    if (failure.attempts === 0) this.#failures.delete(failure.pattern);
  }

  #count(runnerId: string, isFailed: boolean): void {
    let counts = this.#byRunner.get(runnerId);
    if (counts === undefined) {
      if (this.#byRunner.size >= MAX_RUNNERS) return;
      counts = { runnerId, succeeded: 0, failed: 0 };
      this.#byRunner.set(runnerId, counts);
    }
    if (isFailed) counts.failed += 1;
    else counts.succeeded += 1;
  }

  runners(): readonly RunnerTally[] {
    return [...this.#byRunner.values()];
  }

  /** Forgets a runner's counts: it was repaired, or has had its time out. */
  forgetRunner(runnerId: string): void {
    this.#byRunner.delete(runnerId);
  }

  /** The number of finished attempts. */
  get finished(): number {
    return this.#finished;
  }

  /** The durations of the latest attempts in ms, in no order. */
  durationsMs(): number[] {
    return this.#recent.flatMap(({ durationMs }) => (durationMs === undefined ? [] : [durationMs]));
  }

  /** Attempts for each run that ended, at least 1. */
  attemptsPerRun(): number {
    const ended = this.#finished - this.#retried;
    return ended === 0 ? 1 : this.#finished / ended;
  }

  summary(): AttemptSummary {
    return {
      finished: this.#finished,
      retried: this.#retried,
      isSample: this.#isSample,
      recent: {
        finished: this.#recent.length,
        runners: new Set(this.#recent.map(({ runnerId }) => runnerId)).size,
        commonFailure: this.#commonFailure(),
      },
    };
  }

  #commonFailure(): CommonFailure | undefined {
    const [most] = [...this.#failures.values()].sort((a, b) => b.attempts - a.attempts);
    if (most === undefined) return undefined;
    const attempts = this.#recent.filter(({ failure }) => failure === most);
    const pattern = most.parts.text();
    const runs = [...new Set(attempts.map(({ runId }) => runId))].sort((a, b) => a - b);
    const runners = new Set(attempts.map(({ runnerId }) => runnerId)).size;
    return { pattern, attempts: attempts.length, runs: runs.length, runners, examples: runs.slice(0, EXAMPLES) };
  }
}

/** Returns a copy that keeps no longer text in memory, of which the texts may be parts. */
const detached = (parts: MessageParts): MessageParts => JSON.parse(JSON.stringify(parts)) as MessageParts;

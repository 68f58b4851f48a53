/**
 * Counts of a study's finished attempts: by runner, and the latest ones in detail. Findings, the time left and the quarantine
 * of runners are computed from them. Bounded, whatever the size of the study. Pure.
 */
import { CommonParts, shownPart, takeApart } from './failure-groups.ts';
import { HISTORY_MESSAGE_LIMIT } from '../rules.ts';

/** One attempt that ended by itself: not cancelled, not released, not lost with its runner. */
export interface FinishedAttempt {
  runId: number;
  /** Numbered from 1 within its run. */
  attempt: number;
  runnerId: string;
  /** End of the attempt, in ms since the epoch. */
  endedMs: number;
  /** Undefined for an attempt that succeeded or met an early-termination condition, which is an answer. */
  failure: string | undefined;
  /** True when the run was requeued: another attempt follows. */
  isRetried: boolean;
  /** Time from the start to the end of the attempt in ms; undefined when it never started. */
  durationMs: number | undefined;
  /** True when it ended before its runner was resumed: it does not count for the runner. */
  isForgotten?: boolean;
}

/** The failure that most of the latest attempts share. */
export interface CommonFailure {
  /** The message without the numbers, names and addresses that differ. */
  pattern: string;
  attempts: number;
  /** Number of distinct runs. */
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

/** The pattern of a failure among the latest attempts. */
interface KnownFailure {
  pattern: string;
  literals: readonly string[];
  /** Number of the latest attempts. */
  attempts: number;
}

interface RecentAttempt extends Pick<FinishedAttempt, 'runId' | 'attempt' | 'runnerId' | 'endedMs' | 'durationMs'> {
  failure: KnownFailure | undefined;
  /** The parts of the message that its pattern leaves out and that may be shown. */
  parts: readonly (string | undefined)[];
}

export class AttemptTally {
  #finished = 0;
  #retried = 0;
  #isSample: boolean;
  readonly #byRunner = new Map<string, RunnerTally>();
  /** In the order of their ends, whatever the order in which they were added: live, and from the records after a restart. */
  readonly #recent: RecentAttempt[] = [];
  /** Failures of `#recent`, by pattern. */
  readonly #failures = new Map<string, KnownFailure>();

  /** `isSample`: the study ran before the counts began. */
  constructor(isSample = false) {
    this.#isSample = isSample;
  }

  /** One of the latest attempts that is added again is counted once. */
  add(added: FinishedAttempt): void {
    const { runnerId, failure, isRetried, isForgotten = false } = added;
    const at = this.#placeOf(added);
    const before = this.#recent[at - 1];
    if (before !== undefined && byEnd(before, added) === 0) return;
    this.#finished += 1;
    if (isRetried) this.#retried += 1;
    if (!isForgotten) this.#count(runnerId, failure !== undefined);
    // The attempt is older than all of the latest ones.
    if (at === 0 && this.#recent.length === RECENT) return;
    if (at === this.#recent.length) this.#recent.push(this.#recentFrom(added));
    else this.#recent.splice(at, 0, this.#recentFrom(added));
    if (this.#recent.length > RECENT) this.#forget(this.#recent.shift()?.failure);
  }

  /** The place after the latest attempt that did not end later; mostly the last one. */
  #placeOf(added: FinishedAttempt): number {
    let at = this.#recent.length;
    while (at > 0 && byEnd(this.#recent[at - 1]!, added) > 0) at -= 1;
    return at;
  }

  /** Examines the part of a message that the history of a run keeps. */
  #recentFrom({ runId, attempt, runnerId, endedMs, durationMs, failure }: FinishedAttempt): RecentAttempt {
    if (failure === undefined) return { runId, attempt, runnerId, endedMs, durationMs, failure, parts: NO_PARTS };
    const { pattern, literals, parts } = takeApart(failure.slice(0, HISTORY_MESSAGE_LIMIT));
    let known = this.#failures.get(pattern);
    if (known === undefined) {
      known = { pattern: detached(pattern), literals: literals.map(detached), attempts: 0 };
      this.#failures.set(known.pattern, known);
    }
    known.attempts += 1;
    const shown = parts.map((it) => shownPart(it) && detached(it));
    return { runId, attempt, runnerId, endedMs, durationMs, failure: known, parts: shown };
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

  /** The durations of the latest attempts in ms, in the order of their ends. */
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
    const [most] = [...this.#failures.values()].sort(
      (a, b) => b.attempts - a.attempts || (a.pattern < b.pattern ? -1 : 1),
    );
    if (most === undefined) return undefined;
    const attempts = this.#recent.filter(({ failure }) => failure === most);
    const [first, ...others] = attempts;
    const common = new CommonParts({ ...most, parts: first?.parts ?? NO_PARTS });
    for (const it of others) common.add(it);
    const pattern = common.text();
    const runs = [...new Set(attempts.map(({ runId }) => runId))].sort((a, b) => a - b);
    const runners = new Set(attempts.map(({ runnerId }) => runnerId)).size;
    return { pattern, attempts: attempts.length, runs: runs.length, runners, examples: runs.slice(0, EXAMPLES) };
  }
}

const NO_PARTS: readonly string[] = [];

/** In the order of the ends; of one moment in the order of the runs and their attempts. */
const byEnd = (a: Pick<FinishedAttempt, 'endedMs' | 'runId' | 'attempt'>, b: typeof a): number =>
  a.endedMs - b.endedMs || a.runId - b.runId || a.attempt - b.attempt;

/** V8 copies a shorter part of a text; a longer one refers to the text. */
const LEAST_SLICE = 13;

/** Returns a copy that keeps no longer text in memory, of which it may be a part. */
const detached = (text: string): string =>
  text.length < LEAST_SLICE ? text : (JSON.parse(JSON.stringify(text)) as string);

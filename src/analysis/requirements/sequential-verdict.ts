/** The verdict on a requirement that is looked at continuously, run by run. */
import type { Outcome } from './requirement.ts';
import { SequentialTest } from './sequential-test.ts';

/** All of a sequential verdict's memory, as plain JSON. */
export interface SequentialState {
  passed: number;
  failed: number;
  unknown: number;
  /** Null while undecided. */
  verdict: 'met' | 'violated' | null;
  /** The run that decided. */
  settled_at_run_id: number | null;
}

/**
 * Takes the outcomes of the complete prefix in run order and decides once. The first decision is final: later runs are not judged,
 * so the verdict is a function of the prefix alone and not of the order in which runs end. A decision costs about 20 evaluations of
 * an E value, and evaluations are made only where a decision is possible.
 */
export class SequentialVerdict {
  readonly test: SequentialTest;
  #passed = 0;
  #failed = 0;
  #unknown = 0;
  #verdict: SequentialState['verdict'] = null;
  #settledAt: number | null = null;
  /** No earlier number of judged runs can decide, whatever their outcomes. */
  #nextCheck: number;

  /**
   * Both numbers in (0, 1). `state`: from `toJSON`, to continue after a restart.
   * @throws RangeError when `toJSON` cannot have given the state.
   */
  constructor(probability: number, confidence: number, state?: SequentialState) {
    this.test = new SequentialTest(probability, confidence);
    if (state !== undefined) this.#restore(state);
    this.#nextCheck = this.#earliestDecision();
  }

  get verdict(): SequentialState['verdict'] {
    return this.#verdict;
  }

  /** Takes the next run of the prefix; returns the verdict so far. Excluded runs change nothing, nor do runs after the decision. */
  take(outcome: Exclude<Outcome, 'open'>, runId: number): SequentialState['verdict'] {
    if (this.#verdict !== null || outcome === 'excluded') return this.#verdict;
    if (outcome === 'pass') this.#passed++;
    else if (outcome === 'fail') this.#failed++;
    else this.#unknown++;
    if (this.#judged >= this.#nextCheck) this.#check(runId);
    return this.#verdict;
  }

  /** Takes so many runs whose outcome is unknown: each shrinks both E values, so none of them can decide. */
  takeUnknown(runs: number): void {
    if (this.#verdict === null) this.#unknown += runs;
  }

  toJSON(): SequentialState {
    return {
      passed: this.#passed,
      failed: this.#failed,
      unknown: this.#unknown,
      verdict: this.#verdict,
      settled_at_run_id: this.#settledAt,
    };
  }

  get #judged(): number {
    return this.#passed + this.#failed + this.#unknown;
  }

  /** ln E of both directions, unknown runs against either. */
  logValues(): { met: number; violated: number } {
    return {
      met: this.test.logMet(this.#passed, this.#failed + this.#unknown),
      violated: this.test.logViolated(this.#passed + this.#unknown, this.#failed),
    };
  }

  #check(runId: number): void {
    const { met, violated } = this.logValues();
    if (met >= this.test.threshold) this.#verdict = 'met';
    else if (violated >= this.test.threshold) this.#verdict = 'violated';
    if (this.#verdict === null) this.#nextCheck = this.#earliestDecision();
    else this.#settledAt = runId;
  }

  /** A pass does the most for `met` and a failure for `violated`, so both minimal numbers of runs bound the next decision. */
  #earliestDecision(): number {
    const toMet = this.test.cleanRunsToMet(this.#passed, this.#failed + this.#unknown);
    const toViolated = this.test.failuresToViolated(this.#passed + this.#unknown, this.#failed);
    const soonest = Math.min(toMet ?? Number.POSITIVE_INFINITY, toViolated ?? Number.POSITIVE_INFINITY);
    return this.#judged + Math.max(1, soonest);
  }

  #restore({ passed, failed, unknown, verdict, settled_at_run_id: settledAt }: SequentialState): void {
    for (const [name, count] of Object.entries({ passed, failed, unknown })) {
      if (!Number.isSafeInteger(count) || count < 0)
        throw new RangeError(`the state of a sequential verdict is not usable: ${name} is ${count}; expected a count`);
    }
    const isDecided = verdict === 'met' || verdict === 'violated';
    if (isDecided ? !Number.isSafeInteger(settledAt) : verdict !== null || settledAt !== null)
      throw new RangeError(
        `the state of a sequential verdict is not usable: verdict ${verdict} with settled_at_run_id ${settledAt}`,
      );
    this.#passed = passed;
    this.#failed = failed;
    this.#unknown = unknown;
    this.#verdict = verdict;
    this.#settledAt = settledAt;
  }
}

/** The requirements of one study, judged run by run along its complete prefix. Pure: no clock, no store. */
import type { DecidedRequirement } from '../../analysis/requirements/answer.ts';
import { RequirementProgress, type RequirementState } from '../../analysis/requirements/progress.ts';
import type { Warning } from '../../analysis/warning.ts';
import type { RequirementVerdict, Uuid } from '../../contract/types.ts';
import type { Judged } from './outcomes.ts';
import { PendingOutcomes } from './pending-outcomes.ts';

/** The record of a study's verdicts. It follows from the runs and can be computed again. */
export interface VerdictsRecord {
  /** Length of the prefix that is judged; the runs after it are read again after a restart. */
  judged: number;
  /** States of the requirements, in the order of the study. */
  requirements: RequirementState[];
  /** The verdicts of a study that has ended; absent before. */
  verdicts?: RequirementVerdict[];
}

export interface JudgedStudy extends Judged {
  batchId: Uuid;
  /** The number of runs that the batch holds. */
  runs: number;
  /** The run id at an index among them. */
  runAt(index: number): number;
}

export class StudyJudgement {
  readonly study: JudgedStudy;
  readonly #progress: readonly RequirementProgress[];
  readonly #pending: PendingOutcomes;
  readonly #answers: { open: number; limits: string; answer: DecidedRequirement }[] = [];
  #prefix: number;
  /** The requirement that takes the next run; the ones before it have taken it. */
  #next = 0;
  #isEnded = false;

  /** @throws RangeError when the record is not one of this study. */
  constructor(study: JudgedStudy, record?: VerdictsRecord) {
    this.study = study;
    this.#progress = study.requirements.map((it, at) => new RequirementProgress(it, record?.requirements[at]));
    this.#pending = new PendingOutcomes(study.requirements.length);
    this.#prefix = record?.judged ?? 0;
  }

  /** The number of runs of the complete prefix that all requirements have taken. */
  get prefix(): number {
    return this.#prefix;
  }

  /** True between two runs, when `record` describes the whole state. */
  get isBetweenRuns(): boolean {
    return this.#next === 0;
  }

  /** True once every requirement is settled by the sequential test: no further run is judged. */
  get isSettled(): boolean {
    return this.#progress.every((it) => it.isSettled);
  }

  /** True when every run is judged, or no further run has to be. */
  get isDone(): boolean {
    return this.#prefix >= this.study.runs || this.isSettled;
  }

  /** The number of settled requirements. */
  get settled(): number {
    return this.#progress.filter((it) => it.isSettled).length;
  }

  /** Names of the settled requirements, in the order of the study. */
  get settledNames(): string[] {
    return this.study.requirements.filter((_, at) => this.#progress[at]?.isSettled === true).map((it) => it.name);
  }

  /** The run at which the last requirement was settled; only of a settled study. */
  get settledAtRunId(): number {
    return Math.max(...this.#progress.map((it) => it.toJSON().settled_at_run_id ?? 0));
  }

  /** Adds a run that has ended; a run that is judged already changes nothing. `outcomes`: a letter for each requirement. */
  add(index: number, outcomes: string): void {
    if (index >= this.#prefix && !this.isSettled) this.#pending.set(index, outcomes);
  }

  /** The study has ended, and every run with a record was added: the others were cancelled before a runner took them. */
  end(): void {
    this.#isEnded = true;
  }

  /** Judges the next run of the complete prefix under one requirement. Returns false when there is none. */
  step(): boolean {
    if (this.isDone) {
      this.#pending.clear();
      return false;
    }
    const index = this.#prefix;
    const outcome = this.#pending.get(index, this.#next);
    if (outcome === 'open') return this.#isEnded && this.#skip(index);
    this.#progress[this.#next]!.take(outcome, this.study.runAt(index));
    this.#next += 1;
    // Requirements that are settled take no run: the last decision ends the run for all of them.
    if (this.#next < this.#progress.length && !this.isSettled) return true;
    this.#next = 0;
    this.#advanceTo(index + 1);
    return true;
  }

  /** Takes the cancelled runs from this index on, up to the next one with an outcome. */
  #skip(index: number): boolean {
    const count = Math.min(this.#pending.absentFrom(index), this.study.runs - index);
    for (const progress of this.#progress) progress.takeUnknown(count);
    this.#advanceTo(index + count);
    return true;
  }

  #advanceTo(index: number): void {
    this.#prefix = index;
    this.#pending.dropBefore(index);
  }

  /** The record of a state between two runs. */
  record(): VerdictsRecord {
    return { judged: this.#prefix, requirements: this.#progress.map((it) => it.toJSON()) };
  }

  /**
   * The verdict on one requirement so far, with these limits of the study; computed when it may have changed. It takes up to
   * 0.2 ms.
   */
  answer(at: number, limits: readonly Warning[]): DecidedRequirement {
    const progress = this.#progress[at]!;
    const open = this.study.runs - this.#prefix;
    const key = JSON.stringify(limits);
    const known = this.#answers[at];
    if (known?.open === open && known.limits === key) return known.answer;
    const answer = progress.answer(open, limits);
    this.#answers[at] = { open, limits: key, answer };
    return answer;
  }

  /** The last computed verdict on a requirement. */
  latest(at: number): DecidedRequirement | undefined {
    return this.#answers[at]?.answer;
  }
}

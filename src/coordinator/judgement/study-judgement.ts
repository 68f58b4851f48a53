/** The requirements and precisions of one study, judged run by run along its complete prefix. Pure: no clock, no store. */
import type { DecidedRequirement } from '../../analysis/requirements/answer.ts';
import { type PrecisionsState, StudyPrecision } from '../../analysis/precision/study-precision.ts';
import { CellsProgress, type CellsState } from '../../analysis/requirements/cells/cells-progress.ts';
import { RequirementProgress, type RequirementState } from '../../analysis/requirements/progress.ts';
import type { Warning } from '../../analysis/warning.ts';
import type { PrecisionReached, Requirement, RequirementVerdict, Uuid } from '../../contract/types.ts';
import type { Cells } from '../../domain/scenarios/cells.ts';
import type { Judged } from './outcomes.ts';
import { PendingOutcomes } from './pending-outcomes.ts';

/** The record of a study's verdicts. It follows from the runs and can be computed again. */
export interface VerdictsRecord {
  /** Length of the prefix that is judged; the runs after it are read again after a restart. */
  judged: number;
  /** States of the requirements, in the order of the study. */
  requirements: (RequirementState | CellsState)[];
  /** The state of the precisions; absent without any, and where it is made again from the first run. */
  precision?: PrecisionsState;
  /** The verdicts of a study that has ended; absent before. */
  verdicts?: RequirementVerdict[];
  /** Likewise its nearness to its precisions; absent without any. */
  reached?: PrecisionReached[];
}

export interface JudgedStudy extends Judged {
  batchId: Uuid;
  /** The revision of the judgement of its batch; undefined for that of the submission. */
  revision: number | undefined;
  /** The number of runs that the batch holds. */
  runs: number;
  /** The run id at an index among them. */
  runAt(index: number): number;
  /** The units of an output, as declared. */
  units(output: string): string | null;
  /** The cells of a study with scenarios, with the rules of its requirements; absent without any. */
  scenarios?: { cells: Cells; rules: readonly Pick<Requirement, 'in' | 'weights'>[] };
}

export class StudyJudgement {
  readonly study: JudgedStudy;
  readonly #progress: readonly (RequirementProgress | CellsProgress)[];
  /** Absent of a study that does not stop at a precision. */
  readonly #precision: StudyPrecision | undefined;
  readonly #pending: PendingOutcomes;
  readonly #answers: { open: number; limits: string; answer: DecidedRequirement }[] = [];
  #prefix: number;
  /** The requirement that takes the next run, after the last one the precisions; the ones before have taken it. */
  #next = 0;
  #isEnded = false;

  /** @throws RangeError when the record is not one of this study. */
  constructor(study: JudgedStudy, record?: VerdictsRecord) {
    this.study = study;
    const { requirements, precisions } = study;
    // Quantiles keep their values in memory alone: such a study is judged from its first run again.
    const known = precisions.length > 0 && record?.precision === undefined ? undefined : record;
    this.#progress = requirements.map((it, at) => {
      const state = known?.requirements[at];
      if (study.scenarios === undefined) return new RequirementProgress(it, state as RequirementState | undefined);
      const { cells, rules } = study.scenarios;
      return new CellsProgress(it, rules[at]!, cells, state);
    });
    this.#precision = precisions.length === 0 ? undefined : new StudyPrecision(precisions, known?.precision);
    this.#pending = new PendingOutcomes(requirements.length, precisions.length);
    this.#prefix = known?.judged ?? 0;
  }

  /** The number of runs of the complete prefix that all requirements have taken. */
  get prefix(): number {
    return this.#prefix;
  }

  /** True between two runs, when `record` describes the whole state. */
  get isBetweenRuns(): boolean {
    return this.#next === 0;
  }

  /** True once the rule of the study is fulfilled, `settled` where it has none: its precisions are reached, or every requirement is settled. */
  get isStopped(): boolean {
    return this.#precision === undefined ? this.#areSettled : this.#precision.stopRunId !== null;
  }

  /** The run at which that was so first; only of a study of which it is. */
  get stopRunId(): number {
    const settledAt = this.#progress.map((it) => it.toJSON().settled_at_run_id ?? 0);
    return this.#precision?.stopRunId ?? Math.max(...settledAt);
  }

  get #areSettled(): boolean {
    return this.#progress.every((it) => it.isSettled);
  }

  /** True when every run is judged, or no further run has to be. */
  get isDone(): boolean {
    return this.#prefix >= this.study.runs || this.isStopped;
  }

  /** True of a study whose verdicts are computed here; otherwise where they are decided is, for its stop alone. */
  get hasVerdicts(): boolean {
    return this.study.scenarios === undefined;
  }

  /** The number of settled requirements. */
  get settled(): number {
    return this.#progress.filter((it) => it.isSettled).length;
  }

  /** Names of the settled requirements, in the order of the study. */
  get settledNames(): string[] {
    return this.study.requirements.filter((_, at) => this.#progress[at]?.isSettled === true).map((it) => it.name);
  }

  /** Adds a run that has ended; a run that is judged already changes nothing. `outcomes`: of `outcomesText`. */
  add(index: number, outcomes: string): void {
    if (index >= this.#prefix && !this.isStopped) this.#pending.set(index, outcomes);
  }

  /** The study has ended, and every run with a record was added: the others were cancelled before a runner took them. */
  end(): void {
    this.#isEnded = true;
  }

  /** Judges the next run of the complete prefix under one requirement, or under the precisions. Returns false when there is none. */
  step(): boolean {
    if (this.isDone) {
      this.#pending.clear();
      return false;
    }
    const index = this.#prefix;
    const outcome = this.#pending.get(index, this.#next);
    if (outcome === 'open') return this.#isEnded && this.#skip(index);
    const runId = this.study.runAt(index);
    const requirement = this.#progress[this.#next];
    if (requirement !== undefined) requirement.take(outcome, runId);
    else if (outcome === 'excluded') this.#precision!.takeCancelled(runId);
    else this.#precision!.take((at) => this.#pending.value(index, at), runId);
    this.#next += 1;
    const takers = this.#progress.length + (this.#precision === undefined ? 0 : 1);
    // Requirements that are settled take no run: the last decision ends the run for all of them.
    if (this.#next < takers && !this.isStopped) return true;
    this.#next = 0;
    this.#advanceTo(index + 1);
    return true;
  }

  /** Takes the cancelled runs from this index on, up to the next one with an outcome. */
  #skip(index: number): boolean {
    const count = Math.min(this.#pending.absentFrom(index), this.study.runs - index);
    for (const progress of this.#progress) progress.takeUnknown(count, (at) => this.study.runAt(index + at));
    this.#precision?.takeCancelled(this.study.runAt(index));
    this.#advanceTo(index + count);
    return true;
  }

  #advanceTo(index: number): void {
    this.#prefix = index;
    this.#pending.dropBefore(index);
  }

  /** The record of a state between two runs. */
  record(): VerdictsRecord {
    const precision = this.#precision?.toJSON();
    const requirements = this.#progress.map((it) => it.toJSON());
    return { judged: this.#prefix, requirements, ...(precision === undefined ? {} : { precision }) };
  }

  /**
   * The verdict on one requirement so far, with these limits of the study; computed when it may have changed. It takes up to
   * 0.2 ms. @throws Error of a study with scenarios, whose verdicts are an analysis of all of its cells
   */
  answer(at: number, limits: readonly Warning[]): DecidedRequirement {
    const progress = this.#progress[at]!;
    if (progress instanceof CellsProgress) throw new Error('verdicts in cells are computed by the analysis');
    const open = this.#open;
    const key = JSON.stringify(limits);
    const known = this.#answers[at];
    if (known?.open === open && known.limits === key) return known.answer;
    const answer = progress.answer(open, limits);
    this.#answers[at] = { open, limits: key, answer };
    return answer;
  }

  /** How near the runs are to each precision, with these limits of the study; undefined without any. It takes up to 0.2 ms for each. */
  precision(limits: readonly Warning[]): PrecisionReached[] | undefined {
    return this.#precision?.answers(this.#open, limits, (output) => this.study.units(output));
  }

  /** The number of runs at which the study stopped at its precision, when others follow these; undefined otherwise. */
  get stoppedAfter(): number | undefined {
    const { stopRunId = null, runs = 0 } = this.#precision ?? {};
    return stopRunId !== null && runs < this.study.runs ? runs : undefined;
  }

  /** The runs that may still be judged: none after a stop at a precision. */
  get #open(): number {
    return this.stoppedAfter === undefined ? this.study.runs - this.#prefix : 0;
  }

  /** The last computed verdict on a requirement. */
  latest(at: number): DecidedRequirement | undefined {
    return this.#answers[at]?.answer;
  }
}

/**
 * A requirement of a study with scenarios, judged run by run along the complete prefix, on which cells advance together. `each` and `worst`: each cell by
 * two sequential tests. It is met when every cell is met at the level of the requirement, since the least favourable cell alone would have to be met
 * wrongly, and violated when a cell is at that level divided by the number of cells. Both hold at every number of runs, and so at a stop.
 */
import type { Cells } from '../../../domain/scenarios/cells.ts';
import type { StatedRequirement } from '../../../contract/types.ts';
import type { Outcome, ParsedRequirement } from '../requirement.ts';
import { type SequentialState, SequentialVerdict } from '../sequential-verdict.ts';
import { cellWeights, PooledCapital } from './pooled.ts';

type Decided = 'met' | 'violated';
/** A run in the prefix. */
export type TerminalOutcome = Exclude<Outcome, 'open'>;

/** All of its memory, as plain JSON. */
export interface CellsState {
  /** Null while undecided. */
  verdict: Decided | null;
  /** The run that decided. */
  settled_at_run_id: number | null;
  /** Of each cell the test at the level of the requirement, and that at the corrected one; null before its first run. */
  cells?: ([SequentialState, SequentialState] | null)[];
  /** Of a pooled share. */
  pool?: PoolState;
}

interface PoolState {
  capital: [above: number[], below: number[]];
  /** The sample that is in progress. */
  sample: number | null;
  passed: number;
  known: number;
}

/** The cells each alone, or their pooled share: either decides. */
interface Family {
  /** The decision, if this run brings one. */
  take(outcome: TerminalOutcome, runId: number): Decided | null;
  toJSON(): Pick<CellsState, 'cells' | 'pool'>;
}

export class CellsProgress {
  readonly #family: Family;
  #verdict: Decided | null;
  #settledAt: number | null;

  /** `state`: from `toJSON`, to continue after a restart. @throws RangeError when `toJSON` cannot have given the state */
  constructor(
    parsed: ParsedRequirement,
    { in: rule, weights }: Pick<StatedRequirement, 'in' | 'weights'>,
    cells: Cells,
    state?: CellsState,
  ) {
    this.#family =
      rule === 'pooled'
        ? new Pool(parsed, cellWeights(cells, weights), cells, state?.pool)
        : new Each(parsed, cells, state?.cells);
    this.#verdict = state?.verdict ?? null;
    this.#settledAt = state?.settled_at_run_id ?? null;
  }

  /** True once it is decided: later runs are not judged. */
  get isSettled(): boolean {
    return this.#verdict !== null;
  }

  take(outcome: TerminalOutcome, runId: number): void {
    if (this.#verdict !== null) return;
    this.#verdict = this.#family.take(outcome, runId);
    if (this.#verdict !== null) this.#settledAt = runId;
  }

  /** Takes so many further runs whose outcome is unknown. */
  takeUnknown(runs: number, runAt: (at: number) => number): void {
    for (let at = 0; at < runs; at++) this.take('unknown', runAt(at));
  }

  toJSON(): CellsState {
    return { verdict: this.#verdict, settled_at_run_id: this.#settledAt, ...this.#family.toJSON() };
  }
}

class Each implements Family {
  readonly #parsed: ParsedRequirement;
  readonly #cells: Cells;
  /** Made at the first run of a cell, since making one computes when it can decide. */
  readonly #tests: ([SequentialVerdict, SequentialVerdict] | null)[];
  #met = 0;

  constructor(parsed: ParsedRequirement, cells: Cells, states?: CellsState['cells']) {
    if (states !== undefined && states.length !== cells.count)
      throw new RangeError(`the state of ${states.length} cells is not that of a study with ${cells.count}`);
    this.#parsed = parsed;
    this.#cells = cells;
    this.#tests = Array.from({ length: cells.count }, (_, cell) => {
      const its = states?.[cell];
      return its == null ? null : this.#made(its);
    });
    for (const tests of this.#tests) if (tests?.[0].verdict === 'met') this.#met++;
  }

  #made(its?: [SequentialState, SequentialState]): [SequentialVerdict, SequentialVerdict] {
    const { probability, confidence } = this.#parsed;
    const strict = 1 - (1 - confidence) / this.#cells.count;
    return [
      new SequentialVerdict(probability, confidence, its?.[0]),
      new SequentialVerdict(probability, strict, its?.[1]),
    ];
  }

  take(outcome: TerminalOutcome, runId: number): Decided | null {
    const cell = this.#cells.cellOf(runId);
    const [alone, strict] = (this.#tests[cell] ??= this.#made());
    const before = alone.verdict;
    const after = alone.take(outcome, runId);
    if (before !== 'met' && after === 'met') this.#met++;
    if (strict.take(outcome, runId) === 'violated') return 'violated';
    return this.#met === this.#cells.count ? 'met' : null;
  }

  toJSON(): Pick<CellsState, 'cells'> {
    return { cells: this.#tests.map((it) => (it === null ? null : [it[0].toJSON(), it[1].toJSON()])) };
  }
}

/** The pooled share of the samples whose cells are all in the prefix: bets on its mean, which hold after every sample. */
class Pool implements Family {
  readonly #weights: Float64Array;
  readonly #cells: Cells;
  readonly #capital: PooledCapital;
  readonly #goal: number;
  #sample: number | null;
  #passed: number;
  #known: number;

  constructor({ probability, confidence }: ParsedRequirement, weights: Float64Array, cells: Cells, state?: PoolState) {
    this.#weights = weights;
    this.#cells = cells;
    this.#capital = new PooledCapital(probability, state?.capital);
    this.#goal = -Math.log1p(-confidence);
    this.#sample = state?.sample ?? null;
    this.#passed = state?.passed ?? 0;
    this.#known = state?.known ?? 0;
  }

  take(outcome: TerminalOutcome, runId: number): Decided | null {
    const [cell, sample] = [this.#cells.cellOf(runId), this.#cells.sampleOf(runId)];
    // The cells that a batch does not have of a sample are unknown: their weights are not known ones.
    const before = this.#sample !== null && this.#sample !== sample ? this.#end() : null;
    const weight = this.#weights[cell]!;
    this.#sample = sample;
    if (outcome === 'pass' || outcome === 'fail') this.#known += weight;
    if (outcome === 'pass') this.#passed += weight;
    return before ?? (cell === this.#cells.count - 1 ? this.#end() : null);
  }

  #end(): Decided | null {
    this.#capital.take(this.#passed, this.#passed + (1 - this.#known));
    [this.#sample, this.#passed, this.#known] = [null, 0, 0];
    const { above, below } = this.#capital.logs();
    if (above >= this.#goal) return 'met';
    return below >= this.#goal ? 'violated' : null;
  }

  toJSON(): Pick<CellsState, 'pool'> {
    const capital = this.#capital.toJSON();
    return { pool: { capital, sample: this.#sample, passed: this.#passed, known: this.#known } };
  }
}

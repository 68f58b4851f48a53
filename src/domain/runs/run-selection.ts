/**
 * A selection of the runs of a design, in the notation of job arrays: `0-99,150,200-299:2`. Every operation costs in proportion to the
 * ranges, or to their logarithm, whatever the number of runs.
 */
import { cellCount } from '../scenarios/cells.ts';
import type { WithScenarios } from '../scenarios/epistemic.ts';
import {
  appendRun,
  countOf,
  greatestAtMost,
  intersectionOf,
  RangeReader,
  textOf,
  MAX_RANGES,
  type RunRange,
} from './run-ranges.ts';

/** An ascending set of run ids. Immutable; run ids are in [0, 2^31 - 2], indices in [0, count). */
export class RunSelection {
  readonly ranges: readonly RunRange[];
  /** How many runs are selected. */
  readonly count: number;
  /** The index of the first run of each range. */
  readonly #starts: Float64Array;

  /** `ranges` must be ascending and without overlap, each with its exact last run. */
  private constructor(ranges: readonly RunRange[]) {
    this.ranges = ranges;
    this.#starts = new Float64Array(ranges.length);
    let count = 0;
    for (let at = 0; at < ranges.length; at++) {
      this.#starts[at] = count;
      count += countOf(ranges[at]!);
    }
    this.count = count;
  }

  /** The runs from `from` to `to` - 1; none when `to` <= `from`. */
  static between(from: number, to: number): RunSelection {
    return new RunSelection(to > from ? [{ first: from, last: to - 1, step: 1 }] : []);
  }

  /** The runs with these ids, which must ascend. Equal distances become one range. */
  static of(ids: Iterable<number>): RunSelection {
    const ranges: RunRange[] = [];
    for (const id of ids) appendRun(ranges, id);
    return new RunSelection(ranges);
  }

  /** The runs of these ranges, which must be ascending and without overlap, each with its exact last run, as `appendRun` makes them. */
  static ofRanges(ranges: readonly RunRange[]): RunSelection {
    return new RunSelection(ranges);
  }

  /**
   * Reads the notation: run ids and `first-last[:step]`, separated by commas, ascending, without overlap. Returns the fault as a phrase to follow
   * the member's name when the text is not a selection.
   */
  static parse(text: string): RunSelection | string {
    if (text === '') return 'selects no run; name at least one run id, or leave the member out for all runs';
    const reader = new RangeReader(text);
    const ranges: RunRange[] = [];
    let previous = -1;
    while (!reader.atEnd()) {
      const range = reader.next(previous);
      if (typeof range === 'string') return range;
      if (ranges.length === MAX_RANGES) return `must have at most ${MAX_RANGES} parts`;
      ranges.push(range);
      previous = range.last;
    }
    return new RunSelection(ranges);
  }

  /** The run id at an index of the selection. Throws a RangeError outside [0, count). */
  nth(index: number): number {
    if (!(index >= 0 && index < this.count && Number.isInteger(index))) {
      throw new RangeError(`index ${index} is not one of the ${this.count} selected runs`);
    }
    const at = greatestAtMost(this.#starts, index);
    const { first, step } = this.ranges[at]!;
    return first + (index - this.#starts[at]!) * step;
  }

  /** The index of a run id in the selection; undefined when it is not selected. */
  indexOf(runId: number): number | undefined {
    const at = this.#rangeAtOrBefore(runId);
    if (at < 0) return undefined;
    const { first, last, step } = this.ranges[at]!;
    const distance = runId - first;
    return runId <= last && distance % step === 0 ? this.#starts[at]! + distance / step : undefined;
  }

  /** The index of the first selected run with an id of at least `runId`; `count` when there is none. */
  indexFrom(runId: number): number {
    const at = this.#rangeAtOrBefore(runId);
    if (at < 0) return 0;
    const { first, last, step } = this.ranges[at]!;
    const within = runId > last ? countOf(this.ranges[at]!) : Math.ceil((runId - first) / step);
    return this.#starts[at]! + within;
  }

  /** The selected run ids from an index on, ascending. */
  *runIds(from = 0): Generator<number> {
    if (from >= this.count) return;
    let at = greatestAtMost(this.#starts, from);
    let run = this.nth(from);
    while (at < this.ranges.length) {
      const { last, step } = this.ranges[at]!;
      for (; run <= last; run += step) yield run;
      at += 1;
      run = this.ranges[at]?.first ?? 0;
    }
  }

  /** The first `length` runs of the selection, or all when there are fewer. */
  take(length: number): RunSelection {
    if (length >= this.count) return this;
    if (length <= 0) return new RunSelection([]);
    const at = greatestAtMost(this.#starts, length - 1);
    const { first, step } = this.ranges[at]!;
    return new RunSelection([...this.ranges.slice(0, at), { first, last: this.nth(length - 1), step }]);
  }

  /** The selection without its first `length` runs. */
  drop(length: number): RunSelection {
    if (length <= 0) return this;
    if (length >= this.count) return new RunSelection([]);
    const at = greatestAtMost(this.#starts, length);
    const { last, step } = this.ranges[at]!;
    return new RunSelection([{ first: this.nth(length), last, step }, ...this.ranges.slice(at + 1)]);
  }

  /** The runs that both select. */
  intersection(other: RunSelection): RunSelection {
    const ranges: RunRange[] = [];
    for (let a = 0, b = 0; a < this.ranges.length && b < other.ranges.length;) {
      const left = this.ranges[a]!;
      const right = other.ranges[b]!;
      const common = intersectionOf(left, right);
      if (common !== undefined) ranges.push(common);
      if (left.last <= right.last) a += 1;
      else b += 1;
    }
    return new RunSelection(ranges);
  }

  /** The notation that `parse` reads; '' for no run. */
  toString(): string {
    return this.ranges.map(textOf).join(',');
  }

  /** The index of the last range that begins at or before a run; -1 when none does. */
  #rangeAtOrBefore(runId: number): number {
    let low = -1;
    let high = this.ranges.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.ranges[middle]!.first <= runId) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** A design, as far as its runs follow from it. */
export interface SelectedDesign extends WithScenarios {
  monte_carlo: { runs: number; run_ids?: string | null; cell_run_ids?: string };
}

/**
 * The runs that a batch of a valid design holds: those of `run_ids`, or all, and of these the first `cap` when there is a cap; of a study with
 * scenarios in each cell. Throws a RangeError for a `run_ids` that `parse` refuses.
 */
export function selectedRuns({ monte_carlo: design, ...axes }: SelectedDesign, cap?: number | null): RunSelection {
  const { runs, run_ids: runIds, cell_run_ids: cellRunIds } = design;
  const isOfCells = cellRunIds !== undefined;
  const text = isOfCells ? cellRunIds : runIds;
  const selection = typeof text === 'string' ? RunSelection.parse(text) : RunSelection.between(0, runs);
  if (typeof selection === 'string') throw new RangeError(`run_ids ${selection}`);
  const taken = typeof cap === 'number' ? selection.take(cap) : selection;
  const cells = isOfCells ? 1 : cellCount(axes);
  return cells === 1 ? taken : inEveryCell(taken, cells);
}

/** The runs of the selected samples in every cell. */
function inEveryCell({ ranges }: RunSelection, cells: number): RunSelection {
  const all: RunRange[] = [];
  for (const { first, last, step } of ranges) {
    const size = step === 1 ? last - first + 1 : 1;
    for (let at = first; at <= last; at += step === 1 ? size : step)
      all.push({ first: at * cells, last: (at + size) * cells - 1, step: 1 });
  }
  return RunSelection.ofRanges(all);
}

/** The fault of a selection against the design's number of runs, as a phrase; undefined when it is inside. */
export function beyondDesign(selection: RunSelection, runs: number): string | undefined {
  const beyond = selection.ranges.find(({ last }) => last >= runs);
  if (beyond === undefined) return undefined;
  const design = runs === 0 ? 'has no runs' : `has ${runs} ${runs === 1 ? 'run' : 'runs'} (0 to ${runs - 1})`;
  return `has the part "${textOf(beyond)}", but the design ${design}; select runs of the design, or raise monte_carlo.runs`;
}

/** The runs that an existing batch holds, of which there are `total`. An extended study of rare events has more than the `runs` of its design. */
export const runsHeld = (config: SelectedDesign, total: number): RunSelection =>
  typeof (config.monte_carlo.cell_run_ids ?? config.monte_carlo.run_ids) === 'string'
    ? selectedRuns(config).take(total)
    : RunSelection.between(0, total);

/**
 * The pooled share of a requirement over the cells: for each sample the weights of the cells that it passes, Z = sum w_c pass_c in [0, 1], which are
 * independent from sample to sample although the cells of a sample are not. Bounds of their mean by betting: for a candidate mean m of V = 1 - Z the average over fixed
 * stakes b of prod (1 + b (V_i - m)) is a martingale that begins at 1 (Ville 1939; Waudby-Smith and Ramdas, JRSS B 86 (2024) 1).
 */
import type { RunTable, TableCells } from '../../table/run-table.ts';
import { runIdOf, statisticRows } from '../../table/run-table.ts';
import { type Cells, type Weights, weightsOf } from '../../../domain/scenarios/cells.ts';
import type { Outcome } from '../requirement.ts';

/** Values in [0, 1] with the number of times that each occurs. */
export class CountedValues {
  readonly #counts = new Map<number, number>();
  count = 0;
  sum = 0;

  add(value: number, times = 1): void {
    const rounded = shareOf(value);
    this.#counts.set(rounded, (this.#counts.get(rounded) ?? 0) + times);
    this.count += times;
    this.sum += rounded * times;
  }

  /** ln of the capital of bets that the mean is above m. */
  above(m: number): number {
    return this.#capital(
      STAKES.map((stake) => stake / m),
      m,
    );
  }

  /** ln of the capital of bets that the mean is below m. */
  below(m: number): number {
    return this.#capital(
      STAKES.map((stake) => -stake / (1 - m)),
      m,
    );
  }

  #capital(bets: readonly number[], m: number): number {
    const logs = bets.map((bet) => {
      let sum = 0;
      for (const [value, count] of this.#counts) sum += count * Math.log1p(bet * (value - m));
      return sum;
    });
    return logMean(logs);
  }
}

/** Sums of the same weights in another order are one value, and never beyond 1. */
const shareOf = (value: number): number => Math.min(1, Math.max(0, Math.round(value * 1e12) / 1e12));

/** The logarithm of the average of numbers that are given as logarithms. */
function logMean(logs: readonly number[]): number {
  const top = Math.max(...logs);
  return top + Math.log(logs.reduce((sum, it) => sum + Math.exp(it - top), 0) / logs.length);
}

/** The capital of bets that a mean is above, and below, one place, sample after sample: each exceeds 1 / a with a chance of a at most, whenever one looks. */
export class PooledCapital {
  readonly #m: number;
  readonly #logs: [above: number[], below: number[]];

  /** `logs`: from `toJSON`, to continue after a restart. */
  constructor(m: number, logs?: [above: number[], below: number[]]) {
    this.#m = m;
    this.#logs = logs ?? [STAKES.map(() => 0), STAKES.map(() => 0)];
  }

  /** Takes the shares of a sample: with its unknown cells failed, and with them passed. */
  take(least: number, greatest: number): void {
    const m = this.#m;
    const [below, above] = [shareOf(greatest) - m, shareOf(least) - m];
    for (const [at, stake] of STAKES.entries()) {
      this.#logs[0][at]! += Math.log1p((stake / m) * above);
      this.#logs[1][at]! += Math.log1p((-stake / (1 - m)) * below);
    }
  }

  /** ln of both. */
  logs(): { above: number; below: number } {
    return { above: logMean(this.#logs[0]), below: logMean(this.#logs[1]) };
  }

  toJSON(): [above: number[], below: number[]] {
    return this.#logs;
  }
}

/** Stakes as shares of the largest that cannot lose everything: small ones for many samples, large ones for few. */
const STAKES = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95];
/** Halvings of [0, 1]. */
const STEPS = 50;

/** The lower bound of the mean, below which it is with a chance of 1 - confidence at most. */
export function lowerMean(values: CountedValues, confidence: number): number {
  const goal = -Math.log1p(-confidence);
  if (values.sum === 0) return 0;
  return bisect((m) => values.above(m) >= goal, 0, values.sum / values.count);
}

/** Samples beyond this number are not planned. */
const MOST_SAMPLES = 2 ** 40;

/** The least number of samples that show a pooled share of `probability` when `failures` of them fail in every cell; null: more than can be computed. */
export function samplesToMet(failures: number, probability: number, confidence: number): number | null {
  const isMet = (samples: number): boolean => {
    const values = new CountedValues();
    values.add(0, failures);
    values.add(1, samples - failures);
    return lowerMean(values, confidence) >= probability;
  };
  let [low, high] = [failures, failures + 1];
  while (!isMet(high)) {
    if (high > MOST_SAMPLES) return null;
    [low, high] = [high, 2 * high];
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isMet(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The upper bound, likewise. */
export function upperMean(values: CountedValues, confidence: number): number {
  const goal = -Math.log1p(-confidence);
  if (values.sum === values.count) return 1;
  return 1 - bisect((m) => values.below(1 - m) >= goal, 0, 1 - values.sum / values.count);
}

/** The greatest place below which the test holds, rounded down. */
function bisect(holds: (m: number) => boolean, low: number, high: number): number {
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (middle > 0 && middle < 1 && holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

export interface PooledShares {
  /** An unknown cell counts as failed. */
  least: CountedValues;
  /** An unknown cell counts as passed. */
  greatest: CountedValues;
  /** The samples whose cells are all known. */
  known: CountedValues;
  /** Samples with an open cell, which no bound uses. */
  open: number;
}

/** The weights of the cells, which sum to 1. */
export function cellWeights(cells: Cells, given: Weights = {}): Float64Array {
  const weights = weightsOf(cells, given);
  const sum = weights.reduce((all, it) => all + it, 0);
  return weights.map((it) => it / sum);
}

/** The shares of all samples. A cell of a sample that the table does not have is unknown. `outcomeOf`: of a row. */
export function pooledShares(
  table: RunTable,
  of: TableCells,
  weights: Float64Array,
  outcomeOf: (row: number) => Outcome,
): PooledShares {
  const shares: PooledShares = {
    least: new CountedValues(),
    greatest: new CountedValues(),
    known: new CountedValues(),
    open: 0,
  };
  let [passed, seen, known, isOpen] = [0, 0, 0, false];
  const end = (): void => {
    if (isOpen) shares.open++;
    else {
      shares.least.add(passed);
      shares.greatest.add(passed + (1 - known));
      if (seen === of.cells.count && 1 - known < 1e-12) shares.known.add(passed);
    }
    [passed, seen, known, isOpen] = [0, 0, 0, false];
  };
  const keyOf = (row: number): number =>
    (table.replicates?.[row] ?? 0) * 2 ** 32 + of.cells.sampleOf(runIdOf(table, row));
  const rows = statisticRows(table);
  for (let row = 0; row < rows; row++) {
    if (row > 0 && keyOf(row) !== keyOf(row - 1)) end();
    const weight = weights[of.cells.cellOf(runIdOf(table, row))]!;
    const outcome = outcomeOf(row);
    seen++;
    if (outcome === 'open') isOpen = true;
    if (outcome === 'pass' || outcome === 'fail') known += weight;
    if (outcome === 'pass') passed += weight;
  }
  if (table.settledRows !== undefined) {
    // The sample in which the study stopped has cells that were cancelled, which says nothing about them.
    if (seen === of.cells.count) end();
    return shares;
  }
  if (rows > 0) end();
  // The runs after the rows are whole samples but for the last, in which the rows end.
  const { runs = 0, class: absent } = table.absent ?? {};
  const rest = Math.ceil(runs / of.cells.count);
  if (absent === 'open') shares.open += rest;
  else
    for (let at = 0; at < rest; at++) {
      shares.least.add(0);
      shares.greatest.add(1);
    }
  return shares;
}

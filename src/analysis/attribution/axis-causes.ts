/**
 * Which levels of scenarios go with failures. Cells have the same random numbers, so that a level is compared with the others within each sample, in cells
 * that are alike in the other axes: skipped cells confound nothing, and one difference for each sample is an independent observation.
 */
import type { StudyAttribution } from '../../contract/types.ts';
import { holm } from '../numeric/holm.ts';
import { PooledCapital } from '../requirements/cells/pooled.ts';
import { type RunTable, type TableCells, runIdOf } from '../table/run-table.ts';
import { percent, shareInPercent } from '../wording.ts';
import { FAILING, IN_NEITHER, LEAST_GROUP } from './attribution.ts';

export type AttributedLevel = NonNullable<StudyAttribution['levels']>[number];

/** A level with what its runs show so far. */
class LevelCount {
  readonly axis: string;
  readonly level: string;
  failing = 0;
  of = 0;
  samples = 0;
  /** Sum of the differences. */
  sum = 0;
  /** Bets that the mean of (1 + difference) / 2 is not 1/2. */
  readonly #capital = new PooledCapital(0.5);

  constructor(axis: string, level: string) {
    this.axis = axis;
    this.level = level;
  }

  take(difference: number): void {
    this.samples += 1;
    this.sum += difference;
    const share = (1 + difference) / 2;
    // No difference changes no capital.
    if (difference !== 0) this.#capital.take(share, share);
  }

  /** By Markov's inequality: the mean of two capitals, which are 1 at most on average where a level has no influence on the share that fails. */
  get p(): number {
    const { above, below } = this.#capital.logs();
    const top = Math.max(above, below);
    return Math.min(1, Math.exp(Math.LN2 - top - Math.log(Math.exp(above - top) + Math.exp(below - top))));
  }
}

/** The levels of all axes, those told apart first; none below five runs in either group. `groups`: of each row. */
export function axisCauses(
  table: RunTable,
  { cells }: TableCells,
  groups: Int8Array,
  confidence: number,
): AttributedLevel[] {
  const counts = cells.axes.map(({ name, levels }) => levels.map((level) => new LevelCount(name, level)));
  const comparisons = counts.map((levels, axis) => new Comparison(cells, axis, levels));
  const outcomes = new Int8Array(cells.count).fill(IN_NEITHER);
  let [failing, grouped] = [0, 0];
  const end = (): void => {
    for (const it of comparisons) it.take(outcomes);
    outcomes.fill(IN_NEITHER);
  };
  const keyOf = (row: number): number => (table.replicates?.[row] ?? 0) * 2 ** 32 + cells.sampleOf(runIdOf(table, row));
  for (let row = 0; row < table.rows; row++) {
    if (row > 0 && keyOf(row) !== keyOf(row - 1)) end();
    const group = groups[row]!;
    if (group === IN_NEITHER) continue;
    const cell = cells.cellOf(runIdOf(table, row));
    outcomes[cell] = group;
    const fails = Number(group === FAILING);
    for (const [axis, levels] of counts.entries()) {
      const count = levels[cells.placeOf(cell, axis)]!;
      count.of += 1;
      count.failing += fails;
    }
    grouped += 1;
    failing += fails;
  }
  if (table.rows > 0) end();
  if (failing < LEAST_GROUP || grouped - failing < LEAST_GROUP) return [];
  const all = counts.flat();
  const adjusted = holm(all.map(({ p }) => p));
  return all
    .map((it, at) => answerOf(it, adjusted[at]!, confidence, { failing, grouped }))
    .sort((a, b) => Number(b.told_apart) - Number(a.told_apart) || (b.difference ?? 0) - (a.difference ?? 0));
}

function answerOf(
  count: LevelCount,
  p_holm: number,
  confidence: number,
  all: { failing: number; grouped: number },
): AttributedLevel {
  const { axis, level, failing, of, samples, p } = count;
  const difference = samples === 0 ? null : count.sum / samples;
  const base = `${axis} = ${level}: ${failing} of ${all.failing} failures, in ${percent(of / all.grouped)} of the runs`;
  const often = difference !== null && difference > 0 ? 'more' : 'less';
  const sentence =
    difference === null || difference === 0
      ? base
      : `${base}, ${percentagePoints(Math.abs(difference))} ${often} often than with the other levels`;
  return { axis, level, failing, of, difference, p, p_holm, told_apart: p_holm <= 1 - confidence, sentence };
}

const percentagePoints = (share: number): string => shareInPercent(share).replace(' %', ' percentage points');

/** The comparison of the levels of one axis in a sample. */
class Comparison {
  readonly #counts: readonly LevelCount[];
  /** The cells that are alike in the other axes, with their places on this one. */
  readonly #alike: readonly (readonly [cell: number, place: number])[][];
  readonly #sums: Float64Array;
  readonly #compared: Uint32Array;

  constructor(cells: TableCells['cells'], axis: number, counts: readonly LevelCount[]) {
    const alike = new Map<string, [number, number][]>();
    const others = cells.axes.map((_, it) => it).filter((it) => it !== axis);
    for (let cell = 0; cell < cells.count; cell++) {
      const key = others.map((it) => cells.placeOf(cell, it)).join();
      const its = alike.get(key) ?? [];
      alike.set(key, its);
      its.push([cell, cells.placeOf(cell, axis)]);
    }
    this.#counts = counts;
    this.#alike = [...alike.values()].filter((it) => it.length > 1);
    this.#sums = new Float64Array(counts.length);
    this.#compared = new Uint32Array(counts.length);
  }

  take(outcomes: Int8Array): void {
    this.#sums.fill(0);
    this.#compared.fill(0);
    for (const cells of this.#alike) {
      const known = cells.filter(([cell]) => outcomes[cell] !== IN_NEITHER);
      if (known.length < 2) continue;
      const failing = known.reduce((sum, [cell]) => sum + outcomes[cell]!, 0);
      for (const [cell, place] of known) {
        const fails = outcomes[cell]!;
        this.#sums[place]! += fails - (failing - fails) / (known.length - 1);
        this.#compared[place]! += 1;
      }
    }
    for (const [place, count] of this.#counts.entries())
      if (this.#compared[place]! > 0) count.take(this.#sums[place]! / this.#compared[place]!);
  }
}

const MOST_NAMED = 3;

/** The levels that more runs fail with, in words; undefined where none is told apart. */
export function levelsSentence(levels: readonly AttributedLevel[]): string | undefined {
  const named = levels.filter((it) => it.told_apart && it.difference !== null && it.difference > 0);
  if (named.length === 0) return undefined;
  const more = named.length > MOST_NAMED ? [`${named.length - MOST_NAMED} more levels differ`] : [];
  return `by scenario, ${[...named.slice(0, MOST_NAMED).map((it) => it.sentence), ...more].join('; ')}`;
}

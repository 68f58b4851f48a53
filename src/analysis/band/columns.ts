/** The values of all runs at one point after the other, in order: the input of statistics at a point, sorted once for all of them. */
import { NumberSorter } from '../numeric/sorting.ts';
import { type CurveBlock, type CurveRuns, isEven } from './curves.ts';

/** The values at a point. The arrays are overwritten by those of the next point. */
export interface CurveColumn {
  readonly point: number;
  /** In the order of the runs; NaN where a run has none. */
  readonly values: Float64Array;
  /** The values without NaN, ascending. */
  readonly sorted: Float64Array;
  /** The sorted values of the runs with an even id. */
  readonly even: Float64Array;
}

/** Doubles that are copied at once, of up to so many points: what the cache of a processor holds. */
const TILE_VALUES = 262_144;
const TILE_POINTS = 16;

/** Yields the columns of blocks. Memory: a tile, and four columns. */
export class CurveColumns {
  readonly #rows: number;
  /** 1 for the rows of runs with an even id. */
  readonly #isEven: Uint8Array;
  readonly #tile: Float64Array;
  readonly #width: number;
  readonly #even: Float64Array;
  readonly #odd: Float64Array;
  readonly #sorted: Float64Array;
  readonly #sorter: NumberSorter;

  constructor({ runIds }: CurveRuns) {
    this.#rows = runIds.length;
    this.#isEven = Uint8Array.from(runIds, (it) => Number(isEven(it)));
    const evens = this.#isEven.reduce((sum, flag) => sum + flag, 0);
    this.#width = Math.max(1, Math.min(TILE_POINTS, Math.floor(TILE_VALUES / Math.max(1, this.#rows))));
    this.#tile = new Float64Array(this.#width * this.#rows);
    this.#even = new Float64Array(evens);
    this.#odd = new Float64Array(this.#rows - evens);
    this.#sorted = new Float64Array(this.#rows);
    this.#sorter = new NumberSorter(Math.max(evens, this.#rows - evens));
  }

  *of(block: CurveBlock): Generator<CurveColumn> {
    const rows = this.#rows;
    for (let from = 0; from < block.width; from += this.#width) {
      const width = Math.min(this.#width, block.width - from);
      this.#transpose(block, from, width);
      for (let at = 0; at < width; at++)
        yield this.#column(block.from + from + at, this.#tile.subarray(at * rows, (at + 1) * rows));
    }
  }

  /** Neighbouring points of a run are read together: one by one each would be a miss of the cache. */
  #transpose({ values, width }: CurveBlock, from: number, count: number): void {
    const [tile, rows] = [this.#tile, this.#rows];
    for (let row = 0; row < rows; row++) {
      const start = row * width + from;
      for (let at = 0; at < count; at++) tile[at * rows + row] = values[start + at]!;
    }
  }

  #column(point: number, values: Float64Array): CurveColumn {
    const [flags, evens, odds] = [this.#isEven, this.#even, this.#odd];
    let [even, odd] = [0, 0];
    for (let row = 0; row < values.length; row++) {
      const value = values[row]!;
      if (Number.isNaN(value)) continue;
      if (flags[row] === 1) evens[even++] = value;
      else odds[odd++] = value;
    }
    const halves = [this.#sorter.sort(evens.subarray(0, even)), this.#sorter.sort(odds.subarray(0, odd))] as const;
    return { point, values, sorted: merged(...halves, this.#sorted.subarray(0, even + odd)), even: halves[0] };
  }
}

/** Merges two ascending arrays as a sort of all would: -0 before 0. */
function merged(first: Float64Array, second: Float64Array, target: Float64Array): Float64Array {
  let [i, j] = [0, 0];
  for (let at = 0; at < target.length; at++) {
    if (j === second.length) target[at] = first[i++]!;
    else if (i === first.length) target[at] = second[j++]!;
    else {
      // Destructuring makes an array for each value.
      const a = first[i]!;
      const b = second[j]!;
      if (a < b || (a === b && (a !== 0 || Object.is(a, -0)))) {
        target[at] = a;
        i++;
      } else {
        target[at] = b;
        j++;
      }
    }
  }
  return target;
}

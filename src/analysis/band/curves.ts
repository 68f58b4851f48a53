/** Curves of runs as a matrix of values: the input of every band. */

/** The runs of a band. Half of them, those with an even run id, give the centre of a tolerance band; the others are measured against it. */
export interface CurveRuns {
  /** Ids of the completed runs, one a row of the matrix. */
  readonly runIds: Uint32Array;
  /** The runs whose values are unknown: they failed, or could not be read. */
  readonly unknown: { readonly even: number; readonly odd: number };
}

/** The curves of runs at common points, read in blocks of points so that memory is bounded. */
export interface Curves {
  readonly runs: CurveRuns;
  /** Number of points of every curve. */
  readonly points: number;
  /**
   * The values at the points from `from` to before `to`, row after row: `(to - from)` doubles a run. NaN: the run has no value there.
   * @throws Error where the values cannot be read
   */
  read(from: number, to: number): Float64Array | Promise<Float64Array>;
}

/** A block of consecutive points. */
export interface CurveBlock {
  /** The first point. */
  readonly from: number;
  /** Number of points. */
  readonly width: number;
  /** `width` values a run, row after row. */
  readonly values: Float64Array;
}

/** Doubles that are in memory at once: 10,000 runs of 500 points. */
export const BLOCK_VALUES = 5_000_000;

/** How many points a block may have. */
export const blockWidth = (runs: number, points: number, most = BLOCK_VALUES): number =>
  Math.max(1, Math.min(points, Math.floor(most / Math.max(1, runs))));

/** The blocks of a matrix, in the order of points. A matrix of one block is read once, however often it is gone through. */
export class CurveBlocks {
  readonly #curves: Curves;
  readonly #width: number;
  #only?: CurveBlock;

  /** @param most doubles that are in memory at once */
  constructor(curves: Curves, most = BLOCK_VALUES) {
    this.#curves = curves;
    this.#width = blockWidth(curves.runs.runIds.length, curves.points, most);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CurveBlock> {
    const { points } = this.#curves;
    for (let from = 0; from < points; from += this.#width) {
      const width = Math.min(this.#width, points - from);
      const block = this.#only ?? { from, width, values: await this.#curves.read(from, from + width) };
      if (width === points) this.#only = block;
      yield block;
    }
  }
}

/** By the run id alone, and not by any result. */
export const isEven = (runId: number): boolean => runId % 2 === 0;

/** The rows that have a value at any point of the blocks that were taken. */
export class ValuedRows {
  /** 1 for such a row. */
  readonly flags: Uint8Array;

  constructor({ runIds }: CurveRuns) {
    this.flags = new Uint8Array(runIds.length);
  }

  take({ width, values }: CurveBlock): void {
    for (let row = 0; row < this.flags.length; row++) {
      for (let at = row * width; this.flags[row] === 0 && at < (row + 1) * width; at++) {
        if (!Number.isNaN(values[at]!)) this.flags[row] = 1;
      }
    }
  }
}

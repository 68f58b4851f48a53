/** The records of selected runs of one history, from the batches that have them, in the order of the selection. */
import { type HistoryBlock, historyBlocks } from './blocks.ts';

/** The records of a batch, and the replicate of its runs. */
export interface HistorySource {
  next: () => Promise<Uint8Array | null>;
  replicate: number;
}

/** Run `runs[i]` is of the source at `places[i]`. Runs of one source are ascending. */
export interface RunSelection {
  places: Uint16Array;
  runs: Uint32Array;
}

/** Values of a block: about a megabyte. */
const BLOCK_VALUES = 131_072;

/** Yields the selected runs that left a record, `points` values each. */
export async function* selectedBlocks(
  sources: readonly HistorySource[],
  { places, runs }: RunSelection,
  points: number,
): AsyncGenerator<HistoryBlock> {
  const cursors = sources.map(({ next }) => new Cursor(historyBlocks(next, points), points));
  const capacity = Math.max(1, Math.floor(BLOCK_VALUES / points));
  let block = emptyBlock(capacity, points);
  let rows = 0;
  try {
    for (const [at, run] of runs.entries()) {
      const cursor = cursors[places[at]!]!;
      const values = cursor.seek(run) ?? (await cursor.read(run));
      if (values === undefined) continue;
      block.runs[rows] = run;
      block.replicates[rows] = sources[places[at]!]!.replicate;
      block.values.set(values, rows * points);
      rows += 1;
      if (rows < capacity) continue;
      yield block;
      block = emptyBlock(capacity, points);
      rows = 0;
    }
  } finally {
    for (const it of cursors) await it.close();
  }
  if (rows === 0) return;
  yield {
    runs: block.runs.subarray(0, rows),
    replicates: block.replicates.subarray(0, rows),
    values: block.values.subarray(0, rows * points),
  };
}

const emptyBlock = (rows: number, points: number): Required<HistoryBlock> => ({
  runs: new Uint32Array(rows),
  replicates: new Uint32Array(rows),
  values: new Float64Array(rows * points),
});

/** The records of a source, read as far as the run that was asked for last. */
class Cursor {
  readonly #blocks: AsyncGenerator<HistoryBlock>;
  readonly #points: number;
  #block: HistoryBlock | undefined;
  #at = 0;

  constructor(blocks: AsyncGenerator<HistoryBlock>, points: number) {
    this.#blocks = blocks;
    this.#points = points;
  }

  /** The values of a run within the block at hand; undefined where it has none, or is not in this block. */
  seek(run: number): Float64Array | undefined {
    if (this.#block === undefined) return undefined;
    const { runs, values } = this.#block;
    while (this.#at < runs.length && runs[this.#at]! < run) this.#at += 1;
    if (runs[this.#at] !== run) return undefined;
    return values.subarray(this.#at * this.#points, (this.#at + 1) * this.#points);
  }

  /** Reads on to the block that has the run, or would have it. */
  async read(run: number): Promise<Float64Array | undefined> {
    while (this.#block === undefined || this.#at === this.#block.runs.length) {
      const step = await this.#blocks.next();
      if (step.done === true) return undefined;
      this.#block = step.value;
      this.#at = 0;
      const found = this.seek(run);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async close(): Promise<void> {
    await this.#blocks.return(undefined);
  }
}

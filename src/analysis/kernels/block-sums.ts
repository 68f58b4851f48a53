/** Sums of eight columns of integers over blocks of rows that each of many partitions assigns, in one pass over the rows. */
import {
  type Code,
  type Kernel,
  type KernelFunction,
  assemble,
  get,
  i32,
  i32x4,
  loopWhile,
  seq,
  set,
  v128,
} from './assembler.ts';

/** Columns that are summed together. */
export const COLUMNS = 8;
/** Partitions in one pass of the kernel. */
const MOST_WIDTH = 8;
/** Rows that are copied into the memory of the kernel at a time. */
const TILE_ROWS = 8192;
const INT_BYTES = 4;
const INDEX_BYTES = 2;
const ROW_BYTES = COLUMNS * INT_BYTES;
const HALF_ROW = ROW_BYTES / 2;
const ROW_SHIFT = Math.log2(ROW_BYTES);

/** Up to eight partitions: the block of row r in partition p at r * width + p. */
interface Slice {
  width: number;
  indices: Uint16Array;
}

/** Where the parts of the memory begin. */
interface Places {
  columns: number;
  indices: number;
  sums: number;
}

// Parameters and locals of a kernel: where the rows end, and the sums of the slice.
const [ROWS_END, SUMS] = [0, 1];
const [ROW, INDEX, SUM] = [2, 3, 4];
const [LEFT, RIGHT] = [5, 6];

/** Adds both halves of a row to the sums of its block in each partition of the slice. */
function sumKernel(width: number, blocks: number, places: Places): KernelFunction {
  const addTo = (partition: number): Code => {
    const at = partition * blocks * ROW_BYTES;
    return [
      ...seq(get(INDEX), i32.load16Unsigned(partition * INDEX_BYTES)),
      ...seq(i32.const(ROW_SHIFT), i32.shl, get(SUMS), i32.add, set(SUM)),
      ...seq(get(SUM), get(SUM), v128.load(at), get(LEFT), i32x4.add, v128.store(at)),
      ...seq(get(SUM), get(SUM), v128.load(at + HALF_ROW), get(RIGHT), i32x4.add, v128.store(at + HALF_ROW)),
    ];
  };
  const body: Code = [
    ...seq(i32.const(places.columns), set(ROW)),
    ...seq(i32.const(places.indices), set(INDEX)),
    ...loopWhile(
      [...get(ROW), ...get(ROWS_END), ...i32.lessUnsigned],
      [
        ...seq(get(ROW), v128.load(0), set(LEFT)),
        ...seq(get(ROW), v128.load(HALF_ROW), set(RIGHT)),
        ...Array.from({ length: width }, (_, partition) => addTo(partition)).flat(),
        ...seq(get(ROW), i32.const(ROW_BYTES), i32.add, set(ROW)),
        ...seq(get(INDEX), i32.const(width * INDEX_BYTES), i32.add, set(INDEX)),
      ],
    ),
  ];
  return { parameters: 2, locals: { i32: 3, v128: 2 }, body };
}

/**
 * The memory beside the columns is 2 bytes per row and partition, and 64 KB per partition for 2048 blocks.
 * WebAssembly with vectors adds eight columns in the time in which JavaScript adds two.
 */
export class BlockSums {
  /** The sum of column c over block b of partition p: at (p blocks + b) 8 + c. */
  readonly sums: Int32Array;
  readonly #rows: number;
  readonly #blocks: number;
  readonly #slices: readonly Slice[];
  readonly #places: Places;
  readonly #memory: ArrayBuffer;
  readonly #kernel: Kernel<string> | undefined;

  /**
   * `partition` p assigns one of `blocks` to every row. `vectors`: false computes without WebAssembly, as platforms do that lack it.
   */
  constructor(
    { rows, blocks, partitions }: { rows: number; blocks: number; partitions: number },
    partition: (p: number) => Uint16Array,
    { vectors = true }: { vectors?: boolean } = {},
  ) {
    this.#rows = rows;
    this.#blocks = blocks;
    this.#slices = slicesOf(rows, partitions, partition);
    const indices = TILE_ROWS * ROW_BYTES;
    const sums = indices + TILE_ROWS * MOST_WIDTH * INDEX_BYTES;
    this.#places = { columns: 0, indices, sums };
    const bytes = sums + partitions * blocks * ROW_BYTES;
    const widths = [...new Set(this.#slices.map((it) => it.width))];
    const kernels = Object.fromEntries(widths.map((it) => [nameOf(it), sumKernel(it, blocks, this.#places)]));
    this.#kernel = vectors ? assemble(kernels, bytes) : undefined;
    this.#memory = this.#kernel?.memory ?? new ArrayBuffer(bytes);
    this.sums = new Int32Array(this.#memory, sums, partitions * blocks * COLUMNS);
  }

  /** Sets `sums`. Each of the eight columns has as many rows as the partitions; no sum may leave the range of an int32. */
  add(columns: readonly Int32Array[]): void {
    this.sums.fill(0);
    const tile = new Int32Array(this.#memory, this.#places.columns, TILE_ROWS * COLUMNS);
    for (let from = 0; from < this.#rows; from += TILE_ROWS) {
      const count = Math.min(TILE_ROWS, this.#rows - from);
      interleave(columns, from, count, tile);
      let first = 0;
      for (const slice of this.#slices) {
        this.#addSlice(slice, first, from, count, tile);
        first += slice.width;
      }
    }
  }

  #addSlice({ width, indices }: Slice, first: number, from: number, count: number, tile: Int32Array): void {
    const taken = indices.subarray(from * width, (from + count) * width);
    if (this.#kernel !== undefined) {
      new Uint16Array(this.#memory, this.#places.indices).set(taken);
      const sums = this.#places.sums + first * this.#blocks * ROW_BYTES;
      this.#kernel.functions[nameOf(width)]!(count * ROW_BYTES, sums);
      return;
    }
    for (let row = 0; row < count; row++) {
      for (let p = 0; p < width; p++) {
        const at = ((first + p) * this.#blocks + taken[row * width + p]!) * COLUMNS;
        for (let c = 0; c < COLUMNS; c++) this.sums[at + c] = this.sums[at + c]! + tile[row * COLUMNS + c]!;
      }
    }
  }
}

const nameOf = (width: number): string => `sum${width}`;

/** Slices of nearly equal width, at most eight partitions each. */
function slicesOf(rows: number, partitions: number, partition: (p: number) => Uint16Array): Slice[] {
  const count = Math.ceil(partitions / MOST_WIDTH);
  return Array.from({ length: count }, (_, at): Slice => {
    const first = Math.floor((at * partitions) / count);
    const width = Math.floor(((at + 1) * partitions) / count) - first;
    const indices = new Uint16Array(rows * width);
    for (let p = 0; p < width; p++) {
      const blocks = partition(first + p);
      for (let row = 0; row < rows; row++) indices[row * width + p] = blocks[row]!;
    }
    return { width, indices };
  });
}

function interleave(columns: readonly Int32Array[], from: number, count: number, tile: Int32Array): void {
  columns.forEach((column, c) => {
    for (let row = 0; row < count; row++) tile[row * COLUMNS + c] = column[from + row]!;
  });
}

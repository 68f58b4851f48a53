/** Numbers in ascending order, of which further ones are added one at a time. */

/** Values of a full block; it is then split into two halves. */
const BLOCK = 1024;

interface Block {
  values: Float64Array;
  count: number;
}

/** A list of sorted blocks: adding a value moves at most a block, and reading one by its rank passes the blocks before it. */
export class SortedValues {
  readonly #blocks: Block[] = [{ values: new Float64Array(BLOCK), count: 0 }];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** `value` is not NaN. */
  add(value: number): void {
    const at = this.#blockOf(value);
    const block = this.#blocks[at]!;
    const place = placeOf(block, value);
    block.values.copyWithin(place + 1, place, block.count);
    block.values[place] = value;
    block.count++;
    this.#count++;
    if (block.count === BLOCK) this.#split(at);
  }

  /** The k-th smallest value, k from 1 to `count`. */
  at(k: number): number {
    let rest = k - 1;
    let place = 0;
    while (rest >= this.#blocks[place]!.count) rest -= this.#blocks[place++]!.count;
    return this.#blocks[place]!.values[rest]!;
  }

  /** The last block whose first value is not above `value`; the first block where there is none. */
  #blockOf(value: number): number {
    let [low, high] = [0, this.#blocks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#blocks[middle]!.values[0]! <= value) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #split(at: number): void {
    const block = this.#blocks[at]!;
    const half = BLOCK / 2;
    const values = new Float64Array(BLOCK);
    values.set(block.values.subarray(half));
    block.count = half;
    this.#blocks.splice(at + 1, 0, { values, count: BLOCK - half });
  }
}

/** The place of the first value of the block that is above `value`. */
function placeOf({ values, count }: Block, value: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

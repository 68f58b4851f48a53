/** Ascending order of many numbers in linear time where they are spread, as `Float64Array.prototype.sort` has it to the bit. */

/** Fewer are sorted by the engine. */
const LEAST = 64;
/** A bucket with more is sorted by the engine. */
const MOST_IN_BUCKET = 24;
const MOST_BUCKETS = 65_536;

/** Puts numbers into buckets by their size, and orders these. Keeps its memory from one array to the next. */
export class NumberSorter {
  readonly #copy: Float64Array;
  readonly #bucketOf: Uint16Array;
  readonly #ends: Uint32Array;

  /** @param most numbers that are sorted at once */
  constructor(most: number) {
    this.#copy = new Float64Array(most);
    this.#bucketOf = new Uint16Array(most);
    this.#ends = new Uint32Array(Math.min(most, MOST_BUCKETS));
  }

  /** Sorts in place and returns the array. @param values without NaN */
  sort(values: Float64Array): Float64Array {
    const n = values.length;
    if (n < LEAST) return values.sort();
    const least = leastOf(values);
    const range = greatestOf(values) - least;
    const buckets = Math.min(n, MOST_BUCKETS);
    const scale = (buckets - 1) / range;
    // An infinite value, equal ones, or differences too small for a scale.
    if (!Number.isFinite(range) || !Number.isFinite(scale) || hasNegativeZero(values)) return values.sort();
    const copy = this.#copy.subarray(0, n);
    this.#distribute(values, copy, { least, scale, buckets });
    this.#orderBuckets(copy, buckets);
    insertionSort(copy);
    values.set(copy);
    return values;
  }

  /** Copies each value to its bucket. The bucket grows with the value, since rounding keeps the order. */
  #distribute(
    values: Float64Array,
    copy: Float64Array,
    { least, scale, buckets }: { least: number; scale: number; buckets: number },
  ): void {
    const [bucketOf, ends] = [this.#bucketOf, this.#ends.fill(0, 0, buckets)];
    for (let i = 0; i < values.length; i++) {
      const bucket = Math.floor((values[i]! - least) * scale);
      bucketOf[i] = bucket;
      ends[bucket]!++;
    }
    for (let bucket = 1; bucket < buckets; bucket++) ends[bucket]! += ends[bucket - 1]!;
    // From the last value on, each end becomes the start of its bucket.
    for (let i = values.length - 1; i >= 0; i--) copy[--ends[bucketOf[i]!]!] = values[i]!;
  }

  #orderBuckets(copy: Float64Array, buckets: number): void {
    for (let bucket = 0; bucket < buckets; bucket++) {
      const start = this.#ends[bucket]!;
      const end = bucket + 1 < buckets ? this.#ends[bucket + 1]! : copy.length;
      if (end - start > MOST_IN_BUCKET) copy.subarray(start, end).sort();
    }
  }
}

/** It is before 0, which no comparison says. */
function hasNegativeZero(values: Float64Array): boolean {
  for (let i = 0; i < values.length; i++) if (values[i] === 0 && Object.is(values[i], -0)) return true;
  return false;
}

function leastOf(values: Float64Array): number {
  let least = Infinity;
  for (let i = 0; i < values.length; i++) if (values[i]! < least) least = values[i]!;
  return least;
}

function greatestOf(values: Float64Array): number {
  let greatest = -Infinity;
  for (let i = 0; i < values.length; i++) if (values[i]! > greatest) greatest = values[i]!;
  return greatest;
}

/** In linear time where every number is near its place. */
function insertionSort(values: Float64Array): void {
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!;
    let at = i;
    for (; at > 0 && values[at - 1]! > value; at--) values[at] = values[at - 1]!;
    values[at] = value;
  }
}

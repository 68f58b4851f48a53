/** The stable ascending order of a column of numbers: the one sort that ranks, indices and intervals share. */

/** Below this length a comparison sort is faster than the passes of the radix sort. */
const SMALL = 512;
const DIGIT_BITS = 11;
const BUCKETS = 2 ** DIGIT_BITS;
const DIGITS_PER_WORD = 3;
const SIGN = 0x80000000;

/**
 * The indices of `values` in ascending order of value; equal values keep the order of their indices, -0 equals 0, NaN comes last.
 * Time is linear in the length: a least-significant-digit radix sort on the 64 bits (Knuth, TAOCP vol. 3, 5.2.5, algorithm R).
 */
export function ascendingOrder(values: Float64Array): Uint32Array<ArrayBuffer> {
  return values.length < SMALL ? comparisonOrder(values) : radixOrder(values);
}

function comparisonOrder(values: Float64Array): Uint32Array<ArrayBuffer> {
  const order = Uint32Array.from(values, (_, index) => index);
  return order.sort((a, b) => {
    const left = values[a]!;
    const right = values[b]!;
    if (left < right) return -1;
    if (left > right) return 1;
    return left === right ? a - b : Number(Number.isNaN(left)) - Number(Number.isNaN(right)) || a - b;
  });
}

/** The upper and lower words of every value, changed so that their unsigned order is the order of the values. */
function sortableWords(values: Float64Array): { high: Uint32Array<ArrayBuffer>; low: Uint32Array<ArrayBuffer> } {
  const n = values.length;
  const high = new Uint32Array(n);
  const low = new Uint32Array(n);
  const one = new Float64Array(1);
  const words = new Uint32Array(one.buffer);
  for (let i = 0; i < n; i++) {
    const value = values[i]!;
    // Adding 0 turns -0 into 0; every NaN becomes the one of positive sign.
    one[0] = Number.isNaN(value) ? Number.NaN : value + 0;
    const upper = words[1]!;
    const isNegative = upper >= SIGN;
    high[i] = isNegative ? ~upper : upper ^ SIGN;
    low[i] = isNegative ? ~words[0]! : words[0]!;
  }
  return { high, low };
}

function radixOrder(values: Float64Array): Uint32Array<ArrayBuffer> {
  const n = values.length;
  const { high, low } = sortableWords(values);
  let order = new Uint32Array(n);
  let spare = new Uint32Array(n);
  for (let i = 0; i < n; i++) order[i] = i;
  const starts = new Uint32Array(BUCKETS);
  for (const words of [low, high]) {
    for (let digit = 0; digit < DIGITS_PER_WORD; digit++) {
      const shift = digit * DIGIT_BITS;
      if (!countDigits(words, shift, starts)) continue;
      for (let i = 0; i < n; i++) {
        const index = order[i]!;
        const bucket = (words[index]! >>> shift) & (BUCKETS - 1);
        spare[starts[bucket]!++] = index;
      }
      [order, spare] = [spare, order];
    }
  }
  return order;
}

/** Sets where each digit's bucket starts; false when all words share the digit, so that the pass would change nothing. */
function countDigits(words: Uint32Array, shift: number, starts: Uint32Array): boolean {
  starts.fill(0);
  for (let i = 0; i < words.length; i++) {
    const bucket = (words[i]! >>> shift) & (BUCKETS - 1);
    starts[bucket] = starts[bucket]! + 1;
  }
  let before = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const count = starts[bucket]!;
    if (count === words.length) return false;
    starts[bucket] = before;
    before += count;
  }
  return true;
}

/** Ranges of run ids: their notation, and the arithmetic that selections are made of. */

/** The runs first, first + step, ... up to and including last. */
export interface RunRange {
  readonly first: number;
  readonly last: number;
  readonly step: number;
}

/** The greatest run id: a design has at most 2^31 - 1 runs. */
export const MAX_RUN_ID = 2 ** 31 - 2;
/** The most ranges of a selection. */
export const MAX_RANGES = 100_000;

const COMMA = 44;
const HYPHEN = 45;
const ZERO = 48;
const NINE = 57;
const COLON = 58;

/** How many runs a range has. */
export const countOf = ({ first, last, step }: RunRange): number => Math.floor((last - first) / step) + 1;

/** A range in the notation of selections. */
export function textOf({ first, last, step }: RunRange): string {
  if (first === last) return String(first);
  if (step > 1 && last - first === step) return `${first},${last}`;
  return step === 1 ? `${first}-${last}` : `${first}-${last}:${step}`;
}

/** The greatest index whose value is at most `sought`; `ascending[0]` must be. */
export function greatestAtMost(ascending: Float64Array, sought: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (ascending[middle]! <= sought) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Adds a run id after all others, to the last range where it continues that. */
export function appendRun(ranges: RunRange[], id: number): void {
  const latest = ranges.at(-1);
  if (latest === undefined) {
    ranges.push({ first: id, last: id, step: 1 });
    return;
  }
  const { first, last, step } = latest;
  if (id <= last) throw new RangeError(`run ${id} does not follow run ${last}; run ids must ascend`);
  const distance = id - last;
  if (first === last ? distance === 1 : distance === step) {
    ranges[ranges.length - 1] = { first, last: id, step: distance };
    return;
  }
  ranges.push({ first: id, last: id, step: 1 });
  // Three single runs at equal distances become one range: two would read worse as one.
  const [third, second] = [ranges.at(-3), ranges.at(-2)!];
  if (third === undefined || third.first !== third.last || second.first !== second.last) return;
  if (second.first - third.first === distance) {
    ranges.splice(-3, 3, { first: third.first, last: id, step: distance });
  }
}

/** The common runs of two ranges, by the Chinese remainder theorem. */
export function intersectionOf(a: RunRange, b: RunRange): RunRange | undefined {
  const from = Math.max(a.first, b.first);
  const to = Math.min(a.last, b.last);
  if (from > to) return undefined;
  if (a.step === 1 && b.step === 1) return { first: from, last: to, step: 1 };
  const { gcd, inverse } = bezout(a.step, b.step);
  if ((b.first - a.first) % gcd !== 0) return undefined;
  const period = b.step / gcd;
  // a.first + k * a.step = b.first (mod b.step); the product may need 62 bits.
  const k = Number(modulo(BigInt((b.first - a.first) / gcd) * BigInt(inverse), BigInt(period)));
  const step = a.step * period;
  const common = a.first + k * a.step;
  const first = common >= from ? common : common + Math.ceil((from - common) / step) * step;
  if (first > to) return undefined;
  const last = first + Math.floor((to - first) / step) * step;
  return { first, last, step: first === last ? 1 : step };
}

const modulo = (value: bigint, by: bigint): bigint => ((value % by) + by) % by;

/** The greatest common divisor of a and b, and the inverse of a / gcd modulo b / gcd. */
function bezout(a: number, b: number): { gcd: number; inverse: number } {
  let [r0, r1, s0, s1] = [a, b, 1, 0];
  while (r1 !== 0) {
    const quotient = Math.floor(r0 / r1);
    [r0, r1] = [r1, r0 - quotient * r1];
    [s0, s1] = [s1, s0 - quotient * s1];
  }
  return { gcd: r0, inverse: s0 };
}

/** Reads the parts of the notation one by one. */
export class RangeReader {
  readonly #text: string;
  #at = 0;
  #begin = 0;

  constructor(text: string) {
    this.#text = text;
  }

  atEnd(): boolean {
    return this.#at > this.#text.length;
  }

  /** The next part, which must begin after `previous`; a string is its fault. */
  next(previous: number): RunRange | string {
    this.#begin = this.#at;
    const first = this.#number();
    let last = first;
    let step = 1;
    if (this.#skip(HYPHEN)) {
      last = this.#number();
      if (this.#skip(COLON)) step = this.#number();
    }
    const atEnd = this.#at === this.#text.length;
    if (Number.isNaN(first + last + step) || !(atEnd || this.#text.charCodeAt(this.#at) === COMMA)) {
      return `has the part ${this.#part()}; each part must be a run id, first-last or first-last:step, with commas between and no spaces`;
    }
    this.#at += 1;
    if (first > MAX_RUN_ID || last > MAX_RUN_ID || step > MAX_RUN_ID) {
      return `has the part ${this.#part()} with a number above ${MAX_RUN_ID}, the greatest run id`;
    }
    if (last < first) return `has the part ${this.#part()}, which ends before it begins; write first-last`;
    if (step < 1) return `has the part ${this.#part()}, whose step must be at least 1`;
    if (first <= previous) {
      return `has the part ${this.#part()}, which does not follow run ${previous} of the part before; write the parts ascending, without overlap`;
    }
    const exact = first + Math.floor((last - first) / step) * step;
    return { first, last: exact, step: exact === first ? 1 : step };
  }

  /** The part that was begun last, for a message. */
  #part(): string {
    const comma = this.#text.indexOf(',', this.#begin);
    const part = this.#text.slice(this.#begin, comma < 0 ? undefined : comma);
    return JSON.stringify(part.length > 40 ? `${part.slice(0, 40)}...` : part);
  }

  #skip(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false;
    this.#at += 1;
    return true;
  }

  /** Reads digits as a number; NaN where there is no digit. */
  #number(): number {
    const begin = this.#at;
    let value = 0;
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code < ZERO || code > NINE) break;
      value = value * 10 + (code - ZERO);
    }
    return this.#at === begin ? Number.NaN : value;
  }
}

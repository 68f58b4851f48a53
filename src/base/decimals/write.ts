/** Numbers as ASCII text without a string: the same digits as `String`, in a third of its time. */

import { productError } from './exact-product.ts';

const POINT = 46;
const MINUS = 45;
const DIGIT_0 = 48;
/** The most bytes that `writeNumber` writes: sign, "0.00000" and 17 digits. */
export const NUMBER_BYTES = 26;

/** Powers of ten that are exact as doubles. */
const POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
/** Plain notation begins here; smaller numbers have an exponent. */
const SMALLEST = 1e-6;
const LARGEST = 1e17;
/** 17 digits: those before and after the ninth are integers of 32 bits. */
const LOW = 1e8;
const HIGH = 1e9;
/** Differences below this are too near to a tie to be decided in doubles. */
const TIE = 1e-6;
const LOG10_OF_2 = Math.LOG10E * Math.LN2;
const EXPONENT_BIAS = 1023;
/** By biased binary exponent: half of the distance between doubles. */
const HALF_GAPS = Float64Array.from({ length: 2048 }, (_, exponent) => 2 ** (exponent - EXPONENT_BIAS - 53));

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
/** The machines that Node runs on store the low word first. */
const HIGH_WORD = 1;

/**
 * Writes the shortest decimal digits that read back as `value`, and the nearest of these (ECMA-262, Number::toString). Returns the
 * place after them; -1 where `String` must do it: for an exponent, and where the digits cannot be decided in doubles. -0 is 0.
 * `bytes` has room for `NUMBER_BYTES` at `at`.
 */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  if ((value | 0) === value) return writeInteger(bytes, at, value);
  const size = value < 0 ? -value : value;
  if (!(size >= SMALLEST && size < LARGEST)) return -1;
  double[0] = size;
  const word = words[HIGH_WORD]!;
  // The doubles next to a power of two are not equally far from it.
  if ((word & 0xf_ffff) === 0 && words[0] === 0) return -1;
  let exponent = Math.floor(((word >>> 20) - EXPONENT_BIAS) * LOG10_OF_2);
  let scale = POWERS[16 - exponent];
  if (scale === undefined) return -1;
  let scaled = size * scale;
  if (scaled >= LARGEST) {
    scale = POWERS[16 - ++exponent];
    if (scale === undefined) return -1;
    scaled = size * scale;
  }
  // size * 10^n is exactly `scaled` + `rest`; its integer part has 17 digits, `high` the first nine of them.
  const rest = productError(size, scale, scaled);
  const gap = HALF_GAPS[word >>> 20]! * scale;
  let high = Math.floor(scaled / LOW) | 0;
  // Integers of 32 bits from here on: a remainder of doubles takes longer than all else together.
  let low = (scaled - high * LOW) | 0;
  if (low < 0) {
    low += LOW;
    high -= 1;
  }
  let digits = 17;
  // `gap` is below 12: at most one number with 15 digits is near enough, and it is the shortest.
  const hundredth = low % 100;
  let past = hundredth + rest;
  let distance = past < 50 ? Math.abs(past) : Math.abs(past - 100);
  if (Math.abs(distance - gap) < TIE) return -1;
  if (distance < gap) {
    low += (past < 50 ? 0 : 100) - hundredth;
    digits = 15;
  } else {
    const tenth = low % 10;
    past = tenth + rest;
    // The rest may be several units.
    const ten = past < 0 ? -10 : past >= 10 ? 10 : 0;
    past -= ten;
    distance = past < 5 ? past : 10 - past;
    if (Math.abs(distance - gap) < TIE || Math.abs(past - 5) < TIE) return -1;
    if (distance < gap) {
      low += ten + (past < 5 ? 0 : 10) - tenth;
      digits = 16;
    } else {
      const whole = Math.floor(rest + 0.5);
      if (Math.abs(Math.abs(rest - whole) - 0.5) < TIE) return -1;
      low += whole;
    }
  }
  if (low < 0) {
    low += LOW;
    high -= 1;
  } else if (low >= LOW) {
    low -= LOW;
    high += 1;
  }
  if (high >= HIGH || high < HIGH / 10) return -1;
  let place = at;
  if (value < 0) bytes[place++] = MINUS;
  // Digits before a point begin one place late, and are moved when the number of digits is known.
  const from = exponent < 0 ? writeZeros(bytes, place, -exponent) : place + 1;
  fillDigits(bytes, from, high, low);
  if (digits === 15) while (bytes[from + digits - 1] === DIGIT_0) digits--;
  if (exponent < 0) return from + digits;
  for (const point = place + exponent + 1; place < point; place++) bytes[place] = bytes[place + 1]!;
  if (digits <= exponent + 1) return place;
  bytes[place] = POINT;
  return from + digits;
}

/** The two digits of each number below 100. */
const PAIRS = Uint8Array.from(
  { length: 200 },
  (_, at) => DIGIT_0 + (at % 2 === 0 ? Math.floor(at / 20) : (at >> 1) % 10),
);

/** Writes 17 digits; those beyond the shortest ones are zeros. */
function fillDigits(bytes: Uint8Array, at: number, high: number, low: number): void {
  const first = (high / LOW) | 0;
  bytes[at] = DIGIT_0 + first;
  fillEight(bytes, at + 1, high - first * LOW);
  fillEight(bytes, at + 9, low);
}

/** Writes eight digits. Halves of them do not wait for each other in the processor, as digit after digit would. */
function fillEight(bytes: Uint8Array, at: number, number: number): void {
  const upper = (number / 10_000) | 0;
  fillFour(bytes, at, upper);
  fillFour(bytes, at + 4, number - upper * 10_000);
}

function fillFour(bytes: Uint8Array, at: number, number: number): void {
  const upper = (number / 100) | 0;
  const first = upper * 2;
  const second = (number - upper * 100) * 2;
  bytes[at] = PAIRS[first]!;
  bytes[at + 1] = PAIRS[first + 1]!;
  bytes[at + 2] = PAIRS[second]!;
  bytes[at + 3] = PAIRS[second + 1]!;
}

/** Writes `0.` and zeros, up to the digit of 10^-`place`. Returns the place of that digit. */
function writeZeros(bytes: Uint8Array, at: number, place: number): number {
  bytes[at] = DIGIT_0;
  bytes[at + 1] = POINT;
  const end = at + 1 + place;
  for (let zero = at + 2; zero < end; zero++) bytes[zero] = DIGIT_0;
  return end;
}

function writeInteger(bytes: Uint8Array, at: number, value: number): number {
  let place = at;
  let rest = value;
  if (rest < 0) {
    bytes[place++] = MINUS;
    rest = -rest;
  }
  let length = 1;
  for (let power = 10; power <= rest; power *= 10) length++;
  for (let to = place + length - 1; to >= place; to--) {
    const next = (rest / 10) | 0;
    bytes[to] = DIGIT_0 + rest - next * 10;
    rest = next;
  }
  return place + length;
}

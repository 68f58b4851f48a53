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
  fillDigits(high, low);
  if (digits === 15) while (numerals[digits - 1] === DIGIT_0) digits--;
  let place = at;
  if (value < 0) bytes[place++] = MINUS;
  return writeNumerals(bytes, place, digits, exponent);
}

/** The 17 digits of a number as ASCII. */
const numerals = new Uint8Array(17);

/** The two digits of each number below 100. */
const PAIRS = Uint8Array.from(
  { length: 200 },
  (_, at) => DIGIT_0 + (at % 2 === 0 ? Math.floor(at / 20) : (at >> 1) % 10),
);

function fillDigits(high: number, low: number): void {
  fillPairs(low, 15);
  const first = (high / LOW) | 0;
  numerals[0] = DIGIT_0 + first;
  fillPairs(high - first * LOW, 7);
}

/** Eight digits, the last two of them at `last`. */
function fillPairs(number: number, last: number): void {
  let rest = number;
  for (let to = last; to > last - 8; to -= 2) {
    const next = (rest / 100) | 0;
    const pair = (rest - next * 100) * 2;
    numerals[to] = PAIRS[pair]!;
    numerals[to + 1] = PAIRS[pair + 1]!;
    rest = next;
  }
}

/** Writes the first `digits` numerals with the point after the one of 10^0. */
function writeNumerals(bytes: Uint8Array, at: number, digits: number, exponent: number): number {
  let place = at;
  if (exponent < 0) {
    bytes[place++] = DIGIT_0;
    bytes[place++] = POINT;
    for (let zero = exponent + 1; zero < 0; zero++) bytes[place++] = DIGIT_0;
  }
  for (let from = 0; from < digits; from++) {
    bytes[place++] = numerals[from]!;
    if (from === exponent && from + 1 < digits) bytes[place++] = POINT;
  }
  for (let zero = digits; zero <= exponent; zero++) bytes[place++] = DIGIT_0;
  return place;
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

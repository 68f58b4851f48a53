/** Decimal numbers in ASCII as doubles, rounded as ECMAScript rounds them. */

import { productError } from './exact-product.ts';

const MINUS = 45;
const POINT = 46;
const DIGIT_0 = 48;
/** Powers of ten that are exact as doubles. */
const POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
/** 17 digits identify each double; the first 10 and the last 8 of them are integers that a product of two doubles holds exactly. */
const HIGH_DIGITS = 10;
const MAX_DIGITS = 18;
/** Integers up to twice this one are exact. */
const EXACT = 2 ** 52;
/** Far above the relative error of a quotient in two doubles, some 2^-100, and far below that of one double. */
const ERROR = 2 ** -90;

const latin1 = new TextDecoder('latin1');
const exactly = (bytes: Uint8Array, start: number, end: number): number =>
  Number(latin1.decode(bytes.subarray(start, end)));

/**
 * `Number` of the JSON number in these bytes. Numbers of up to 18 digits without an exponent are computed as a sum of two doubles
 * (T. J. Dekker, A floating-point technique for extending the available precision, 1971); where the error of that could change the
 * rounding, and for all others, by `Number` itself.
 */
export function decimalAt(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = bytes[start] === MINUS;
  let at = isNegative ? start + 1 : start;
  let high = 0;
  let low = 0;
  let digits = 0;
  let lows = 0;
  let point = end - 1;
  for (; at < end; at++) {
    const digit = bytes[at]! - DIGIT_0;
    if (digit >= 0 && digit <= 9) {
      // Zeros before the first other digit are none.
      if (digits > 0 || digit > 0) digits++;
      if (digits <= HIGH_DIGITS) high = high * 10 + digit;
      else {
        low = low * 10 + digit;
        lows++;
      }
    } else if (bytes[at] === POINT) point = at;
    else return exactly(bytes, start, end);
  }
  const decimals = end - 1 - point;
  if (digits > MAX_DIGITS || decimals >= POWERS.length) return exactly(bytes, start, end);
  const value = quotient(high, POWERS[lows]!, low, POWERS[decimals]!);
  if (Number.isNaN(value)) return exactly(bytes, start, end);
  return isNegative ? -value : value;
}

/** (high * scale + low) / divisor, rounded once; NaN where it is not certain how. `high` < 10^10, `low` < `scale` <= 10^8. */
function quotient(high: number, scale: number, low: number, divisor: number): number {
  const product = high * scale;
  const dividend = product + low;
  if (product < EXACT) return dividend / divisor;
  // The dividend is the sum of `dividend` and `rest`, the quotient that of `first` and `second` but for some 2^-100 of it.
  const rest = productError(high, scale, product) + (low - (dividend - product));
  const first = dividend / divisor;
  const back = first * divisor;
  const second = (dividend - back - productError(first, divisor, back) + rest) / divisor;
  const sum = first + second;
  const lost = second - (sum - first);
  const margin = sum * ERROR;
  return sum + (lost + margin) === sum && sum + (lost - margin) === sum ? sum : Number.NaN;
}

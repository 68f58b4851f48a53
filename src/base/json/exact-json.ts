/**
 * Reads JSON without losing the digits of a seed; JSON.parse rounds integers above 2^53 - 1. Used for submissions,
 * responses and stored submissions. `stringifyExact` in `json-writing.ts` is the counterpart.
 */
import { parse } from 'lossless-json';

/** A seed that may be above 2^53 - 1: a member of that name with 16 digits or more. Also matches inside strings, which costs time only. */
const LONG_SEED = /"seed"\s*:\s*-?\d{16}/;
/** Each member of the name in text without escaped names, and its digits if it is an integer. */
const SEEDS = /"seed"\s*:\s*(?:(-?\d+)(?=\s*[,}]))?/g;
/** A member with a long integer, whose name may be spelt with escapes. */
const LONG_INTEGER = /:\s*-?\d{16}/;
const PLAIN_INTEGER = /^-?\d+$/;
/** No int64 has more digits; converting very long digits to bigint takes time quadratic in their number. */
const MAX_DIGITS = 20;

/**
 * `JSON.parse(text)`, except that an integer above 2^53 - 1 (or below its negative) in a member named `seed` becomes a bigint.
 * Throws a SyntaxError where JSON.parse does, and for such an integer below more than some thousand levels of nesting.
 */
export function parseExact(text: string): unknown {
  const rounded: unknown = JSON.parse(text);
  // JSON.parse has judged the syntax; the slower reader runs only for text that may hold a seed with more digits.
  const mayHoldOne = LONG_SEED.test(text) || (text.includes('\\u') && LONG_INTEGER.test(text));
  if (!mayHoldOne || hasExactSeeds(text, rounded)) return rounded;
  return withNumbersOutsideSeeds(parseAllDigits(text));
}

/**
 * Replaces the seeds that JSON.parse has rounded, where the text says without doubt which they are: a list of many runs has the same seed in each.
 * False where it does not; some may be replaced then.
 */
function hasExactSeeds(text: string, value: unknown): boolean {
  if (text.includes('\\')) return false;
  const exact = new Map<number, bigint>();
  let members = 0;
  let long = 0;
  for (const [, digits] of text.matchAll(SEEDS)) {
    members += 1;
    if (digits === undefined || Number.isSafeInteger(Number(digits))) continue;
    if (digits.length > MAX_DIGITS) return false;
    const [rounded, seed] = [Number(digits), BigInt(digits)];
    if ((exact.get(rounded) ?? seed) !== seed) return false;
    exact.set(rounded, seed);
    long += 1;
  }
  const pending: unknown[] = [value];
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    if (Array.isArray(container)) {
      for (const item of container) if (typeof item === 'object' && item !== null) pending.push(item);
      continue;
    }
    for (const name in container as object) {
      const member = (container as Record<string, unknown>)[name];
      if (typeof member === 'object' && member !== null) pending.push(member);
      if (name !== 'seed') continue;
      members -= 1;
      const seed = typeof member === 'number' ? exact.get(member) : undefined;
      if (seed === undefined) continue;
      long -= 1;
      (container as Record<string, unknown>)[name] = seed;
    }
  }
  // Each member of the text is one of the value, so that no other spelling of the same number was replaced.
  return members === 0 && long === 0;
}

/** Reads text that JSON.parse accepts, with all integers that a double cannot hold exactly as bigint. */
function parseAllDigits(text: string): unknown {
  try {
    return parse(text, null, { parseNumber: exactNumber, onDuplicateKey: ({ newValue }) => newValue });
  } catch (error) {
    // The reader is recursive, JSON.parse is not.
    if (error instanceof RangeError) throw new SyntaxError('the JSON text is nested too deeply', { cause: error });
    throw error;
  }
}

function exactNumber(digits: string): number | bigint {
  const rounded = Number(digits);
  const exact = Number.isSafeInteger(rounded) || !PLAIN_INTEGER.test(digits) || digits.length > MAX_DIGITS;
  return exact ? rounded : BigInt(digits);
}

/** Turns every bigint back into a number, in place, but for members named `seed`. Not recursive. */
function withNumbersOutsideSeeds(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const container = pending.pop();
    if (typeof container !== 'object' || container === null) continue;
    for (const [name, member] of Object.entries(container)) {
      if (typeof member !== 'bigint') pending.push(member);
      else if (name !== 'seed' || Array.isArray(container)) setOwn(container, name, Number(member));
    }
  }
  return value;
}

/** Sets an own member, also one named `__proto__`, as JSON.parse does. */
function setOwn(container: object, name: string, value: unknown): void {
  Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true });
}

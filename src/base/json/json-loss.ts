/**
 * Losses of `JSON.parse` that it does not report: the first of two members of the same name, and digits of an integer. A text
 * with either is refused, since its sender meant something else than would be stored.
 */
import { pointerToken } from './json-pointer.ts';

export interface Loss {
  pointer: string;
  /** A phrase that follows the member. */
  detail: string;
  /** Offset of the second member of the name, or of the integer. */
  offset: number;
}

/** Integers of 16 digits or more are at least this large. */
const LEAST_LONG_INTEGER = 1e15;

/**
 * Returns the first loss in a text that JSON.parse accepts and has made `value` of; undefined when nothing is lost. Without
 * `numbers` integers are not examined; with `infinite` a number beyond the range of a double is a loss too.
 */
export function lossyFault(
  text: string,
  value: unknown,
  { numbers, infinite = false }: { numbers: boolean; infinite?: boolean },
): Loss | undefined {
  const { members, hasLongInteger } = contentsOf(value);
  // Each member of the text has a colon: with as many colons as members in the value, none was dropped.
  const isSuspect = countOf(text, ':') !== members;
  return isSuspect || (numbers && hasLongInteger) ? scan(text, numbers, infinite) : undefined;
}

function countOf(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count += 1;
  return count;
}

/**
 * Returns the number of members of all objects, and whether a number may come from an integer of 16 digits or more. Not recursive:
 * a short text may be nested deeply.
 */
function contentsOf(value: unknown): { members: number; hasLongInteger: boolean } {
  let members = 0;
  let hasLongInteger = false;
  const pending: object[] = [];
  const add = (item: unknown): void => {
    if (typeof item === 'number') hasLongInteger ||= Math.abs(item) >= LEAST_LONG_INTEGER;
    else if (typeof item === 'object' && item !== null) pending.push(item);
  };
  add(value);
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    if (Array.isArray(container)) {
      for (const item of container) add(item);
      continue;
    }
    // `for ... in` and not Object.values, which allocates a list for each object. Parsed objects inherit no enumerable member.
    for (const name in container) {
      members += 1;
      add((container as Record<string, unknown>)[name]);
    }
  }
  return { members, hasLongInteger };
}

/** An open object or array. */
interface Open {
  /** Undefined for an array. */
  names: Set<string> | undefined;
  /** The name or index of the present item. */
  at: string | number;
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function scan(text: string, numbers: boolean, infinite: boolean): Loss | undefined {
  const open: Open[] = [];
  const pointer = (): string => open.map((it) => pointerToken(it.at)).join('');
  let isName = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    const inside = open.at(-1);
    if (character === '"') {
      const end = endOfString(text, at);
      if (isName && inside?.names !== undefined) {
        inside.at = JSON.parse(text.slice(at, end + 1)) as string;
        if (inside.names.has(inside.at)) {
          return {
            pointer: pointer(),
            offset: at,
            detail: 'was given before in the same object; give each member once',
          };
        }
        inside.names.add(inside.at);
        isName = false;
      }
      at = end;
    } else if (character === '{' || character === '[') {
      isName = character === '{';
      open.push(isName ? { names: new Set(), at: '' } : { names: undefined, at: 0 });
    } else if (character === '}' || character === ']') {
      open.pop();
      isName = false;
    } else if (character === ',' && inside !== undefined) {
      isName = inside.names !== undefined;
      if (typeof inside.at === 'number') inside.at += 1;
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER.lastIndex = at;
      const digits = NUMBER.exec(text)![0];
      if (numbers && losesDigits(digits)) {
        const detail = `is the integer ${digits.slice(0, 40)}, of which a double keeps only ${Number(digits)}; send it as text`;
        return { pointer: pointer(), offset: at, detail };
      }
      if (infinite && !Number.isFinite(Number(digits))) {
        return {
          pointer: pointer(),
          offset: at,
          detail: `is ${digits.slice(0, 40)}, which is beyond the range of a double`,
        };
      }
      at += digits.length - 1;
    }
  }
  return undefined;
}

/** Longer integers are beyond the range of a double. */
const MAX_DIGITS = 309;

/** Returns whether a double neither equals an integer nor is written with its digits. */
function losesDigits(digits: string): boolean {
  if (!/^-?\d{16,}$/.test(digits) || String(Number(digits)) === digits) return false;
  return digits.length > MAX_DIGITS || BigInt(Number(digits)) !== BigInt(digits);
}

const BACKSLASH = 92;

/** Returns the position of the quote that closes the string opened at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

/** Returns whether an odd number of backslashes precedes the position. */
function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
  return slashes % 2 === 1;
}

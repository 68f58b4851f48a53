/**
 * Depth and width of a JSON text, measured before parsing: an object of a million members takes seconds to parse and to
 * validate, and recursive code fails at a million levels.
 */
import { endOfString } from '../../base/json/json-loss.ts';

/** Deeper than any documented body. */
const MAX_DEPTH = 500;
/** Members beyond this many in one object count as wide: above about a thousand V8 keeps an object as a hash table. */
const WIDE = 1_000;
/** Most wide members of one body. */
const MAX_WIDE_MEMBERS = 100_000;
/** A shorter text is harmless in both respects. */
const HARMLESS_LENGTH = 65_536;

const QUOTE = 34;
const COLON = 58;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Returns a message with the limit that the text exceeds; undefined without one. The text need not be valid JSON. */
export function complexityFault(text: string): string | undefined {
  if (text.length < HARMLESS_LENGTH) return undefined;
  /** Number of members so far, for each open object or array. */
  const open = new Int32Array(MAX_DEPTH + 1);
  let depth = 0;
  let wideMembers = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > MAX_DEPTH) return `the body is nested deeper than ${MAX_DEPTH} levels, the limit`;
      open[depth] = 0;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth = Math.max(0, depth - 1);
    } else if (code === COLON) {
      open[depth]! += 1;
      if (open[depth]! > WIDE && ++wideMembers > MAX_WIDE_MEMBERS) {
        return `the body has more than ${MAX_WIDE_MEMBERS} members in objects of more than ${WIDE}, the limit`;
      }
    }
  }
  return undefined;
}

/** The languages of histories and derived outputs: conditions on telemetry, and expressions of numbers. Their limits and errors. */
import type { Grammar } from '../../base/expressions/tokens.ts';

/** Characters of the longest event, condition or expression. */
const MAX_LENGTH = 1000;
const MAX_DEPTH = 32;

/** A text that cannot be read; the message is a sentence with the place and the remedy, without the text. */
export class SyntaxFault extends Error {
  /** Of the first character that does not fit, counted from 1. */
  readonly position: number;

  constructor(position: number, why: string, remedy: string) {
    super(`${why} at character ${position}; ${remedy}`);
    this.name = 'SyntaxFault';
    this.position = position;
  }
}

const fault: Grammar['fault'] = (position, why, remedy) => new SyntaxFault(position, why, remedy);

/** Events and conditions: a word is anything without blanks and signs, since names of telemetry are free. */
export const CONDITIONS: Grammar = {
  maxLength: MAX_LENGTH,
  maxDepth: MAX_DEPTH,
  // The longer sign first.
  pattern:
    /\s*(?:(?<sign><=|>=|==|!=|[()=<>,])|'(?<single>(?:[^']|'')*)'(?!')|"(?<double>(?:[^"]|"")*)"(?!")|(?<word>[^\s()=!<>,'"]+))/y,
  signs: 'put a name with such characters in quotes',
  fault,
};

/** Expressions of numbers: a word is a number, or a name of letters, digits, `_` and points. */
export const ARITHMETIC: Grammar = {
  maxLength: MAX_LENGTH,
  maxDepth: MAX_DEPTH,
  pattern:
    /\s*(?:(?<sign><=|>=|==|!=|[()=<>,+\-*/])|'(?<single>(?:[^']|'')*)'(?!')|"(?<double>(?:[^"]|"")*)"(?!")|(?<word>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\p{L}\p{N}_.])|[\p{L}_][\p{L}\p{N}_.]*))/uy,
  signs: 'write +, -, *, /, functions such as pow(a, b), or a name with other characters in quotes',
  fault,
};

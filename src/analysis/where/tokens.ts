/** The tokens of a `where` expression, and the error of an expression that cannot be used. */
import type { Grammar } from '../../base/expressions/tokens.ts';
import { SimbatchError } from '../../domain/errors.ts';

/** An expression that cannot be used; `position` counts characters from 1. */
export class WhereError extends SimbatchError {
  readonly position: number;

  constructor(position: number, why: string, remedy: string) {
    super('malformed-query', `where not understood at character ${position}: ${why}; ${remedy}`);
    this.name = 'WhereError';
    this.position = position;
  }
}

/** The language of `where`: a word is anything without blanks and signs, so that names of columns need few quotes. */
export const WHERE: Grammar = {
  maxLength: 8192,
  maxDepth: 100,
  // The longer sign first.
  pattern:
    /\s*(?:(?<sign><=|>=|!=|[()=<>,])|'(?<single>(?:[^']|'')*)'(?!')|"(?<double>(?:[^"]|"")*)"(?!")|(?<word>[^\s()=!<>,'"]+))/y,
  signs: 'put a text with such characters in quotes',
  fault: (position, why, remedy) => new WhereError(position, why, remedy),
};

/** The words, quoted texts and signs of a `where` expression, with their positions. */
import { SimbatchError } from '../../domain/errors.ts';

/** Longer expressions are refused unread. */
export const MAX_LENGTH = 8192;

/** An expression that cannot be used; `position` counts characters from 1. */
export class WhereError extends SimbatchError {
  readonly position: number;

  constructor(position: number, why: string, remedy: string) {
    super('malformed-query', `where not understood at character ${position}: ${why}; ${remedy}`);
    this.name = 'WhereError';
    this.position = position;
  }
}

export type Token =
  | { kind: 'word'; text: string; at: number }
  | { kind: 'quoted'; text: string; at: number }
  | { kind: 'sign'; text: string; at: number }
  | { kind: 'end'; text: ''; at: number };

/** Patterns of tokens, tried in this order: the longer sign first. */
const PATTERNS =
  /\s*(?:(?<sign><=|>=|!=|[()=<>,])|'(?<single>(?:[^']|'')*)'(?!')|"(?<double>(?:[^"]|"")*)"(?!")|(?<word>[^\s()=!<>,'"]+))/y;

/** The tokens of a text, the last one `end`. */
export function tokensOf(text: string): Token[] {
  if (text.length > MAX_LENGTH) {
    throw new WhereError(MAX_LENGTH + 1, `it is ${text.length} characters long`, `use at most ${MAX_LENGTH}`);
  }
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  let at = 0;
  while (at < end) {
    PATTERNS.lastIndex = at;
    const groups = PATTERNS.exec(text)?.groups;
    const start = at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0);
    if (groups === undefined) throw unreadable(text, start);
    at = PATTERNS.lastIndex;
    const { sign, single, double, word } = groups;
    if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, at: start + 1 });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word, at: start + 1 });
    else {
      const quoted = single === undefined ? (double ?? '').replaceAll('""', '"') : single.replaceAll("''", "'");
      tokens.push({ kind: 'quoted', text: quoted, at: start + 1 });
    }
  }
  tokens.push({ kind: 'end', text: '', at: end + 1 });
  return tokens;
}

function unreadable(text: string, start: number): WhereError {
  if (text[start] === '!') return new WhereError(start + 1, '"!" has no meaning alone', 'write "!=" or "not"');
  return new WhereError(start + 1, 'a quoted text does not end', 'close it, and write a quote inside it twice');
}

/** The words, quoted texts and signs of an expression, with their positions. Each language of expressions is a `Grammar`. */

/** A language of expressions: its signs and words, its limits, its errors. */
export interface Grammar {
  /** Characters of the longest text; longer ones are refused unread. */
  maxLength: number;
  /** The most parentheses, functions and `not` inside each other. */
  maxDepth: number;
  /** One token after blanks, sticky, with one of the groups `sign`, `single`, `double` (quoted texts) and `word`. */
  pattern: RegExp;
  /** The remedy for a character that begins no token. */
  signs: string;
  /** The error of a text that cannot be read. `position` counts characters from 1. */
  fault: (position: number, why: string, remedy: string) => Error;
}

export type Token =
  | { kind: 'word'; text: string; at: number }
  | { kind: 'quoted'; text: string; at: number }
  | { kind: 'sign'; text: string; at: number }
  | { kind: 'end'; text: ''; at: number };

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** True for a word with the form of a decimal number. */
export const isNumeral = (word: string): boolean => NUMBER.test(word);

/** The finite number that a word is; undefined for any other word. */
export function numberOf(word: string): number | undefined {
  // Adding 0 makes -0 the same as 0, which no comparison distinguishes.
  return isNumeral(word) && Number.isFinite(Number(word)) ? Number(word) + 0 : undefined;
}

/** The tokens of a text, the last one `end`. @throws the grammar's fault when the text is too long or has no such tokens. */
export function tokensOf(text: string, { maxLength, pattern, signs, fault }: Grammar): Token[] {
  if (text.length > maxLength) {
    throw fault(maxLength + 1, `it is ${text.length} characters long`, `use at most ${maxLength}`);
  }
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  let at = 0;
  while (at < end) {
    pattern.lastIndex = at;
    const groups = pattern.exec(text)?.groups;
    const start = at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0);
    if (groups === undefined) throw unreadable(text, start, signs, fault);
    at = pattern.lastIndex;
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

function unreadable(text: string, start: number, signs: string, fault: Grammar['fault']): Error {
  const found = text[start] ?? '';
  if (found === '!') return fault(start + 1, '"!" has no meaning alone', 'write "!=" or "not"');
  if (found === "'" || found === '"')
    return fault(start + 1, 'a quoted text does not end', 'close it, and write a quote inside it twice');
  return fault(start + 1, `${JSON.stringify(found)} has no meaning here`, signs);
}

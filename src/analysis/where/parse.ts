/** Reads a `where` expression by recursive descent, in bounded depth. */
import { type Comparison, COMPARISONS, type Expression, KEYWORDS, type Literal, numberOf } from './expression.ts';
import { type Token, WhereError, tokensOf } from './tokens.ts';

/** Parentheses and `not` inside each other. */
const MAX_DEPTH = 100;

/**
 * Reads an expression:
 *
 *     or         = and {"or" and}
 *     and        = term {"and" term}
 *     term       = "not" term | "(" or ")" | column test
 *     test       = ("=" | "!=" | "<" | "<=" | ">" | ">=") value | "in" "(" value {"," value} ")" | "is" ["not"] "null"
 *     value      = number | "true" | "false" | 'quoted' | bare
 *
 * Keywords are the same in any case. A column is a bare word or quoted; a quote inside a quoted text is written twice.
 * @throws WhereError with the position of the first token that does not fit, or when it is too long or too deep.
 */
export function parseWhere(text: string): Expression {
  const parser = new Parser(tokensOf(text));
  return parser.whole();
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Expression {
    const expression = this.#joined('or');
    const rest = this.#peek();
    if (rest.kind !== 'end') throw this.#unexpected('the end, "and" or "or"', 'join conditions by "and" or "or"');
    return expression;
  }

  /** Terms joined by one keyword; `and` binds closer than `or`. */
  #joined(kind: 'and' | 'or'): Expression {
    const terms: Expression[] = [];
    do {
      const term = kind === 'or' ? this.#joined('and') : this.#term();
      if (term.kind === kind) terms.push(...term.terms);
      else terms.push(term);
    } while (this.#takeKeyword(kind));
    return terms.length === 1 ? terms[0]! : { kind, terms };
  }

  #term(): Expression {
    const start = this.#peek();
    if (this.#takeKeyword('not')) return this.#deeper(start, () => ({ kind: 'not', term: this.#term() }));
    if (!this.#takeSign('(')) return this.#test();
    const inner = this.#deeper(start, () => this.#joined('or'));
    if (!this.#takeSign(')')) throw this.#unexpected('")"', `close the parenthesis of character ${start.at}`);
    return inner;
  }

  #deeper(start: Token, read: () => Expression): Expression {
    if (this.#depth === MAX_DEPTH) {
      throw new WhereError(
        start.at,
        `more than ${MAX_DEPTH} levels are inside each other`,
        'write it with fewer parentheses',
      );
    }
    this.#depth++;
    const expression = read();
    this.#depth--;
    return expression;
  }

  #test(): Expression {
    const token = this.#peek();
    const isName = token.kind === 'quoted' || (token.kind === 'word' && !isReserved(token.text));
    if (!isName) throw this.#unexpected('a column', 'write a condition such as "outputs.miss_m > 50"');
    this.#next++;
    const [column, at] = [token.text, token.at];
    if (this.#takeKeyword('in')) return { kind: 'in', column, at, values: this.#list() };
    if (this.#takeKeyword('is')) {
      const isNull = !this.#takeKeyword('not');
      if (!this.#takeKeyword('null')) throw this.#unexpected('"null"', 'write "is null" or "is not null"');
      return { kind: 'null', column, at, isNull };
    }
    return { kind: 'compare', column, at, operator: this.#operator(), value: this.#value() };
  }

  #operator(): Comparison {
    const token = this.#peek();
    const known = COMPARISONS.find((it) => token.kind === 'sign' && it === token.text);
    if (known === undefined) {
      const expected = `an operator (${COMPARISONS.join(' ')}, in, is)`;
      throw this.#unexpected(expected, 'compare the column with a value, for example "= true" or "> 0"');
    }
    this.#next++;
    return known;
  }

  #list(): Literal[] {
    const values: Literal[] = [];
    if (!this.#takeSign('(')) throw this.#unexpected('"("', 'write the values as "in (a, b)"');
    do values.push(this.#value());
    while (this.#takeSign(','));
    if (!this.#takeSign(')')) throw this.#unexpected('"," or ")"', 'write the values as "in (a, b)"');
    return values;
  }

  #value(): Literal {
    const token = this.#peek();
    if (token.kind === 'sign' && token.text === '=') throw this.#unexpected('a value', 'equality is written "="');
    if (token.kind === 'sign' && token.text === '>') throw this.#unexpected('a value', 'inequality is written "!="');
    if (token.kind !== 'word' && token.kind !== 'quoted') {
      throw this.#unexpected('a value', 'write a number, true, false, a word or a quoted text');
    }
    this.#next++;
    if (token.kind === 'quoted') return token.text;
    const keyword = token.text.toLowerCase();
    if (keyword === 'true') return true;
    if (keyword === 'false') return false;
    if (KEYWORDS.has(keyword)) {
      const remedy =
        keyword === 'null' ? 'write "is null" or "is not null"' : `write '${token.text}' in quotes if it is a text`;
      throw new WhereError(token.at, `"${token.text}" is not a value`, remedy);
    }
    return numberOf(token.text) ?? token.text;
  }

  #peek(): Token {
    return this.#tokens[this.#next]!;
  }

  #takeKeyword(keyword: string): boolean {
    const { kind, text } = this.#peek();
    const isHere = kind === 'word' && text.toLowerCase() === keyword;
    if (isHere) this.#next++;
    return isHere;
  }

  #takeSign(sign: string): boolean {
    const { kind, text } = this.#peek();
    const isHere = kind === 'sign' && text === sign;
    if (isHere) this.#next++;
    return isHere;
  }

  #unexpected(expected: string, remedy: string): WhereError {
    const { kind, text, at } = this.#peek();
    const found = kind === 'end' ? 'the expression ends' : `found ${JSON.stringify(shortened(text))}`;
    return new WhereError(at, `expected ${expected}, ${found}`, remedy);
  }
}

/** A word that cannot be a column unless it is quoted. */
const isReserved = (word: string): boolean => KEYWORDS.has(word.toLowerCase()) || numberOf(word) !== undefined;

const shortened = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}...` : text);

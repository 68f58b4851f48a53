/** Reads tests that are joined by `and`, `or`, `not` and parentheses, by recursive descent in bounded depth. */
import { type Grammar, type Token, tokensOf } from './tokens.ts';

/** Tests, joined. `terms` are two or more, none of the same kind. */
export type Logic<Test> = Test | { kind: 'and' | 'or'; terms: Logic<Test>[] } | { kind: 'not'; term: Logic<Test> };

/**
 * The part that all languages of expressions share:
 *
 *     or   = and {"or" and}
 *     and  = term {"and" term}
 *     term = "not" term | operand
 *
 * Keywords are the same in any case. A subclass reads its operands, mostly a parenthesis or a test.
 */
export abstract class LogicParser<Test extends { kind: string }> {
  readonly #grammar: Grammar;
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  /** @throws the grammar's fault when the text is too long or has other tokens. */
  constructor(text: string, grammar: Grammar) {
    this.#grammar = grammar;
    this.#tokens = tokensOf(text, grammar);
  }

  /** Reads an operand of `and`, `or` and `not`. */
  protected abstract operand(): Logic<Test>;

  /** Terms joined by one keyword; `and` binds closer than `or`. */
  protected joined(kind: 'and' | 'or'): Logic<Test> {
    const terms: Logic<Test>[] = [];
    do {
      const term = kind === 'or' ? this.joined('and') : this.#term();
      if (isJoined(term, kind)) terms.push(...term.terms);
      else terms.push(term);
    } while (this.takeKeyword(kind));
    return terms.length === 1 ? terms[0]! : { kind, terms };
  }

  #term(): Logic<Test> {
    const start = this.peek();
    if (this.takeKeyword('not')) return this.deeper(start, () => ({ kind: 'not', term: this.#term() }));
    return this.operand();
  }

  /** A joined expression in parentheses; undefined when no parenthesis begins here. */
  protected parenthesised(): Logic<Test> | undefined {
    const start = this.peek();
    if (!this.takeSign('(')) return undefined;
    const inner = this.deeper(start, () => this.joined('or'));
    this.close(start);
    return inner;
  }

  /** Takes the closing parenthesis of the one at `start`. */
  protected close(start: Token): void {
    if (!this.takeSign(')')) throw this.unexpected('")"', `close the parenthesis of character ${start.at}`);
  }

  /** Reads something that is inside something else. */
  protected deeper<T>(start: Token, read: () => T): T {
    const { maxDepth } = this.#grammar;
    if (this.#depth === maxDepth) {
      throw this.fault(
        start.at,
        `more than ${maxDepth} levels are inside each other`,
        'write it with fewer parentheses',
      );
    }
    this.#depth++;
    const inner = read();
    this.#depth--;
    return inner;
  }

  /** Fails unless the text ends here. */
  protected end(remedy: string): void {
    if (this.peek().kind !== 'end') throw this.unexpected('the end, "and" or "or"', remedy);
  }

  protected peek(): Token {
    return this.#tokens[this.#next]!;
  }

  protected take(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.#next++;
    return token;
  }

  /** Takes the keyword if it is here. */
  protected takeKeyword(keyword: string): boolean {
    const { kind, text } = this.peek();
    const isHere = kind === 'word' && text.toLowerCase() === keyword;
    if (isHere) this.#next++;
    return isHere;
  }

  /** Takes the sign if it is here. */
  protected takeSign(sign: string): boolean {
    const { kind, text } = this.peek();
    const isHere = kind === 'sign' && text === sign;
    if (isHere) this.#next++;
    return isHere;
  }

  protected unexpected(expected: string, remedy: string): Error {
    const { kind, text, at } = this.peek();
    const found = kind === 'end' ? 'the expression ends' : `found ${JSON.stringify(shortened(text))}`;
    return this.fault(at, `expected ${expected}, ${found}`, remedy);
  }

  protected fault(position: number, why: string, remedy: string): Error {
    return this.#grammar.fault(position, why, remedy);
  }
}

/** True for terms joined by this keyword. */
function isJoined<Test extends { kind: string }>(
  term: Logic<Test>,
  kind: 'and' | 'or',
): term is { kind: 'and' | 'or'; terms: Logic<Test>[] } {
  return term.kind === kind;
}

const shortened = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}...` : text);

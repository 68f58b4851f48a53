/** Reads a `where` expression by recursive descent, in bounded depth. */
import { LogicParser } from '../../base/expressions/logic-parser.ts';
import { numberOf, type Token } from '../../base/expressions/tokens.ts';
import { type Comparison, COMPARISONS, type Expression, KEYWORDS, type Literal, type Test } from './expression.ts';
import { shortForm } from './short-forms.ts';
import { WHERE, WhereError } from './tokens.ts';

/**
 * Reads an expression:
 *
 *     or         = and {"or" and}
 *     and        = term {"and" term}
 *     term       = "not" term | "(" or ")" | column test | short
 *     short      = "failed" | "completed" | a class such as "crashed" | "state:" state | "class:" class | "runner:" id
 *     test       = ("=" | "!=" | "<" | "<=" | ">" | ">=") value | "in" "(" value {"," value} ")" | "is" ["not"] "null"
 *     value      = number | "true" | "false" | 'quoted' | bare
 *
 * Keywords are the same in any case. A column is a bare word or quoted; a quote inside a quoted text is written twice.
 * @throws WhereError with the position of the first token that does not fit, or when it is too long or too deep.
 */
export function parseWhere(text: string): Expression {
  return new WhereParser(text, WHERE).whole();
}

class WhereParser extends LogicParser<Test> {
  whole(): Expression {
    const expression = this.joined('or');
    this.end('join conditions by "and" or "or"');
    return expression;
  }

  protected override operand(): Expression {
    return this.parenthesised() ?? this.#test();
  }

  #test(): Test {
    const token = this.peek();
    const isName = token.kind === 'quoted' || (token.kind === 'word' && !isReserved(token.text));
    if (!isName) throw this.unexpected('a column', 'write a condition such as "outputs.miss_m > 50"');
    this.take();
    const [column, at] = [token.text, token.at];
    if (token.kind === 'word' && endsTerm(this.peek())) {
      const short = shortForm(token.text, at);
      if (short !== undefined) return short;
    }
    if (this.takeKeyword('in')) return { kind: 'in', column, at, values: this.#list() };
    if (this.takeKeyword('is')) {
      const isNull = !this.takeKeyword('not');
      if (!this.takeKeyword('null')) throw this.unexpected('"null"', 'write "is null" or "is not null"');
      return { kind: 'null', column, at, isNull };
    }
    return { kind: 'compare', column, at, operator: this.#operator(), value: this.#value() };
  }

  #operator(): Comparison {
    const token = this.peek();
    const known = COMPARISONS.find((it) => token.kind === 'sign' && it === token.text);
    if (known === undefined) {
      const expected = `an operator (${COMPARISONS.join(' ')}, in, is)`;
      throw this.unexpected(expected, 'compare the column with a value, for example "= true" or "> 0"');
    }
    this.take();
    return known;
  }

  #list(): Literal[] {
    const values: Literal[] = [];
    if (!this.takeSign('(')) throw this.unexpected('"("', 'write the values as "in (a, b)"');
    do values.push(this.#value());
    while (this.takeSign(','));
    if (!this.takeSign(')')) throw this.unexpected('"," or ")"', 'write the values as "in (a, b)"');
    return values;
  }

  #value(): Literal {
    const token = this.peek();
    if (token.kind === 'sign' && token.text === '=') throw this.unexpected('a value', 'equality is written "="');
    if (token.kind === 'sign' && token.text === '>') throw this.unexpected('a value', 'inequality is written "!="');
    if (token.kind !== 'word' && token.kind !== 'quoted') {
      throw this.unexpected('a value', 'write a number, true, false, a word or a quoted text');
    }
    this.take();
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
}

/** True for a token before which a term has ended. */
const endsTerm = ({ kind, text }: Token): boolean =>
  kind === 'end' ||
  (kind === 'sign' && text === ')') ||
  (kind === 'word' && (text.toLowerCase() === 'and' || text.toLowerCase() === 'or'));

/** A word that cannot be a column unless it is quoted. */
const isReserved = (word: string): boolean => KEYWORDS.has(word.toLowerCase()) || numberOf(word) !== undefined;

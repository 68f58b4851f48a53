/** Conditions on telemetry, such as `altitude > 100 and not (mach >= 1)`: comparisons of variables with numbers, joined. Pure. */
import { CONDITION_OPERATORS, type ConditionOperator } from '../../base/expressions/comparison.ts';
import { type Logic, LogicParser } from '../../base/expressions/logic-parser.ts';
import { isNumeral, numberOf, type Token } from '../../base/expressions/tokens.ts';
import { CONDITIONS } from './syntax.ts';

/** A comparison of the last value of a variable with a number. */
export interface Comparison {
  kind: 'compare';
  variable: string;
  operator: ConditionOperator;
  /** Finite, in the units of the variable. */
  threshold: number;
}

export type Condition = Logic<Comparison>;

const KEYWORDS: readonly string[] = ['and', 'or', 'not'];

/**
 * Reads a condition:
 *
 *     or         = and {"or" and}
 *     and        = term {"and" term}
 *     term       = "not" term | "(" or ")" | variable ("<" | "<=" | ">" | ">=" | "==" | "!=") number
 *
 * A variable is a bare word or quoted; a quote inside a quoted name is written twice.
 * @throws SyntaxFault with the first token that does not fit, or when the text is too long or too deep.
 */
export const parseCondition = (text: string): Condition => new ConditionParser(text, CONDITIONS).whole();

/** Reads conditions and, in a subclass, more around them. */
export class ConditionParser extends LogicParser<Comparison> {
  whole(): Condition {
    const condition = this.joined('or');
    this.end('join comparisons by "and" or "or"');
    return condition;
  }

  protected override operand(): Condition {
    return this.parenthesised() ?? this.#comparison();
  }

  #comparison(): Comparison {
    const variable = this.variable();
    const sign = this.peek();
    const operator = CONDITION_OPERATORS.find((it) => sign.kind === 'sign' && it === sign.text);
    if (operator === undefined) {
      const remedy =
        sign.text === '=' ? 'equality is written "=="' : 'compare the variable with a number, for example "> 0"';
      throw this.unexpected(`an operator (${CONDITION_OPERATORS.join(' ')})`, remedy);
    }
    this.take();
    return { kind: 'compare', variable, operator, threshold: this.#threshold() };
  }

  #threshold(): number {
    const token = this.peek();
    const number = token.kind === 'word' ? numberOf(token.text) : undefined;
    if (number === undefined) {
      const isTooLarge = token.kind === 'word' && isNumeral(token.text);
      throw this.unexpected(
        isTooLarge ? 'a number that fits a double' : 'a number',
        'compare with a number such as 100 or -1.5e3',
      );
    }
    this.take();
    return number;
  }

  /** Takes the name of a telemetry variable. */
  protected variable(): string {
    const token = this.peek();
    if (!isName(token)) throw this.unexpected('a telemetry variable', 'write a condition such as "altitude > 100"');
    this.take();
    return token.text;
  }
}

const isName = ({ kind, text }: Token): boolean =>
  text !== '' && (kind === 'quoted' || (kind === 'word' && !KEYWORDS.includes(text.toLowerCase()) && !isNumeral(text)));

/** The comparisons of a condition, in the order of the text. */
export function comparisonsOf(condition: Condition): Comparison[] {
  switch (condition.kind) {
    case 'compare':
      return [condition];
    case 'not':
      return comparisonsOf(condition.term);
    case 'and':
    case 'or':
      return condition.terms.flatMap(comparisonsOf);
  }
}

/** The variables that a condition names, each once and in order. */
export const conditionVariables = (condition: Condition): string[] => [
  ...new Set(comparisonsOf(condition).map((it) => it.variable)),
];

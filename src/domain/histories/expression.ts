/** Expressions of numbers, such as `hypot(outputs.x_m, outputs.y_m) - parameters.r`: their grammar and names. Pure. */
import { CONDITION_OPERATORS, type ConditionOperator } from '../../base/expressions/comparison.ts';
import { type Logic, LogicParser } from '../../base/expressions/logic-parser.ts';
import { isNumeral, numberOf } from '../../base/expressions/tokens.ts';
import { closestMatch } from '../../base/text/closest-match.ts';
import { FUNCTIONS, type FunctionName } from './functions.ts';
import { ARITHMETIC } from './syntax.ts';

export const SCOPES = ['outputs', 'parameters'] as const;
export type Scope = (typeof SCOPES)[number];

export type Numeric =
  | { kind: 'number'; value: number }
  | { kind: 'name'; scope: Scope; name: string }
  | { kind: 'negative'; term: Expression }
  | { kind: 'arithmetic'; operator: '+' | '-' | '*' | '/'; left: Expression; right: Expression }
  | { kind: 'compare'; operator: ConditionOperator; left: Expression; right: Expression }
  | { kind: 'call'; function: FunctionName; terms: Expression[] };

/** A comparison is 1 where it holds and else 0; `and`, `or`, `not` and `if` take 0 as false and any other number as true. */
export type Expression = Logic<Numeric>;

/**
 * Reads an expression:
 *
 *     or         = and {"or" and}
 *     and        = term {"and" term}
 *     term       = "not" term | sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
 *     sum        = product {("+" | "-") product}
 *     product    = factor {("*" | "/") factor}
 *     factor     = "-" factor | "+" factor | number | name | function "(" or {"," or} ")" | "(" or ")"
 *     name       = "outputs." ... | "parameters." ...
 *
 * A name with characters other than letters, digits, `_` and points is quoted whole: `'outputs.miss-m'`.
 * @throws SyntaxFault with the first token that does not fit, or when the text is too long or too deep.
 */
export const parseExpression = (text: string): Expression => new ExpressionParser(text, ARITHMETIC).whole();

class ExpressionParser extends LogicParser<Numeric> {
  whole(): Expression {
    const expression = this.joined('or');
    this.end('join numbers by +, -, * or /');
    return expression;
  }

  protected override operand(): Expression {
    const left = this.#sum();
    const operator = this.#comparison();
    if (operator === undefined) return left;
    const compared: Expression = { kind: 'compare', operator, left, right: this.#sum() };
    if (this.#isComparison()) throw this.unexpected('one comparison', 'join two comparisons by "and"');
    return compared;
  }

  #isComparison(): boolean {
    const { kind, text } = this.peek();
    return kind === 'sign' && (CONDITION_OPERATORS as readonly string[]).includes(text);
  }

  #comparison(): ConditionOperator | undefined {
    const { kind, text } = this.peek();
    if (kind === 'sign' && text === '=') throw this.unexpected('an operator', 'equality is written "=="');
    return this.#isComparison() ? (this.take().text as ConditionOperator) : undefined;
  }

  #sum(): Expression {
    let left = this.#product();
    for (;;) {
      if (this.takeSign('+')) left = { kind: 'arithmetic', operator: '+', left, right: this.#product() };
      else if (this.takeSign('-')) left = { kind: 'arithmetic', operator: '-', left, right: this.#product() };
      else return left;
    }
  }

  #product(): Expression {
    let left = this.#factor();
    for (;;) {
      if (this.takeSign('*')) left = { kind: 'arithmetic', operator: '*', left, right: this.#factor() };
      else if (this.takeSign('/')) left = { kind: 'arithmetic', operator: '/', left, right: this.#factor() };
      else return left;
    }
  }

  #factor(): Expression {
    const start = this.peek();
    if (this.takeSign('-')) return this.deeper(start, () => ({ kind: 'negative', term: this.#factor() }));
    if (this.takeSign('+')) return this.deeper(start, () => this.#factor());
    const inner = this.parenthesised();
    if (inner !== undefined) return inner;
    if (start.kind !== 'word' && start.kind !== 'quoted') {
      const remedy =
        start.text === '*' && start.at > 1
          ? 'a power is written "pow(a, b)"'
          : 'write a number, a function, or a name such as outputs.miss_m or parameters.mass_kg';
      throw this.unexpected('a number', remedy);
    }
    if (start.kind === 'word' && isNumeral(start.text)) return this.#number();
    this.take();
    const { kind, text } = this.peek();
    if (start.kind === 'word' && kind === 'sign' && text === '(') return this.#call(start.text, start.at);
    return this.#name(start.text, start.at);
  }

  #number(): Expression {
    const value = numberOf(this.peek().text);
    if (value === undefined) throw this.unexpected('a number that fits a double', 'write a smaller number');
    this.take();
    return { kind: 'number', value };
  }

  #name(text: string, at: number): Expression {
    const point = text.indexOf('.');
    const scope = SCOPES.find((it) => it === text.slice(0, point));
    const name = text.slice(point + 1);
    if (scope === undefined || name === '')
      throw this.fault(at, `${JSON.stringify(text)} is not a number`, 'write outputs.NAME or parameters.NAME');
    return { kind: 'name', scope, name };
  }

  #call(name: string, at: number): Expression {
    const known = (Object.keys(FUNCTIONS) as FunctionName[]).find((it) => it === name);
    if (known === undefined) {
      const names = Object.keys(FUNCTIONS);
      const nearest = closestMatch(name, names);
      const remedy = nearest === undefined ? `use one of ${names.join(', ')}` : `did you mean "${nearest}"?`;
      throw this.fault(at, `unknown function ${JSON.stringify(name)}`, remedy);
    }
    const start = this.peek();
    this.take();
    const terms: Expression[] = [];
    this.deeper(start, () => {
      do terms.push(this.joined('or'));
      while (this.takeSign(','));
    });
    this.close(start);
    const { takes } = FUNCTIONS[known];
    if (takes !== 'any' && terms.length !== takes) {
      const remedy = `give it ${takes === 1 ? 'one number' : `${takes} numbers`}`;
      throw this.fault(at, `${known} has ${terms.length} ${terms.length === 1 ? 'number' : 'numbers'}`, remedy);
    }
    return { kind: 'call', function: known, terms };
  }
}

/** The outputs and parameters that an expression names, each once and in order. */
export function expressionNames(expression: Expression): Record<Scope, string[]> {
  const names: Record<Scope, Set<string>> = { outputs: new Set(), parameters: new Set() };
  const pending: Expression[] = [expression];
  for (let it = pending.pop(); it !== undefined; it = pending.pop()) {
    if (it.kind === 'name') names[it.scope].add(it.name);
    else if ('terms' in it) pending.push(...it.terms.toReversed());
    else if ('term' in it) pending.push(it.term);
    else if ('left' in it) pending.push(it.right, it.left);
  }
  return { outputs: [...names.outputs], parameters: [...names.parameters] };
}

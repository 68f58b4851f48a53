/** The value of an expression for one run. Pure. */
import { compares } from '../../base/expressions/comparison.ts';
import type { Expression, Scope } from './expression.ts';
import { FUNCTIONS } from './functions.ts';

/** A number, or the reason why there is none. */
export type Valued = { value: number } | { missing: string };

/** A finite number of this name, or the reason why it has none. */
export type NumberOf = (scope: Scope, name: string) => Valued;

/** Thrown inside this file only. */
class Missing extends Error {}

/**
 * The value of an expression, finite. Missing when a name that it needs has no number, when a step is not a number, such as
 * `sqrt(-1)`, and when the result is infinite. Of `if` the chosen number alone is needed; `and` and `or` need their terms up to
 * the first that decides.
 */
export function evaluateExpression(expression: Expression, numberOf: NumberOf): Valued {
  try {
    const value = valueOf(expression, numberOf);
    return Number.isFinite(value) ? { value } : { missing: `the expression is ${value}` };
  } catch (error) {
    if (error instanceof Missing) return { missing: error.message };
    throw error;
  }
}

function valueOf(it: Expression, numberOf: NumberOf): number {
  const of = (term: Expression): number => valueOf(term, numberOf);
  switch (it.kind) {
    case 'number':
      return it.value;
    case 'name': {
      const found = numberOf(it.scope, it.name);
      if ('missing' in found) throw new Missing(found.missing);
      return found.value;
    }
    case 'negative':
      return -of(it.term);
    case 'not':
      return Number(of(it.term) === 0);
    case 'and':
      return Number(it.terms.every((term) => of(term) !== 0));
    case 'or':
      return Number(it.terms.some((term) => of(term) !== 0));
    case 'compare':
      return Number(compares(of(it.left), it.operator, of(it.right)));
    case 'arithmetic': {
      const [left, right] = [of(it.left), of(it.right)];
      return definite(arithmetic(it.operator, left, right), () => `${left} ${it.operator} ${right}`);
    }
    case 'call': {
      if (it.function === 'if') return of(of(it.terms[0]!) === 0 ? it.terms[2]! : it.terms[1]!);
      const numbers = it.terms.map(of);
      return definite(FUNCTIONS[it.function].of(...numbers), () => `${it.function}(${numbers.join(', ')})`);
    }
  }
}

function arithmetic(operator: '+' | '-' | '*' | '/', left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
  }
}

function definite(value: number, step: () => string): number {
  if (Number.isNaN(value)) throw new Missing(`${step()} is not a number`);
  return value;
}

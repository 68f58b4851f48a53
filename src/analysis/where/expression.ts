/** A `where` expression as a tree, and its text. */
import type { Logic } from '../../base/expressions/logic-parser.ts';
import { isNumeral } from '../../base/expressions/tokens.ts';

export type Literal = number | string | boolean;

export const COMPARISONS = ['=', '!=', '<', '<=', '>', '>='] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** A test of one column. `at` is the position of the column's name in the text, from 1. */
export type Test =
  | { kind: 'compare'; column: string; at: number; operator: Comparison; value: Literal }
  | { kind: 'in'; column: string; at: number; values: Literal[] }
  | { kind: 'null'; column: string; at: number; isNull: boolean };

export type Expression = Logic<Test>;

export const KEYWORDS: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'is', 'null', 'true', 'false']);

const PLAIN_WORD = /^[^\s()=!<>,'"]+$/;

/** The text of an expression, with as few parentheses and quotes as its meaning allows; parsing it gives an equal tree. */
export function printWhere(expression: Expression): string {
  switch (expression.kind) {
    case 'or':
      return expression.terms.map((it) => printWhere(it)).join(' or ');
    case 'and':
      return expression.terms.map((it) => (it.kind === 'or' ? `(${printWhere(it)})` : printWhere(it))).join(' and ');
    case 'not': {
      const { term } = expression;
      const isJoined = term.kind === 'and' || term.kind === 'or';
      return `not ${isJoined ? `(${printWhere(term)})` : printWhere(term)}`;
    }
    case 'compare':
      return `${printText(expression.column)} ${expression.operator} ${printLiteral(expression.value)}`;
    case 'in':
      return `${printText(expression.column)} in (${expression.values.map(printLiteral).join(', ')})`;
    case 'null':
      return `${printText(expression.column)} is ${expression.isNull ? '' : 'not '}null`;
  }
}

const printLiteral = (value: Literal): string => (typeof value === 'string' ? printText(value) : String(value));

/** Prints a text, without quotes where a bare word can mean only this text. */
function printText(text: string): string {
  const isBare = PLAIN_WORD.test(text) && !isNumeral(text) && !KEYWORDS.has(text.toLowerCase());
  return isBare ? text : `'${text.replaceAll("'", "''")}'`;
}

/** Mutations of a source text, found in the syntax tree of the TypeScript compiler. */
import type { Node, SourceFile } from 'typescript/unstable/ast';
import { SyntaxKind } from 'typescript/unstable/ast';
import {
  isAwaitExpression,
  isBinaryExpression,
  isConditionalExpression,
  isExpressionStatement,
  isIfStatement,
  isReturnStatement,
  isTryStatement,
} from 'typescript/unstable/ast/is';

export const OPERATORS = ['condition negated', 'boundary moved', 'await dropped', 'branch removed'] as const;

export interface Mutation {
  operator: (typeof OPERATORS)[number];
  /** The text in [start, end) becomes `replacement`. */
  start: number;
  end: number;
  replacement: string;
}

const BOUNDARIES = new Map([
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>'],
]);

/** True for `return await x` outside `try`: the caller waits for the promise itself as well. */
function isPassedOn(node: Node, parent: Node): boolean {
  if (!isReturnStatement(parent)) return false;
  for (let at: Node | undefined = node; at !== undefined; at = at.parent) if (isTryStatement(at)) return false;
  return true;
}

/** Every mutation of a file, in the order of the text. */
export function mutationsOf(file: SourceFile): Mutation[] {
  const found: Mutation[] = [];
  const add = (operator: Mutation['operator'], node: Node, replacement: string): void =>
    void found.push({ operator, start: node.getStart(file), end: node.end, replacement });
  const text = (node: Node): string => file.text.slice(node.getStart(file), node.end);
  const visit = (node: Node, parent: Node): void => {
    if (isIfStatement(node)) {
      const { expression, thenStatement, elseStatement } = node;
      add('condition negated', expression, `!(${text(expression)})`);
      add('branch removed', thenStatement, '{}');
      if (elseStatement !== undefined) add('branch removed', elseStatement, '{}');
    } else if (isConditionalExpression(node)) {
      add('condition negated', node.condition, `!(${text(node.condition)})`);
      add('branch removed', node, `(${text(node.whenFalse)})`);
    } else if (isBinaryExpression(node)) {
      const moved = BOUNDARIES.get(node.operatorToken.kind);
      if (moved !== undefined) add('boundary moved', node.operatorToken, moved);
    } else if (isAwaitExpression(node) && !isPassedOn(node, parent)) {
      const dropped = text(node.expression);
      add('await dropped', node, isExpressionStatement(parent) ? `void ${dropped}` : `(${dropped})`);
    }
    node.forEachChild((child) => visit(child, node));
  };
  file.forEachChild((node) => visit(node, file));
  return found;
}

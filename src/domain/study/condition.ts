/**
 * The grammar and the meaning of a termination condition: an operator and a number, such as `< 0` or `>=1.5e3`.
 * Used at submission (a fault is a 422) and by the runner's watchdog. Independent of telemetry and time.
 */
import { compares, CONDITION_OPERATORS, type ConditionOperator } from '../../base/expressions/comparison.ts';
import type { EarlyTerminationConfig, TerminationCondition } from '../../contract/types.ts';

export interface ParsedCondition {
  operator: ConditionOperator;
  /** Finite, in the units of the variable. */
  threshold: number;
}

/** A condition of a requirement on two sides: from `low` to `high`, both included. */
export interface ParsedRange {
  operator: '..';
  low: number;
  high: number;
}

/** Longer texts are rejected without parsing. */
const MAX_LENGTH = 100;
const GRAMMAR = /^[ \t]*(<=|>=|==|!=|<|>)[ \t]*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)[ \t]*$/;
const EXPECTED = `expected an operator (${CONDITION_OPERATORS.join(', ')}) and a number, for example "< 0" or ">= 1.5e3"`;

/**
 * Reads a condition: optional blanks, an operator, optional blanks, a finite decimal number (sign, fraction and exponent
 * allowed), optional blanks. Returns the fault as a sentence when the text is anything else.
 */
export function parseCondition(text: string): ParsedCondition | string {
  if (text.length > MAX_LENGTH) return `is ${text.length} characters long, the limit is ${MAX_LENGTH}; ${EXPECTED}`;
  const match = GRAMMAR.exec(text);
  const operator = CONDITION_OPERATORS.find((known) => known === match?.[1]);
  if (operator === undefined) return `${JSON.stringify(text)} is not a condition: ${hint(text)}${EXPECTED}`;
  const threshold = Number(match?.[2]);
  if (!Number.isFinite(threshold)) return `${JSON.stringify(text)} compares with a number too large for a double`;
  return { operator, threshold };
}

const RANGE =
  /^[ \t]*([+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)[ \t]*\.\.[ \t]*([+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)[ \t]*$/;

/** Reads the condition of a requirement: as above, or two ends such as `2500 .. 3200`. Returns the fault as a sentence, likewise. */
export function parseRequirementCondition(text: string): ParsedCondition | ParsedRange | string {
  const match = text.length > MAX_LENGTH ? null : RANGE.exec(text);
  if (match === null) {
    const parsed = parseCondition(text);
    return typeof parsed === 'string' ? `${parsed}, or two ends, for example "2500 .. 3200"` : parsed;
  }
  const [low, high] = [Number(match[1]), Number(match[2])];
  if (!Number.isFinite(low) || !Number.isFinite(high))
    return `${JSON.stringify(text)} compares with a number too large for a double`;
  if (low > high) return `${JSON.stringify(text)} holds for no number; write the smaller end first`;
  return { operator: '..', low, high };
}

/** The numbers that the condition of a requirement compares with; none of a text that is not one. */
export function limitsOf(text: string | null | undefined): number[] {
  const parsed = parseRequirementCondition(text ?? '');
  if (typeof parsed === 'string') return [];
  return parsed.operator === '..' ? [parsed.low, parsed.high] : [parsed.threshold];
}

/** Names the most common mistakes. */
function hint(text: string): string {
  const trimmed = text.trim();
  if (/^=[^=<>]/.test(trimmed)) return 'equality is written "=="; ';
  if (/^=[<>]/.test(trimmed)) return 'the operator is written "<=" or ">="; ';
  if (/^[<>!=]=?\s*[+-]?(?:nan|inf|infinity)$/i.test(trimmed)) return 'the number must be finite; ';
  if (/^[<>!=]=?\s*[+-]?\d+,\d+$/.test(trimmed)) return 'the decimal sign is a point; ';
  if (/^[\p{L}_]/u.test(trimmed)) return 'the variable is named in "variable", not here; ';
  return '';
}

/** The conditions that may end a run: none when early termination is off, or in shadow. */
export const endingConditions = ({
  enabled,
  shadow = false,
  conditions,
}: EarlyTerminationConfig): readonly TerminationCondition[] => (enabled && !shadow ? conditions : []);

/** True when `value` meets the condition. NaN meets none, not even `!=`; infinities compare as usual. */
export function meets(condition: ParsedCondition | ParsedRange, value: number): boolean {
  if (condition.operator === '..') return condition.low <= value && value <= condition.high;
  return compares(value, condition.operator, condition.threshold);
}

/** The variables that the conditions name, each once and in order; none when early termination is off. */
export function conditionVariables({ enabled, conditions }: EarlyTerminationConfig): string[] {
  return enabled ? [...new Set(conditions.map(({ variable }) => variable))] : [];
}

/** Comparisons of numbers. */

export const CONDITION_OPERATORS = ['<', '<=', '>', '>=', '==', '!='] as const;
export type ConditionOperator = (typeof CONDITION_OPERATORS)[number];

const COMPARISONS: Readonly<Record<ConditionOperator, (value: number, threshold: number) => boolean>> = {
  '<': (value, threshold) => value < threshold,
  '<=': (value, threshold) => value <= threshold,
  '>': (value, threshold) => value > threshold,
  '>=': (value, threshold) => value >= threshold,
  '==': (value, threshold) => value === threshold,
  '!=': (value, threshold) => value !== threshold,
};

/** True when the comparison of `value` with `threshold` holds. NaN meets none, not even `!=`; infinities compare as usual. */
export const compares = (value: number, operator: ConditionOperator, threshold: number): boolean =>
  !Number.isNaN(value) && COMPARISONS[operator](value, threshold);

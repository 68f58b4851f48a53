/** The functions of expressions. Pure. */

interface NumberFunction {
  /** How many numbers it takes; `any`: one or more. */
  takes: 1 | 2 | 3 | 'any';
  of: (...numbers: number[]) => number;
}

const TABLE = {
  min: { takes: 'any', of: Math.min },
  max: { takes: 'any', of: Math.max },
  hypot: { takes: 'any', of: Math.hypot },
  abs: { takes: 1, of: Math.abs },
  sqrt: { takes: 1, of: Math.sqrt },
  exp: { takes: 1, of: Math.exp },
  log: { takes: 1, of: Math.log },
  sin: { takes: 1, of: Math.sin },
  cos: { takes: 1, of: Math.cos },
  tan: { takes: 1, of: Math.tan },
  floor: { takes: 1, of: Math.floor },
  ceil: { takes: 1, of: Math.ceil },
  atan2: { takes: 2, of: Math.atan2 },
  pow: { takes: 2, of: Math.pow },
  if: { takes: 3, of: (chosen: number, first: number, second: number) => (chosen === 0 ? second : first) },
} as const satisfies Record<string, NumberFunction>;

export type FunctionName = keyof typeof TABLE;

/** Functions of numbers. Angles are in radians, `log` is the natural logarithm, `if(c, a, b)` is `b` where `c` is 0 and else `a`. */
export const FUNCTIONS: Readonly<Record<FunctionName, NumberFunction>> = TABLE;

/** The root finder of the gamma and beta quantiles. */

/** A function of x and what a third-order step needs, all with respect to t = ln x. */
export interface LogSlope {
  /** The function, increasing in x; 0 is sought. */
  value: number;
  /** Its first derivative in t. */
  slope: number;
  /** Its second derivative in t divided by its first. */
  bend: number;
}

const MAX_STEPS = 200;

/**
 * The step in ln x after which no other is needed, for a distribution whose width in ln x is at least about 1 / sqrt(1 + shape).
 * A Halley step cubes the error in units of that width, so what remains is below 1e-15.
 */
export function lastStep(shape: number): number {
  return 1e-5 / Math.sqrt(1 + shape);
}

/**
 * The x > 0 at which a function is 0, by Halley steps in ln x, kept in a bracket. `evaluate` writes to the object it is given.
 * NaN when it gives NaN (overflow inside). The solution's ln x must be below `bound`. `settled`: a step in ln x at most this large is the last one (it is still taken).
 */
export function solveInLog(
  start: number,
  bound: number,
  settled: number,
  evaluate: (x: number, at: LogSlope) => void,
): number {
  const at: LogSlope = { value: 0, slope: 0, bend: 0 };
  let t = start;
  let x = Math.exp(t);
  let below = Number.NEGATIVE_INFINITY;
  let above = bound;
  for (let count = 0; count < MAX_STEPS; count++) {
    evaluate(x, at);
    if (at.value === 0) return x;
    if (Number.isNaN(at.value)) return Number.NaN;
    if (at.value > 0) above = t;
    else below = t;
    let step = at.value / at.slope;
    const damping = 1 - 0.5 * step * at.bend;
    if (damping > 0.5 && damping < 2) step /= damping;
    if (Math.abs(step) <= settled) return x * Math.exp(-step);
    const next = t - step;
    if (next > below && next < above) t = next;
    else if (below > Number.NEGATIVE_INFINITY && above < Number.POSITIVE_INFINITY) t = 0.5 * (below + above);
    else t += at.value > 0 ? -2 : 2;
    x = Math.exp(t);
  }
  return x;
}

/** Probabilities of problems in closed form. */

/** The probability that the sum of `shape` standard exponentials is above `x`. */
export function poissonUpper(shape: number, x: number): number {
  let [term, total] = [Math.exp(-x), 0];
  for (let k = 0; k < shape; k++) {
    total += term;
    term *= x / (k + 1);
  }
  return total;
}

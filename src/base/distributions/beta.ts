/** The inverse CDF of the beta distribution. */
import { logDeviation, stirlingError } from './gamma-parts.ts';
import { standardNormalQuantile } from './normal.ts';
import { type LogSlope, lastStep, solveInLog } from './solve-log.ts';

/** Below this ln x, x is 0 in a double. */
const UNDERFLOW = -785;
/** A bound of ln x a little above the greatest solution, x = 1/2. */
const ABOVE_HALF = -0.6;

/**
 * The quantile function of the beta distribution (a = alpha > 0, b = beta > 0): u in [2^-53, 1 - 2^-53] to x in [0, 1], relative
 * error about 1e-12. Small parameters (under about 0.1) may give exactly 0 or 1: the true value is nearer to them than any double.
 */
export function betaQuantile(a: number, b: number): (u: number) => number {
  if (a === 1 && b === 1) return (u) => u;
  if (b === 1) return (u) => Math.exp(Math.log(u) / a);
  if (a === 1) return (u) => -Math.expm1(Math.log1p(-u) / b);
  const ofTails = solvedOfTails(a, b);
  return (u) => ofTails(u, 1 - u);
}

/** The same from both tails. */
export function betaOfTails(a: number, b: number): (p: number, q: number) => number {
  if (b === 1) return (p, q) => Math.exp((p <= q ? Math.log(p) : Math.log1p(-q)) / a);
  if (a === 1) return (p, q) => -Math.expm1((p <= q ? Math.log1p(-p) : Math.log(q)) / b);
  return solvedOfTails(a, b);
}

function solvedOfTails(a: number, b: number): (p: number, q: number) => number {
  const direct = new LowerHalf(a, b);
  const mirrored = new LowerHalf(b, a);
  const half: Tails = { p: 0, q: 0, density: 0 };
  direct.tails(0.5, half);
  const atHalf = half.p;
  // Always solved for the one of x and 1 - x that is at most 1/2, so that neither loses digits.
  return (p, q) => (p <= atHalf ? direct.quantile(p, q) : 1 - mirrored.quantile(q, p));
}

/** Both tails at x, and x^a (1 - x)^b / B(a, b). */
interface Tails {
  p: number;
  q: number;
  density: number;
}

/** The distribution below its argument 1/2. */
class LowerHalf {
  readonly #a: number;
  readonly #b: number;
  readonly #n: number;
  /** ln of the density's factor that does not depend on x. */
  readonly #logFactor: number;
  /** ln(a * B(a, b)): in the far lower tail the distribution function is x^a / (a B(a, b)). */
  readonly #logPower: number;
  readonly #tails: Tails = { p: 0, q: 0, density: 0 };

  constructor(a: number, b: number) {
    const n = a + b;
    this.#a = a;
    this.#b = b;
    this.#n = n;
    this.#logFactor =
      0.5 * Math.log((a / n) * (b / (2 * Math.PI))) + stirlingError(n) - stirlingError(a) - stirlingError(b);
    // B(a, b) = (a/n)^a (b/n)^b / exp(logFactor)
    this.#logPower = Math.log(a) + a * Math.log(a / n) - b * Math.log1p(a / b) - this.#logFactor;
  }

  tails(x: number, out: Tails): void {
    const a = this.#a;
    const b = this.#b;
    const n = this.#n;
    const y = 1 - x;
    const excess = x * n - a;
    const ofX = (x * n) / a < 0.5 ? excess / a - Math.log((x * n) / a) : logDeviation(excess / a);
    const ofY = (y * n) / b < 0.5 ? -excess / b - Math.log((y * n) / b) : logDeviation(-excess / b);
    out.density = Math.exp(this.#logFactor - a * ofX - b * ofY);
    if (x * (n + 2) <= a + 1) {
      out.p = out.density * betaFraction(a, b, x, y, -excess);
      out.q = Math.max(1 - out.p, 0);
    } else {
      out.q = out.density * betaFraction(b, a, y, x, excess);
      out.p = Math.max(1 - out.q, 0);
    }
  }

  /** The x at which the distribution function is u = 1 - q; it must be at most 1/2. */
  quantile(u: number, q: number): number {
    const a = this.#a;
    const b = this.#b;
    const powerLaw = (Math.log(u) + this.#logPower) / a;
    if (powerLaw < UNDERFLOW) return 0;
    if (powerLaw + Math.log(this.#n) < -40) return Math.exp(powerLaw);
    const lower = u <= 0.5;
    const tails = this.#tails;
    const evaluate = (x: number, at: LogSlope): void => {
      this.tails(x, tails);
      const slope = tails.density / (1 - x);
      at.value = lower ? Math.log(tails.p / u) : Math.log(q / tails.q);
      at.slope = lower ? slope / tails.p : slope / tails.q;
      at.bend = a - ((b - 1) * x) / (1 - x) + (lower ? -at.slope : at.slope);
    };
    return solveInLog(Math.min(startInLog(a, b, u, powerLaw), -Math.LN2), ABOVE_HALF, lastStep(this.#n), evaluate);
  }
}

/** A first guess of ln x. */
function startInLog(a: number, b: number, u: number, powerLaw: number): number {
  if (a <= 1 || b <= 1) return powerLaw;
  // Abramowitz and Stegun 26.5.22.
  const z = -standardNormalQuantile(u);
  const inverseA = 1 / (2 * a - 1);
  const inverseB = 1 / (2 * b - 1);
  const h = 2 / (inverseA + inverseB);
  const lambda = (z * z - 3) / 6;
  const w = (z * Math.sqrt(h + lambda)) / h - (inverseB - inverseA) * (lambda + 5 / 6 - 2 / (3 * h));
  return -Math.log1p((b / a) * Math.exp(2 * w));
}

/**
 * I_x(a, b) divided by the density: the even part of the continued fraction DLMF 8.17.22 by the modified Lentz method.
 * `y` is 1 - x and `lead` is a - (a + b) x, both without the caller's rounding of 1 - x: that would cost all digits that x is
 * smaller than 1.
 */
export function betaFraction(a: number, b: number, x: number, y: number, lead: number): number {
  const before = a + b - 1;
  let denominator = (a * (lead + 1)) / (a + 1);
  let c = Number.POSITIVE_INFINITY;
  let d = 1 / denominator;
  let value = d;
  for (let m = 1; m < 100000; m++) {
    const twice = a + 2 * m;
    const share = (m * (b - m) * x) / (twice - 1);
    const numerator = ((a + m - 1) * (before + m) * x * share) / (twice - 1);
    denominator = m + share + ((a + m) * (lead + 1 + m * (1 + y))) / (twice + 1);
    d = 1 / (denominator + numerator * d);
    c = denominator + numerator / c;
    const factor = c * d;
    value *= factor;
    // Written so that NaN (parameters near the greatest double) ends it too.
    if (!(Math.abs(factor - 1) >= 2.3e-16)) break;
  }
  return value;
}

/** The gamma distribution: its inverse CDF, and both tails. */
import type { Law, Tails } from './bounds.ts';
import { logDeviation, logGamma, stirlingError } from './gamma-parts.ts';
import { normalQuantileOfTails, normalTails } from './normal.ts';
import { type LogSlope, lastStep, solveInLog } from './solve-log.ts';

/** From this shape on the asymptotic inversion is good to the last digits, and faster. */
const ASYMPTOTIC_SHAPE = 2000;
/** The normal deviates divided by sqrt(shape) for which the asymptotic inversion is good: 8.3 at the least shape. */
const ASYMPTOTIC_RANGE = 0.19;
/** Below this ln x, x is 0 in a double. */
const UNDERFLOW = -785;

/**
 * The quantile function of the gamma distribution with this shape (> 0) and scale 1: u in [2^-53, 1 - 2^-53] to x >= 0, relative
 * error about 1e-13. Below the least double it is 0 (shapes under about 0.05).
 */
export function gammaQuantile(shape: number): (u: number) => number {
  if (shape === 1) return (u) => -Math.log1p(-u);
  const ofTails = gammaQuantileOfTails(shape);
  return (u) => ofTails(u, 1 - u);
}

/** The gamma distribution of scale `scale`, exact in both tails, which may be as small as 1e-300. */
export function gammaLaw(shape: number, scale: number): Law {
  const tails = gammaTails(shape);
  const quantile = gammaQuantileOfTails(shape);
  return {
    origin: 0,
    tails: (x, out) => tails(x / scale, out),
    quantile: (p, q) => quantile(p, q) * scale,
  };
}

/** The quantile function from both tails p = 1 - q, solved in the smaller one. */
function gammaQuantileOfTails(shape: number): (p: number, q: number) => number {
  const tailsAt = seriesTails(shape);
  const logGammaNext = logGamma(shape + 1);
  const settled = lastStep(shape);
  const tails = { p: 0, q: 0, density: 0 };
  const solved = (u: number, q: number): number => {
    const lower = u <= 0.5;
    // In the far lower tail P(x) = x^a / Gamma(a + 1).
    const powerLaw = (Math.log(u) + logGammaNext) / shape;
    if (powerLaw < UNDERFLOW) return 0;
    if (powerLaw < -40) return Math.exp(powerLaw);
    const evaluate = (x: number, at: LogSlope): void => {
      tailsAt(x, tails);
      at.value = lower ? Math.log(tails.p / u) : Math.log(q / tails.q);
      at.slope = lower ? tails.density / tails.p : tails.density / tails.q;
      at.bend = shape - x + (lower ? -at.slope : at.slope);
    };
    return solveInLog(startInLog(shape, u, q, powerLaw, logGammaNext), Number.POSITIVE_INFINITY, settled, evaluate);
  };
  if (shape < ASYMPTOTIC_SHAPE) return solved;
  return (p, q) => {
    const e = normalQuantileOfTails(p, q) / Math.sqrt(shape);
    return Math.abs(e) <= ASYMPTOTIC_RANGE ? asymptoticQuantile(shape, e) : solved(p, q);
  };
}

/** Both tails of the gamma distribution with scale 1 at x > 0. */
function gammaTails(shape: number): (x: number, out: Tails) => void {
  const series = seriesTails(shape);
  const found = { p: 0, q: 0, density: 0 };
  return (x, out) => {
    const e = shape < ASYMPTOTIC_SHAPE ? Number.NaN : asymptoticDeviate(shape, x);
    if (Math.abs(e) <= ASYMPTOTIC_RANGE) {
      normalTails(e * Math.sqrt(shape), out);
      return;
    }
    series(x, found);
    out.p = found.p;
    out.q = found.q;
  };
}

/** Both tails, and x^a e^-x / Gamma(a), by a series or a continued fraction. */
function seriesTails(shape: number): (x: number, out: Tails & { density: number }) => void {
  const density = densityInLog(shape);
  return (x, out) => {
    const d = density(x);
    out.density = d;
    if (x < shape + 1 && !(shape < 1 && x > 0.7)) {
      out.p = d * lowerSeries(shape, x);
      out.q = Math.max(1 - out.p, 0);
    } else {
      out.q = d * upperFraction(shape, x);
      out.p = Math.max(1 - out.q, 0);
    }
  };
}

/** x^a e^-x / Gamma(a): the density in ln x. */
function densityInLog(a: number): (x: number) => number {
  const factor = Math.sqrt(a / (2 * Math.PI)) * Math.exp(-stirlingError(a));
  return (x) => {
    const ratio = x / a;
    const deviation = ratio < 0.5 ? ratio - 1 - Math.log(ratio) : logDeviation((x - a) / a);
    return factor * Math.exp(-a * deviation);
  };
}

/** P(a, x) divided by the density: the sum of x^n / (a (a + 1) ... (a + n)). */
function lowerSeries(a: number, x: number): number {
  let term = 1 / a;
  let sum = term;
  for (let n = a + 1; term > sum * 1e-17; n += 1) {
    term *= x / n;
    sum += term;
  }
  return sum;
}

/** Q(a, x) divided by the density: Legendre's continued fraction (DLMF 8.9.2) by the modified Lentz method. */
function upperFraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = Number.POSITIVE_INFINITY;
  let d = 1 / b;
  let value = d;
  for (let n = 1; n < 10000; n++) {
    const numerator = -n * (n - a);
    b += 2;
    d = 1 / (b + numerator * d);
    c = b + numerator / c;
    const factor = c * d;
    value *= factor;
    // Written so that NaN ends it too.
    if (!(Math.abs(factor - 1) >= 1.2e-16)) break;
  }
  return value;
}

/** A first guess of ln x. */
function startInLog(a: number, u: number, q: number, powerLaw: number, logGammaNext: number): number {
  if (a >= 1) {
    // Wilson and Hilferty (1931): the cube root is nearly normal.
    const root = 1 - 1 / (9 * a) + normalQuantileOfTails(u, q) / (3 * Math.sqrt(a));
    return root > 0 ? Math.max(powerLaw, Math.log(a * root * root * root)) : powerLaw;
  }
  if (u <= 0.5 || powerLaw < Math.log(0.2)) return powerLaw;
  // In the upper tail Q(x) = x^(a-1) e^-x / Gamma(a).
  const level = -Math.log(q) - (logGammaNext - Math.log(a));
  return Math.log(level > 1.2 ? level - (1 - a) * Math.log(level) : Math.max(0.1, 0.4 * level + 0.4));
}

/** Temme's inversion for large shapes, `e` being the normal deviate divided by sqrt(a): Math. Comp. 58 (1992) 755; DLMF 8.12. */
function asymptoticQuantile(a: number, e: number): number {
  return a * (1 + polynomial(MU, e + correction(a, e)));
}

/** The inverse of `asymptoticQuantile`: the normal deviate of x divided by sqrt(a). */
function asymptoticDeviate(a: number, x: number): number {
  const m = (x - a) / a;
  const size = Math.sqrt(2 * (x < 0.5 * a ? m - Math.log(x / a) : logDeviation(m)));
  const eta = m < 0 ? -size : size;
  let e = eta;
  // The correction is of order 1 / a: each step gains its digits.
  for (let step = 0; step < 6; step++) e = eta - correction(a, e);
  return e;
}

function correction(a: number, e: number): number {
  return (polynomial(ETA_1, e) + (polynomial(ETA_2, e) + polynomial(ETA_3, e) / a) / a) / a;
}

/** Coefficients from the lowest. */
function polynomial(coefficients: readonly number[], at: number): number {
  let value = 0;
  for (let k = coefficients.length - 1; k >= 0; k--) value = value * at + coefficients[k]!;
  return value;
}

const ETA_1 = [-1 / 3, 1 / 36, 1 / 1620, -7 / 6480, 5 / 18144, -11 / 382725, -101 / 16329600, 37 / 9797760];
const ETA_2 = [-7 / 405, -7 / 2592, 533 / 204120, -1579 / 2099520, 109 / 1749600, 10217 / 251942400];
const ETA_3 = [449 / 102060, -63149 / 20995200, 29233 / 36741600, 346793 / 5290790400];
const MU = [0, 1, 1 / 3, 1 / 36, -1 / 270, 1 / 4320, 1 / 17010, -139 / 5443200, 1 / 204120, -571 / 2351462400];

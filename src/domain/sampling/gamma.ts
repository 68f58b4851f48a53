/** The inverse CDF of the gamma distribution with scale 1. */
import { logDeviation, logGamma, stirlingError } from './gamma-parts.ts';
import { standardNormalQuantile } from './normal.ts';
import { type LogSlope, lastStep, solveInLog } from './solve-log.ts';

/** From this shape on the asymptotic inversion is good to the last digits, and faster. */
const ASYMPTOTIC_SHAPE = 2000;
/** Below this ln x, x is 0 in a double. */
const UNDERFLOW = -785;

/**
 * The quantile function of the gamma distribution with this shape (> 0) and scale 1: u in [2^-53, 1 - 2^-53] to x >= 0, relative
 * error about 1e-13. Below the least double it is 0 (shapes under about 0.05).
 */
export function gammaQuantile(shape: number): (u: number) => number {
  if (shape === 1) return (u) => -Math.log1p(-u);
  if (shape >= ASYMPTOTIC_SHAPE) return (u) => asymptoticQuantile(shape, u);
  const density = densityInLog(shape);
  const logGammaNext = logGamma(shape + 1);
  const settled = lastStep(shape);
  return (u) => {
    const q = 1 - u;
    const lower = u <= 0.5;
    // In the far lower tail P(x) = x^a / Gamma(a + 1).
    const powerLaw = (Math.log(u) + logGammaNext) / shape;
    if (powerLaw < UNDERFLOW) return 0;
    if (powerLaw < -40) return Math.exp(powerLaw);
    const evaluate = (x: number, at: LogSlope): void => {
      const d = density(x);
      let p: number;
      let rest: number;
      if (x < shape + 1 && !(shape < 1 && x > 0.7)) {
        p = d * lowerSeries(shape, x);
        rest = Math.max(1 - p, 0);
      } else {
        rest = d * upperFraction(shape, x);
        p = Math.max(1 - rest, 0);
      }
      at.value = lower ? Math.log(p / u) : Math.log(q / rest);
      at.slope = lower ? d / p : d / rest;
      at.bend = shape - x + (lower ? -at.slope : at.slope);
    };
    return solveInLog(startInLog(shape, u, powerLaw, logGammaNext), Number.POSITIVE_INFINITY, settled, evaluate);
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
function startInLog(a: number, u: number, powerLaw: number, logGammaNext: number): number {
  if (a >= 1) {
    // Wilson and Hilferty (1931): the cube root is nearly normal.
    const root = 1 - 1 / (9 * a) + standardNormalQuantile(u) / (3 * Math.sqrt(a));
    return root > 0 ? Math.max(powerLaw, Math.log(a * root * root * root)) : powerLaw;
  }
  if (u <= 0.5 || powerLaw < Math.log(0.2)) return powerLaw;
  // In the upper tail Q(x) = x^(a-1) e^-x / Gamma(a).
  const level = -Math.log(1 - u) - (logGammaNext - Math.log(a));
  return Math.log(level > 1.2 ? level - (1 - a) * Math.log(level) : Math.max(0.1, 0.4 * level + 0.4));
}

/** Temme's inversion for large shapes: Math. Comp. 58 (1992) 755; DLMF 8.12. */
function asymptoticQuantile(a: number, u: number): number {
  const e = standardNormalQuantile(u) / Math.sqrt(a);
  const eta = e + (polynomial(ETA_1, e) + (polynomial(ETA_2, e) + polynomial(ETA_3, e) / a) / a) / a;
  return a * (1 + polynomial(MU, eta));
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

/** The standard normal distribution: its inverse CDF, and both tails. */

/**
 * The standard normal quantile of u in (0, 1), relative error about 1e-16.
 * Source: Wichura, algorithm AS 241 (PPND16), Appl. Statist. 37 (1988) 477, doi:10.2307/2347330.
 */
export function standardNormalQuantile(u: number): number {
  const centred = u - 0.5;
  if (Math.abs(centred) <= 0.425) {
    const r = 0.180625 - centred * centred;
    return (centred * polynomial7(CENTRE, r)) / polynomial7(CENTRE_BELOW, r);
  }
  // In the upper tail from 1 - u, which is exact there.
  const r = Math.sqrt(-Math.log(centred < 0 ? u : 1 - u));
  const size =
    r <= 5
      ? polynomial7(FLANK, r - 1.6) / polynomial7(FLANK_BELOW, r - 1.6)
      : polynomial7(TAIL, r - 5) / polynomial7(TAIL_BELOW, r - 5);
  return centred < 0 ? -size : size;
}

/** The standard normal quantile from both tails, solved in the smaller one. */
export function normalQuantileOfTails(p: number, q: number): number {
  return p <= q ? standardNormalQuantile(p) : -standardNormalQuantile(q);
}

/**
 * Writes P(Z <= z) to `p` and P(Z > z) to `q`, the relative error of each about 1e-15 down to 1e-300.
 * Source: Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 23 (1969) 631, doi:10.2307/2004390.
 */
export function normalTails(z: number, out: { p: number; q: number }): void {
  const size = Math.abs(z);
  if (size <= 0.67448975) {
    const half = z * ratio(MIDDLE, MIDDLE_BELOW, z * z);
    out.p = 0.5 + half;
    out.q = 0.5 - half;
    return;
  }
  const smaller = size > 40 ? 0 : upperTail(size);
  out.p = z < 0 ? smaller : 1 - smaller;
  out.q = z < 0 ? 1 - smaller : smaller;
}

/** P(Z > z) for z > 0.67. */
function upperTail(z: number): number {
  let factor: number;
  if (z <= 5.656854249492381) {
    factor = ratio(NEAR, NEAR_BELOW, z);
  } else {
    const s = 1 / (z * z);
    factor = (INVERSE_SQRT_2PI - s * ratio(FAR, FAR_BELOW, s)) / z;
  }
  // exp(-z^2 / 2) in two parts: a square with few digits, which is exact, and the rest.
  const coarse = Math.trunc(z * 16) / 16;
  return Math.exp(-0.5 * coarse * coarse) * Math.exp(-0.5 * (z - coarse) * (z + coarse)) * factor;
}

/** A quotient of polynomials, coefficients from the highest. */
function ratio(numerator: readonly number[], denominator: readonly number[], x: number): number {
  let above = 0;
  let below = 0;
  for (const coefficient of numerator) above = above * x + coefficient;
  for (const coefficient of denominator) below = below * x + coefficient;
  return above / below;
}

/** A polynomial of degree 7, coefficients from the highest. */
function polynomial7(c: readonly number[], r: number): number {
  return ((((((c[0]! * r + c[1]!) * r + c[2]!) * r + c[3]!) * r + c[4]!) * r + c[5]!) * r + c[6]!) * r + c[7]!;
}

const CENTRE = [
  2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513,
  133.14166789178438, 3.3871328727963665,
];
const CENTRE_BELOW = [
  5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751, 687.1870074920579,
  42.31333070160091, 1,
];
const FLANK = [
  0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
  5.769497221460691, 4.630337846156546, 1.4234371107496835,
];
const FLANK_BELOW = [
  1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
  1.6763848301838038, 2.053191626637759, 1,
];
const TAIL = [
  2.0103343992922881e-7, 2.7115555687434876e-5, 0.0012426609473880784, 0.026532189526576124, 0.29656057182850487,
  1.7848265399172913, 5.463784911164114, 6.657904643501103,
];
const TAIL_BELOW = [
  2.0442631033899397e-15, 1.421511758316446e-7, 1.8463183175100548e-5, 0.0007868691311456133, 0.014875361290850615,
  0.1369298809227358, 0.599832206555888, 1,
];

const INVERSE_SQRT_2PI = 0.3989422804014327;
const MIDDLE = [0.06568233791820745, 2.2352520354606837, 161.02823106855587, 1067.689485460371, 18154.98125334356];
const MIDDLE_BELOW = [1, 47.202581904688245, 976.0985517377767, 10260.932208618979, 45507.78933502673];
const NEAR = [
  1.0765576773720192e-8, 0.39894151208813466, 8.883149794388375, 93.50665613217785, 597.2702763948002,
  2494.5375852903726, 6848.190450536283, 11602.65143764735, 9842.714838383978,
];
const NEAR_BELOW = [
  1, 22.266688044328117, 235.387901782625, 1519.3775994075547, 6485.558298266761, 18615.571640885097, 34900.95272114598,
  38912.00328609327, 19685.429676859992,
];
const FAR = [
  0.02307344176494017, 0.215898534057957, 0.12740116116024736, 0.022235277870649807, 0.0014216191932278936,
  2.9112874951168793e-5,
];
const FAR_BELOW = [
  1, 1.284260096144911, 0.4682382124808651, 0.06598813786892856, 0.0037823963320275824, 7.297515550839662e-5,
];

/** The inverse CDF of the standard normal distribution. */

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

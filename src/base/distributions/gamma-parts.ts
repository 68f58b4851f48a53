/** Parts of the gamma function that the gamma and beta quantiles share, in forms that keep all digits for large arguments. */

/** m - log1p(m) for m > -1, without cancellation near 0. */
export function logDeviation(m: number): number {
  if (m < -0.4 || m > 0.6) return m - Math.log1p(m);
  const r = m / (2 + m);
  const s = r * r;
  let sum = 0;
  for (let odd = 37; odd >= 3; odd -= 2) sum = sum * s + 1 / odd;
  return r * (m - 2 * s * sum);
}

/** ln of Gamma(a) * sqrt(a / 2 pi) * (e / a)^a, the factor by which Stirling's formula is off, for a > 0. */
export function stirlingError(a: number): number {
  let shifted = 0;
  while (a < 10) {
    shifted += (a + 0.5) * Math.log1p(1 / a) - 1;
    a += 1;
  }
  const i = 1 / a;
  const s = i * i;
  const series =
    1 / 12 + s * (-1 / 360 + s * (1 / 1260 + s * (-1 / 1680 + s * (1 / 1188 + s * (-691 / 360360 + s / 156)))));
  return shifted + i * series;
}

/** ln Gamma(a) for a > 0. */
export function logGamma(a: number): number {
  return stirlingError(a) - 0.5 * Math.log(a / (2 * Math.PI)) + a * (Math.log(a) - 1);
}

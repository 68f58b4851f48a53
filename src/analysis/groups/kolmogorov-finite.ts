/** The distribution of the one-sample Kolmogorov-Smirnov distance for a finite number of values. */
import { kolmogorovSf } from '../special/kolmogorov.ts';

/** Beyond n d^2 = 2.2 the two one-sided events hardly meet, and twice the one-sided tail has all digits. */
const TAIL = 2.2;
/** Beyond this n d^2 the tail is below the smallest double. */
const UNDERFLOW = 373;
/** Up to this size, or up to this n d^1.5 and the larger size, the exact matrix power is used; above it the expansion. */
const MOST_EXACT = 140;
const MOST_EXACT_POWER = 1.4;
const MOST_EXACT_LARGE = 100_000;
const SCALE = 1e140;

/**
 * P(D_n >= d) for n >= 1 values of a continuous distribution, d in [0, 1]. Exact to about 1e-13 up to n = 140, in the upper
 * tail, and for small distances; else by an expansion whose error is 2e-6 at n = 141 and falls with n^-2.
 * Source: the selection of Simard and L'Ecuyer, J. Stat. Softw. 39 (2011) 11.
 */
export function kolmogorovSmirnovSf(n: number, d: number): number {
  if (2 * n * d <= 1) return 1;
  if (d >= 1) return 0;
  if (n * d * d >= UNDERFLOW) return 0;
  if (n * d * d >= TAIL) return Math.min(1, 2 * oneSidedTail(n, d));
  const isExact = n <= MOST_EXACT || (n <= MOST_EXACT_LARGE && n * d ** 1.5 <= MOST_EXACT_POWER);
  const tail = isExact ? 1 - matrixPowerCdf(n, d) : expansionTail(n, d);
  return Math.min(1, Math.max(0, tail));
}

/**
 * P(D_n+ >= d) = d sum_j C(n, j) (j/n + d)^(j-1) (1 - d - j/n)^(n-j), all terms positive.
 * Source: Smirnov (1944); Birnbaum and Tingey, Ann. Math. Stat. 22 (1951) 592.
 */
function oneSidedTail(n: number, d: number): number {
  let logChoose = 0;
  let sum = 0;
  for (let j = 0; j <= n; j++) {
    const rest = 1 - d - j / n;
    if (rest <= 0 && n > j) break;
    sum += Math.exp(logChoose + (j - 1) * Math.log(j / n + d) + (n - j) * (n > j ? Math.log(rest) : 0));
    logChoose += Math.log((n - j) / (j + 1));
  }
  return d * sum;
}

/**
 * P(D_n < d) exactly: n!/n^n times the middle entry of the n-th power of a matrix of size 2k - 1, d = (k - h)/n.
 * Source: Marsaglia, Tsang and Wang, J. Stat. Softw. 8 (2003) 18 (Durbin 1973).
 */
function matrixPowerCdf(n: number, d: number): number {
  const k = Math.floor(n * d) + 1;
  const size = 2 * k - 1;
  const middle = k - 1;
  const { matrix, exponent } = power(durbinMatrix(size, k - n * d), size, n, middle);
  let value = matrix[middle * size + middle]!;
  let decades = exponent;
  for (let i = 1; i <= n; i++) {
    value *= i / n;
    if (value < 1 / SCALE) {
      value *= SCALE;
      decades--;
    }
  }
  return decades === 0 ? value : value * SCALE ** decades;
}

function durbinMatrix(size: number, h: number): Float64Array {
  const matrix = new Float64Array(size * size);
  const factorials = new Float64Array(size + 1).fill(1);
  for (let i = 2; i <= size; i++) factorials[i] = factorials[i - 1]! * i;
  for (let row = 0; row < size; row++) {
    for (let column = 0; column <= Math.min(row + 1, size - 1); column++) {
      let value = 1;
      if (column === 0) value -= h ** (row + 1);
      if (row === size - 1) value -= h ** (size - column);
      if (column === 0 && row === size - 1) value += Math.max(0, 2 * h - 1) ** size;
      matrix[row * size + column] = value / factorials[row - column + 1]!;
    }
  }
  return matrix;
}

interface Scaled {
  matrix: Float64Array;
  /** The value is the matrix times 1e140 to this power. */
  exponent: number;
}

function power(base: Float64Array, size: number, n: number, middle: number): Scaled {
  if (n === 1) return { matrix: base, exponent: 0 };
  const half = power(base, size, n >> 1, middle);
  let matrix = product(half.matrix, half.matrix, size);
  let exponent = 2 * half.exponent;
  if (n % 2 === 1) matrix = product(base, matrix, size);
  if (matrix[middle * size + middle]! > SCALE) {
    matrix = matrix.map((value) => value / SCALE);
    exponent++;
  }
  return { matrix, exponent };
}

function product(a: Float64Array, b: Float64Array, size: number): Float64Array {
  const result = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < size; k++) {
      const factor = a[i * size + k]!;
      if (factor === 0) continue;
      for (let j = 0; j < size; j++) result[i * size + j]! += factor * b[k * size + j]!;
    }
  }
  return result;
}

/**
 * The limit and its corrections of order n^-1/2, n^-1 and n^-3/2, in the form that converges for small arguments.
 * Source: Pelz and Good, J. R. Statist. Soc. B 38 (1976) 152.
 */
function expansionTail(n: number, d: number): number {
  const z = Math.sqrt(n) * d;
  const [z2, z3, z4, z6, z8] = [z ** 2, z ** 3, z ** 4, z ** 6, z ** 8] as const;
  const [p2, p4, p6] = [Math.PI ** 2, Math.PI ** 4, Math.PI ** 6] as const;
  const rootTwoPi = Math.sqrt(2 * Math.PI);
  const terms = Math.ceil((16 * z) / Math.PI);
  let [k1, k2, k3] = [0, 0, 0];
  for (let term = terms; term >= 1; term--) {
    const m2 = (2 * term - 1) ** 2;
    const weight = Math.exp((-p2 / (8 * z2)) * m2);
    k1 += weight * (-z2 + (p2 / 4) * m2);
    k2 += weight * (6 * z6 + 2 * z4 + ((2 * z4 - 5 * z2) * p2 * m2) / 4 + (p4 * (1 - 2 * z2) * m2 ** 2) / 16);
    k3 +=
      weight *
      (-30 * z6 -
        90 * z8 +
        (p2 * (135 * z4 - 96 * z6) * m2) / 4 +
        (p4 * (212 * z4 - 60 * z2) * m2 ** 2) / 16 +
        (p6 * (5 - 30 * z2) * m2 ** 3) / 64);
  }
  let [extra2, extra3] = [0, 0];
  for (let term = terms; term >= 1; term--) {
    const t2 = term ** 2;
    const weight = t2 * Math.exp((-p2 / (2 * z2)) * t2);
    extra2 += weight;
    extra3 += weight * (3 * z2 - p2 * t2);
  }
  const first = (rootTwoPi * k1) / (6 * z4);
  const second = rootTwoPi * (k2 / (72 * z ** 7) - (p2 * extra2) / (36 * z3));
  const third = rootTwoPi * (k3 / (6480 * z ** 10) + (p2 * extra3) / (216 * z6));
  return kolmogorovSf(z) - first / Math.sqrt(n) - second / n - third / n ** 1.5;
}

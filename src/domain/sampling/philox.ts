/**
 * Philox4x32-10: 128 random bits as a pure function of a 64-bit key and a counter. Everything random in a study comes from here.
 * No state, no seed handling (`key.ts`) and no distributions (`quantiles.ts`).
 */

/** The use of a block, as the last word of the counter, so that no two uses share a block. */
export const TAG_MONTE_CARLO = 1;
export const TAG_LHS_JITTER = 2;
export const TAG_LHS_ROUNDS = 3;
export const TAG_OWEN_TREE = 4;
export const TAG_OWEN_TAIL = 5;
export const TAG_NOISE_FLOOR = 6;
export const TAG_AUDIT = 7;
export const TAG_BAND = 8;
export const TAG_RARE_NORMALS = 9;
export const TAG_RARE_CHOICE = 10;
export const TAG_BOOTSTRAP = 11;
export const TAG_DRAWN_ROWS = 12;

export const ROUNDS = 10;
export const MULTIPLIER_0 = 0xd2511f53 | 0;
export const MULTIPLIER_1 = 0xcd9e8d57 | 0;
export const WEYL_0 = 0x9e3779b9 | 0;
export const WEYL_1 = 0xbb67ae85 | 0;

/** The upper 32 bits of the 64-bit product of two uint32, as int32. Exact: built from 16-bit halves. */
export function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = (Math.imul(aHigh, bLow) + (Math.imul(aLow, bLow) >>> 16)) | 0;
  const carry = (Math.imul(aLow, bHigh) + (middle & 0xffff)) | 0;
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (carry >>> 16)) | 0;
}

/**
 * Writes the four words (as int32) of the block at counter (c0, c1, c2, c3) under key (k0, k1) to `out`.
 * Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011), doi:10.1145/2063384.2063405.
 */
export function philox(
  k0: number,
  k1: number,
  c0: number,
  c1: number,
  c2: number,
  c3: number,
  out: Int32Array | Uint32Array,
): void {
  for (let round = 0; round < ROUNDS; round++) {
    const next0 = multiplyHigh(MULTIPLIER_1, c2) ^ c1 ^ k0;
    const next2 = multiplyHigh(MULTIPLIER_0, c0) ^ c3 ^ k1;
    c1 = Math.imul(MULTIPLIER_1, c2);
    c3 = Math.imul(MULTIPLIER_0, c0);
    c0 = next0;
    c2 = next2;
    k0 = (k0 + WEYL_0) | 0;
    k1 = (k1 + WEYL_1) | 0;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/** 52 bits of two words as an integer: all of `high`, the upper 20 of `low`. */
export function bits52(high: number, low: number): number {
  return (high >>> 0) * 0x100000 + (low >>> 12);
}

/**
 * Two words as a uniform in [2^-53, 1 - 2^-53]: never 0 or 1, exact in a double, symmetric about 1/2. (53 bits would not do:
 * (k + 0.5) * 2^-53 rounds for k >= 2^52 and can give exactly 1.)
 */
export function openUniform(high: number, low: number): number {
  return (bits52(high, low) + 0.5) * 2 ** -52;
}

/** Inverse CDFs in closed form between two bounds. Arguments are uniforms in [2^-53, 1 - 2^-53]. */
import type { Values, ValuesOfTails } from './entry.ts';

const clamp = (value: number, min: number, max: number): number => (value < min ? min : value > max ? max : value);

/** Uniform on [min, max]. */
export function uniformQuantile(min: number, max: number): Values {
  const range = max - min;
  // A range above the greatest double is weighed from both ends.
  if (!Number.isFinite(range)) return (u) => (1 - u) * min + u * max;
  return (u) => {
    const value = min + u * range;
    return value < min ? min : value > max ? max : value;
  };
}

/** Uniform on [min, max], from both tails. */
export function uniformOfTails(min: number, max: number): ValuesOfTails {
  const range = max - min;
  if (!Number.isFinite(range)) return (p, q) => q * min + p * max;
  return (p, q) => clamp(p <= q ? min + p * range : max - q * range, min, max);
}

/** Loguniform on [min, max], 0 < min <= max. */
export function loguniformQuantile(min: number, max: number): Values {
  const ofTails = loguniformOfTails(min, max);
  return (u) => ofTails(u, 1 - u);
}

/** The same from both tails. */
export function loguniformOfTails(min: number, max: number): ValuesOfTails {
  const from = Math.log(min);
  const to = Math.log(max);
  return (p, q) => clamp(Math.exp(q * from + p * to), min, max);
}

/**
 * Triangular on [min, max] with its peak at `mode`. Each side is measured from the nearer to 0 of its two ends, so that samples near 0
 * keep their digits.
 */
export function triangularQuantile(min: number, mode: number, max: number): Values {
  const ofTails = triangularOfTails(min, mode, max);
  return (u) => ofTails(u, 1 - u);
}

/** The same from both tails. */
export function triangularOfTails(min: number, mode: number, max: number): ValuesOfTails {
  const range = max - min;
  if (range === 0) return () => min;
  const rising = (mode - min) / range;
  const falling = (max - mode) / range;
  const left = Math.sqrt(rising);
  const right = Math.sqrt(falling);
  // From the mode: sqrt(a) - sqrt(b) = (a - b) / (sqrt(a) + sqrt(b)).
  const below: Values =
    Math.abs(min) <= Math.abs(mode)
      ? (u) => min + range * left * Math.sqrt(u)
      : (u) => mode - (range * left * (rising - u)) / (left + Math.sqrt(u));
  const above: ValuesOfTails =
    Math.abs(max) <= Math.abs(mode)
      ? (_, q) => max - range * right * Math.sqrt(q)
      : (p, q) => mode + (range * right * (p - rising)) / (right + Math.sqrt(q));
  return (p, q) => clamp(p <= rising ? below(p) : above(p, q), min, max);
}

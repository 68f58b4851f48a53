/** Inverse CDFs in closed form between two bounds. Arguments are uniforms in [2^-53, 1 - 2^-53]. */
import type { Values } from './entry.ts';

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

/** Loguniform on [min, max], 0 < min <= max. */
export function loguniformQuantile(min: number, max: number): Values {
  const from = Math.log(min);
  const to = Math.log(max);
  return (u) => clamp(Math.exp((1 - u) * from + u * to), min, max);
}

/**
 * Triangular on [min, max] with its peak at `mode`. Each side is measured from the nearer to 0 of its two ends, so that samples near 0
 * keep their digits.
 */
export function triangularQuantile(min: number, mode: number, max: number): Values {
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
  const above: Values =
    Math.abs(max) <= Math.abs(mode)
      ? (u) => max - range * right * Math.sqrt(1 - u)
      : (u) => mode + (range * right * (u - rising)) / (right + Math.sqrt(1 - u));
  return (u) => clamp(u <= rising ? below(u) : above(u), min, max);
}

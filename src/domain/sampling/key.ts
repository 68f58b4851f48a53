/**
 * The random key of one parameter, derived from the study's method, replicate and seed and the parameter's name. The distribution is not
 * in it on purpose: changing a mean keeps the same uniforms (common random numbers).
 */
import { createHash } from 'node:crypto';
import type { SamplingMethod } from '../../contract/types.ts';
import type { RARE_EVENT_ALGORITHM } from '../../contract/enums.ts';

/**
 * Eight uint32 words: SHA-256 over scheme, method, seed in decimal and name, separated by zero bytes; replicate r > 0 writes the method as
 * `method#r`. The name stands last, so
 * no two inputs give the same text. `name` must be well-formed Unicode: UTF-8 maps all lone surrogates to one character.
 */
export function deriveKey(
  scheme: string,
  method: SamplingMethod | typeof RARE_EVENT_ALGORITHM,
  seedDecimal: string,
  name: string,
  replicate = 0,
): Uint32Array {
  const design = replicate === 0 ? method : `${method}#${replicate}`;
  const digest = createHash('sha256').update(`${scheme}\0${design}\0${seedDecimal}\0${name}`, 'utf8').digest();
  return Uint32Array.from({ length: 8 }, (_, index) => digest.readUInt32LE(4 * index));
}

/** A drawn part of the rows of a large study, the same on every machine. */
import { TAG_DRAWN_ROWS, openUniform, philox } from '../../domain/sampling/philox.ts';

const block = new Uint32Array(4);

/**
 * At most `most` of the rows, in their order: every part of this size is equally likely. A row is taken with the probability that fills the
 * part, where the uniform is that of philox(key; counter (its place, 0, 0, 12)).
 * Source: Fan, Muller and Rezucha, JASA 57 (1962) 387; Knuth, TAOCP vol. 2, 3.4.2, algorithm S.
 */
export function drawnRows(
  rows: Uint32Array<ArrayBuffer>,
  most: number,
  [k0, k1]: readonly [number, number],
): Uint32Array<ArrayBuffer> {
  if (rows.length <= most) return rows;
  const drawn = new Uint32Array(most);
  let count = 0;
  for (let at = 0; count < most; at++) {
    philox(k0, k1, at, 0, 0, TAG_DRAWN_ROWS, block);
    if (openUniform(block[0]!, block[1]!) * (rows.length - at) < most - count) drawn[count++] = rows[at]!;
  }
  return drawn;
}

/** The distribution function of the standard normal, for the tests of this folder. */
import { normalTails } from '../../../src/base/distributions/normal.ts';

export function normalCdf(z: number): number {
  const tails = { p: 0, q: 0 };
  normalTails(z, tails);
  return tails.p;
}

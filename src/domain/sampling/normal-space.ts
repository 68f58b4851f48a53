/** Parameters as functions of independent standard normals: the space in which the rows of a study of rare events are written. Pure. */
import { normalTails } from '../../base/distributions/normal.ts';
import { tailQuantileFunction } from '../../base/distributions/table.ts';
import type { Correlation, DispersionConfig } from '../../contract/types.ts';
import { randomNames } from '../adaptive/given-rows.ts';
import { correlatedGroups } from './correlation.ts';

/** Gives parameters of standard normals. Not for concurrent use. */
export class NormalSpace {
  /** The names of the coordinates. */
  readonly names: readonly string[];
  readonly #values: readonly ((y: number) => number)[];
  readonly #groups: readonly { places: readonly number[]; factor: Float64Array }[];
  readonly #joined: Float64Array;

  constructor(dispersions: Readonly<Record<string, DispersionConfig>>, correlations: readonly Correlation[]) {
    this.names = randomNames(dispersions);
    this.#values = this.names.map((name) => valueOfNormal(dispersions[name]!));
    const place = new Map(this.names.map((name, index) => [name, index]));
    this.#groups = correlatedGroups(correlations).map(({ names, factor }) => ({
      places: names.map((name) => place.get(name)!),
      factor,
    }));
    this.#joined = new Float64Array(this.names.length);
  }

  /** Writes the normals of the distributions, which are correlated, of the independent ones at `z` from `offset` on. */
  joinInto(z: Float64Array, offset: number, out: Float64Array): void {
    for (let at = 0; at < out.length; at++) out[at] = z[offset + at]!;
    for (const { places, factor } of this.#groups) {
      let cell = 0;
      for (const [row, place] of places.entries()) {
        let sum = 0;
        for (let column = 0; column <= row; column++) sum += factor[cell++]! * z[offset + places[column]!]!;
        out[place] = sum;
      }
    }
  }

  /** Writes the parameters of the normals at `z` from `offset` on, in the order of `names`. */
  parametersInto(z: Float64Array, offset: number, out: Float64Array): void {
    const joined = this.#joined;
    this.joinInto(z, offset, joined);
    for (let at = 0; at < joined.length; at++) out[at] = this.#values[at]!(joined[at]!);
  }
}

/** The value of a distribution at a standard normal, solved in the smaller tail: through one probability, digits beyond 6 sigma were lost. */
function valueOfNormal({ distribution }: DispersionConfig): (y: number) => number {
  if ((distribution.type === 'normal' || distribution.type === 'lognormal') && !isBounded(distribution)) {
    if (distribution.type === 'normal') return (y) => distribution.mean + distribution.std_dev * y;
    return (y) => Math.exp(distribution.mu + distribution.sigma * y);
  }
  const ofTails = tailQuantileFunction(distribution);
  const tails = { p: 0, q: 0 };
  return (y) => {
    normalTails(y, tails);
    return ofTails(tails.p, tails.q);
  };
}

const isBounded = ({ lower, upper }: { lower?: number | null; upper?: number | null }): boolean =>
  typeof lower === 'number' || typeof upper === 'number';

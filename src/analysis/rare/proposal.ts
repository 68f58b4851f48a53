/** The proposal of a study of rare events: a mixture of the nominal density and of components, drawn run by run, with its exact density. */
import { standardNormalQuantile } from '../../base/distributions/normal.ts';
import { type Component, lengthOf, type Point, ratioOf, samplerOf } from './component.ts';
import type { RareDraws } from './draws.ts';

/** The share of the nominal density in each proposal: no weight is above its inverse. */
export const NOMINAL_SHARE = 0.1;
/** The share of the axes in the draws of a tuning round. */
const AXES_SHARE = 0.2;
/** The greatest nominal probability of the tail of an axis. */
const MAX_AXIS_TAIL = 0.1;

export class Proposal {
  readonly components: readonly Component[];
  readonly #nominal: number;
  readonly #dimensions: number;
  readonly #cumulative: number[];
  readonly #ratios: ((z: Point, length: number) => number)[];
  readonly #samplers: ((z: Point, v: number, w: number) => void)[] = [];

  /** Without components it is the nominal density. */
  constructor(components: readonly Component[], dimensions: number) {
    this.components = components;
    this.#dimensions = dimensions;
    this.#nominal = components.length === 0 ? 1 : NOMINAL_SHARE;
    let sum = this.#nominal;
    this.#cumulative = [sum, ...components.map(({ weight }) => (sum += (1 - this.#nominal) * weight))];
    this.#ratios = components.map((it) => ratioOf(it, dimensions));
  }

  /** The number of the component that a run draws from; -1 for the nominal density. */
  componentOf(choice: number): number {
    let place = 0;
    while (place < this.#cumulative.length && this.#cumulative[place]! <= choice) place++;
    return Math.min(place, this.components.length) - 1;
  }

  /** Writes the point of a run. */
  drawInto(draws: RareDraws, run: number, out: Point): void {
    const [choice, v, w] = draws.choices(run);
    const place = this.componentOf(choice);
    if (place < 0) {
      draws.nominalInto(run, out);
      return;
    }
    draws.ownInto(run, out);
    (this.#samplers[place] ??= samplerOf(this.components[place]!, this.#dimensions))(out, v, w);
  }

  /** The ratio q / phi at a point, at least the nominal share. */
  ratio(z: Point): number {
    const length = lengthOf(z);
    let sum = 0;
    for (const [at, { weight }] of this.components.entries()) sum += weight * this.#ratios[at]!(z, length);
    return this.#nominal + (1 - this.#nominal) * sum;
  }

  /** The weight phi / q of a point. */
  weight(z: Point): number {
    return 1 / this.ratio(z);
  }

  /**
   * The proposal of a tuning round: a fifth of its draws looks into both tails of each parameter alone, for regions that the chains of the
   * search have lost. `probability`: about that of a violation, as far as it is known.
   */
  withAxes(probability: number): Proposal {
    const d = this.#dimensions;
    const b = -standardNormalQuantile(Math.min(MAX_AXIS_TAIL, probability));
    const components: Component[] = this.components.map((it) => ({ ...it, weight: (1 - AXES_SHARE) * it.weight }));
    for (let axis = 0; axis < d; axis++) {
      for (const sign of [1, -1]) {
        const direction = new Float64Array(d);
        direction[axis] = sign;
        components.push({ kind: 'half_space', direction, b, weight: AXES_SHARE / (2 * d) });
      }
    }
    return new Proposal(components, d);
  }
}

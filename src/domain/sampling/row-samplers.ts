/** The samplers of adaptive studies, whose runs have rows. */
import { normalTails } from '../../base/distributions/normal.ts';
import { quantileFunction } from '../../base/distributions/table.ts';
import { sortedNames } from '../../base/text/sorted-names.ts';
import type { Correlation, DispersionConfig } from '../../contract/types.ts';
import { NormalSpace } from './normal-space.ts';
import { type RowOf, type Sampler, withMembers } from './run-values.ts';

/** Gives each run the numbers of its row, and all else of the draw that the row names. */
export class AdaptiveSampler implements Sampler {
  readonly names: readonly string[];
  readonly runs: number;
  readonly #draws: Sampler;
  readonly #chosen: readonly number[];
  readonly #chosenNames: readonly string[];
  readonly #rowOf: RowOf;

  /** `chosen`: the places of the chosen names among all names. */
  constructor(draws: Sampler, runs: number, chosen: readonly number[], rowOf: RowOf) {
    this.names = draws.names;
    this.runs = runs;
    this.#draws = draws;
    this.#chosen = chosen;
    this.#chosenNames = chosen.map((place) => draws.names[place]!);
    this.#rowOf = rowOf;
  }

  sampleInto(run: number, out: Float64Array): void {
    const row = this.#rowOf(run);
    if (row === undefined) return void out.fill(Number.NaN);
    const { draw, values, offset } = row;
    this.#draws.sampleInto(draw, out);
    for (let at = 0; at < this.#chosen.length; at++) out[this.#chosen[at]!] = values[offset + at]!;
  }

  parameters(run: number): Record<string, number> {
    const row = this.#rowOf(run);
    if (row === undefined) return {};
    const { draw, values, offset } = row;
    const parameters = this.#draws.parameters(draw);
    // Each name is a member already, so that `__proto__` is one too.
    for (let at = 0; at < this.#chosen.length; at++) parameters[this.#chosenNames[at]!] = values[offset + at]!;
    return parameters;
  }

  uniforms(run: number): Float64Array {
    const row = this.#rowOf(run);
    return row === undefined ? new Float64Array(this.names.length).fill(Number.NaN) : this.#draws.uniforms(row.draw);
  }

  drawOf(run: number): number | undefined {
    return this.#rowOf(run)?.draw;
  }
}

/** Gives each run the parameters of the standard normals of its row, one for each parameter that is drawn. */
export class NormalSampler implements Sampler {
  readonly names: readonly string[];
  readonly runs: number;
  readonly #rowOf: RowOf;
  readonly #space: NormalSpace;
  /** The values of the parameters that are not drawn; 0 for the others. */
  readonly #fixed: Float64Array;
  /** The places of the coordinates among all names. */
  readonly #places: readonly number[];
  readonly #drawn: Float64Array;
  readonly #latest: Float64Array;

  constructor(
    dispersions: Readonly<Record<string, DispersionConfig>>,
    runs: number,
    correlations: readonly Correlation[],
    rowOf: RowOf,
  ) {
    this.names = sortedNames(Object.keys(dispersions));
    this.runs = runs;
    this.#rowOf = rowOf;
    this.#space = new NormalSpace(dispersions, correlations);
    const drawn = new Set(this.#space.names);
    this.#places = this.names.flatMap((name, place) => (drawn.has(name) ? [place] : []));
    this.#fixed = Float64Array.from(this.names, (name) =>
      drawn.has(name) ? 0 : quantileFunction(dispersions[name]!.distribution)(0.5),
    );
    this.#drawn = new Float64Array(drawn.size);
    this.#latest = new Float64Array(this.names.length);
  }

  sampleInto(run: number, out: Float64Array): void {
    const row = this.#rowOf(run);
    if (row === undefined) return void out.fill(Number.NaN);
    this.#space.parametersInto(row.values, row.offset, this.#drawn);
    out.set(this.#fixed);
    for (const [at, place] of this.#places.entries()) out[place] = this.#drawn[at]!;
  }

  parameters(run: number): Record<string, number> {
    if (this.#rowOf(run) === undefined) return {};
    this.sampleInto(run, this.#latest);
    const parameters = withMembers(this.names);
    for (const [at, name] of this.names.entries()) parameters[name] = this.#latest[at]!;
    return parameters;
  }

  uniforms(run: number): Float64Array {
    const out = new Float64Array(this.names.length).fill(Number.NaN);
    const row = this.#rowOf(run);
    if (row === undefined) return out;
    this.#space.joinInto(row.values, row.offset, this.#drawn);
    const tails = { p: 0, q: 0 };
    for (const [at, place] of this.#places.entries()) {
      normalTails(this.#drawn[at]!, tails);
      out[place] = tails.p;
    }
    return out;
  }

  /** The run itself: its row follows from its own random numbers. */
  drawOf(run: number): number | undefined {
    return this.#rowOf(run) === undefined ? undefined : run;
  }
}

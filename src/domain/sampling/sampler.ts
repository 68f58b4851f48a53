/**
 * The sampler of a study: the parameters of run i as a pure function of (dispersions, method, runs, seed, i), one run at a time,
 * nothing stored. Sampling methods and schemes are tables here; the distributions are a table in `quantiles.ts`.
 */
import { seedToDecimal } from '../seed.ts';
import type { DispersionConfig, SamplingMethod, Seed } from '../../contract/types.ts';
import { deriveKey } from './key.ts';
import { latinHypercubeUniforms } from './latin-hypercube.ts';
import { monteCarloUniforms } from './monte-carlo.ts';
import { quantileFunction } from './quantiles.ts';
import { quasiMonteCarloUniforms } from './quasi-monte-carlo.ts';
import { directionNumbers } from './sobol.ts';

/** The algorithm of this version, stored with each batch: a later algorithm gets a new name and leaves old studies as they were. */
export const SAMPLING_SCHEME = 'mc-sampler/1';

/** What a sampler needs of `config.monte_carlo`; the seed is drawn by then. `runs` is the full study's, not `runs_override`. */
export interface SamplingPlan {
  runs: number;
  sampling_method: SamplingMethod;
  seed: Seed;
}

/** Gives any run's parameters. Not for concurrent use from several threads; made in some 10 us a parameter, so keep it for the batch. */
export interface Sampler {
  /** The dispersions' names in the order of `sampleInto` and `uniforms`: sorted by UTF-16 code unit. */
  readonly names: readonly string[];
  /** How many runs there are. Every `run` below must be an integer in [0, runs), else a RangeError is thrown. */
  readonly runs: number;
  /** Writes the run's values, in the dispersions' units, to `out` in the order of `names`. */
  sampleInto(run: number, out: Float64Array): void;
  /** The run's values by name. Serializes with JSON.stringify whatever the names are. */
  parameters(run: number): Record<string, number>;
  /** The run's uniforms in the order of `names`: each value's position in its distribution, in (0, 1). NaN for `fixed`. */
  uniforms(run: number): Float64Array;
}

type Uniforms = (run: number) => number;

/** How a method makes the uniforms of one parameter. `rank` is the place of its name among all names, sorted. */
const METHODS: Record<SamplingMethod, (key: Uint32Array, runs: number, rank: number) => Uniforms> = {
  monte_carlo: (key) => monteCarloUniforms(key),
  latin_hypercube: (key, runs) => latinHypercubeUniforms(key, runs),
  quasi_monte_carlo: (key, _runs, rank) => quasiMonteCarloUniforms(key, directionNumbers(rank)),
};

/** The schemes this version can reproduce. */
const SCHEMES: ReadonlyMap<string, typeof METHODS> = new Map([[SAMPLING_SCHEME, METHODS]]);

/**
 * The sampler of a valid study (`dispersions.ts` in this folder says what is valid). `scheme` is the one stored with the batch.
 * Throws a RangeError for an unknown scheme, a seed outside [0, 2^63 - 1] or more Sobol' dimensions than there are.
 */
export function createSampler(
  dispersions: Record<string, DispersionConfig>,
  monteCarlo: SamplingPlan,
  scheme: string = SAMPLING_SCHEME,
): Sampler {
  const methods = SCHEMES.get(scheme);
  if (methods === undefined) {
    throw new RangeError(
      `the sampling scheme "${scheme}" is not known; this version knows ${[...SCHEMES.keys()].join(', ')}`,
    );
  }
  const { runs, sampling_method: method } = monteCarlo;
  const seedDecimal = seedToDecimal(monteCarlo.seed);
  // By code unit and not by locale: the order must be the same on every machine.
  const names = Object.keys(dispersions).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const uniformsOf: (Uniforms | undefined)[] = [];
  const quantileOf: ((u: number) => number)[] = [];
  for (const [rank, name] of names.entries()) {
    const { distribution } = dispersions[name]!;
    quantileOf.push(quantileFunction(distribution));
    const random = distribution.type !== 'fixed';
    uniformsOf.push(random ? methods[method](deriveKey(scheme, method, seedDecimal, name), runs, rank) : undefined);
  }
  return new TableSampler(names, runs, uniformsOf, quantileOf);
}

class TableSampler implements Sampler {
  readonly names: readonly string[];
  readonly runs: number;
  readonly #uniformsOf: readonly (Uniforms | undefined)[];
  readonly #quantileOf: readonly ((u: number) => number)[];
  readonly #values: Float64Array;

  constructor(
    names: readonly string[],
    runs: number,
    uniformsOf: readonly (Uniforms | undefined)[],
    quantileOf: readonly ((u: number) => number)[],
  ) {
    this.names = names;
    this.runs = runs;
    this.#uniformsOf = uniformsOf;
    this.#quantileOf = quantileOf;
    this.#values = new Float64Array(names.length);
  }

  #check(run: number): void {
    if (!(run >= 0 && run < this.runs && Number.isInteger(run))) {
      throw new RangeError(`run ${run} is not one of the ${this.runs} runs of this study`);
    }
  }

  sampleInto(run: number, out: Float64Array): void {
    this.#check(run);
    const uniformsOf = this.#uniformsOf;
    const quantileOf = this.#quantileOf;
    for (let at = 0; at < quantileOf.length; at++) {
      const uniforms = uniformsOf[at];
      out[at] = quantileOf[at]!(uniforms === undefined ? Number.NaN : uniforms(run));
    }
  }

  parameters(run: number): Record<string, number> {
    this.sampleInto(run, this.#values);
    const parameters: Record<string, number> = {};
    for (const [at, name] of this.names.entries()) {
      const value = this.#values[at]!;
      // A plain assignment to `__proto__` would set nothing.
      if (name !== '__proto__') parameters[name] = value;
      else Object.defineProperty(parameters, name, { value, writable: true, enumerable: true, configurable: true });
    }
    return parameters;
  }

  uniforms(run: number): Float64Array {
    this.#check(run);
    return Float64Array.from(this.#uniformsOf, (uniforms) => (uniforms === undefined ? Number.NaN : uniforms(run)));
  }
}

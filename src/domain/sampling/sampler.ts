/**
 * The sampler of a study: the parameters of run i as a pure function of (dispersions, method, runs, seed, i), one run at a time,
 * nothing stored. Sampling methods and schemes are tables here; the distributions are a table in `distributions/table.ts`.
 */
import { seedToDecimal } from '../seed.ts';
import { distributionEntry, quantileFunction } from '../../base/distributions/table.ts';
import type { BatchConfig, Correlation, DispersionConfig, SamplingMethod, Seed } from '../../contract/types.ts';
import { copula, correlatedGroups } from './correlation.ts';
import { deriveKey } from './key.ts';
import { latinHypercubeUniforms } from './latin-hypercube.ts';
import { monteCarloUniforms } from './monte-carlo.ts';
import { quasiMonteCarloUniforms } from './quasi-monte-carlo.ts';
import { directionNumbers } from './sobol.ts';

/** The algorithm of this version, stored with each batch: a later algorithm gets a new name and leaves old studies as they were. */
export const SAMPLING_SCHEME = 'mc-sampler/1';

/** The members of `config.monte_carlo` that a sampler uses, with the drawn seed. `runs` is that of the full study, not `runs_override`. */
export interface SamplingPlan {
  runs: number;
  sampling_method: SamplingMethod;
  seed: Seed;
  /** Which independent randomisation of the design; 0 or absent is the first. */
  replicate?: number | null;
  correlations?: readonly Correlation[] | null;
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
  /** The run's uniforms in the order of `names`: each value's position in its distribution, in (0, 1). NaN where no random number is used (`fixed`, `table`). */
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

/** The sampler of a stored or submitted study with the seed that is used; see `createSampler`. */
export function studySampler(
  config: Pick<BatchConfig, 'dispersions' | 'monte_carlo' | 'correlations'>,
  seed: Seed,
  scheme: string = SAMPLING_SCHEME,
): Sampler {
  const plan = { ...config.monte_carlo, seed, correlations: config.correlations ?? null };
  return createSampler(config.dispersions, plan, scheme);
}

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
  // Names are sorted by code unit and not by locale: the order must be the same on every machine.
  const names = Object.keys(dispersions).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const columns: Column[] = [];
  for (const [rank, name] of names.entries()) {
    const { distribution } = dispersions[name]!;
    const { argument } = distributionEntry(distribution.type)!;
    const key = (): Uint32Array => deriveKey(scheme, method, seedDecimal, name, monteCarlo.replicate ?? 0);
    columns.push({
      random: argument === 'uniform',
      argument: argument === 'uniform' ? methods[method](key(), runs, rank) : argument === 'run' ? runItself : nothing,
      value: quantileFunction(distribution),
    });
  }
  const place = new Map(names.map((name, index) => [name, index]));
  const copulas = correlatedGroups(monteCarlo.correlations ?? []).map((group) =>
    copula(
      group.factor,
      group.names.map((name) => place.get(name)!),
    ),
  );
  return copulas.length === 0
    ? new IndependentSampler(names, runs, columns)
    : new CorrelatedSampler(names, runs, columns, copulas);
}

/** One parameter: its value is a function of an argument, which is a function of the run. */
interface Column {
  readonly random: boolean;
  readonly argument: (run: number) => number;
  readonly value: (argument: number) => number;
}

const runItself = (run: number): number => run;
const nothing = (): number => Number.NaN;

class IndependentSampler implements Sampler {
  readonly names: readonly string[];
  readonly runs: number;
  protected readonly arguments: readonly ((run: number) => number)[];
  protected readonly values: readonly ((argument: number) => number)[];
  readonly #random: readonly boolean[];
  readonly #latest: Float64Array;
  readonly #template: Readonly<Record<string, number>>;

  constructor(names: readonly string[], runs: number, columns: readonly Column[]) {
    this.names = names;
    this.runs = runs;
    this.arguments = columns.map(({ argument }) => argument);
    this.values = columns.map(({ value }) => value);
    this.#random = columns.map(({ random }) => random);
    this.#latest = new Float64Array(names.length);
    this.#template = withMembers(names);
  }

  protected check(run: number): void {
    if (!(run >= 0 && run < this.runs && Number.isInteger(run))) {
      throw new RangeError(`run ${run} is not one of the ${this.runs} runs of this study`);
    }
  }

  sampleInto(run: number, out: Float64Array): void {
    this.check(run);
    const argumentOf = this.arguments;
    const valueOf = this.values;
    for (let at = 0; at < valueOf.length; at++) out[at] = valueOf[at]!(argumentOf[at]!(run));
  }

  parameters(run: number): Record<string, number> {
    this.sampleInto(run, this.#latest);
    // A copy has room for all members at once; an object to which they are added is enlarged again and again.
    const parameters = { ...this.#template };
    for (let at = 0; at < this.names.length; at++) parameters[this.names[at]!] = this.#latest[at]!;
    return parameters;
  }

  uniforms(run: number): Float64Array {
    this.check(run);
    return this.drawn(run).map((argument, at) => (this.#random[at]! ? argument : Number.NaN));
  }

  /** The arguments of the run's values. */
  protected drawn(run: number): Float64Array {
    return Float64Array.from(this.arguments, (argumentOf) => argumentOf(run));
  }
}

/** Returns an object with these members. Parsed, so that `__proto__` is one too, and with values that no integer may replace. */
const withMembers = (names: readonly string[]): Record<string, number> =>
  JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:0.5`).join(',')}}`) as Record<string, number>;

/** Joins the uniforms of correlated parameters before the values are computed. */
class CorrelatedSampler extends IndependentSampler {
  readonly #copulas: readonly ((uniforms: Float64Array) => void)[];

  constructor(
    names: readonly string[],
    runs: number,
    columns: readonly Column[],
    copulas: readonly ((uniforms: Float64Array) => void)[],
  ) {
    super(names, runs, columns);
    this.#copulas = copulas;
  }

  override sampleInto(run: number, out: Float64Array): void {
    this.check(run);
    this.#draw(run, out);
    const valueOf = this.values;
    for (let at = 0; at < valueOf.length; at++) out[at] = valueOf[at]!(out[at]!);
  }

  protected override drawn(run: number): Float64Array {
    const out = new Float64Array(this.names.length);
    this.#draw(run, out);
    return out;
  }

  #draw(run: number, out: Float64Array): void {
    const argumentOf = this.arguments;
    for (let at = 0; at < argumentOf.length; at++) out[at] = argumentOf[at]!(run);
    for (const join of this.#copulas) join(out);
  }
}

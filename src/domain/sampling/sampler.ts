/**
 * The sampler of a study: the parameters of run i as a pure function of (dispersions, method, runs, seed, i), one run at a time,
 * nothing stored. Sampling methods and schemes are tables here; the distributions are a table in `distributions/table.ts`.
 */
import { seedToDecimal } from '../seed.ts';
import { sortedNames } from '../../base/text/sorted-names.ts';
import { distributionEntry, quantileFunction } from '../../base/distributions/table.ts';
import type { RowSpace } from '../../contract/enums.ts';
import type {
  BatchConfig,
  Correlation,
  DispersionConfig,
  DrawingMethod,
  SamplingMethod,
  Seed,
} from '../../contract/types.ts';
import { copula, correlatedGroups } from './correlation.ts';
import { deriveKey } from './key.ts';
import { replicateRunsOf } from './replicates.ts';
import { latinHypercubeUniforms } from './designs/latin-hypercube.ts';
import { monteCarloUniforms } from './designs/monte-carlo.ts';
import { quasiMonteCarloUniforms } from './designs/quasi-monte-carlo.ts';
import { type DrawnParameter, saltelliDesign, saltelliUniforms } from './designs/saltelli.ts';
import { directionNumbers } from './designs/sobol.ts';
import { type RowOf, type Sampler, withMembers } from './run-values.ts';
import { ScenarioSampler, sharedDispersions } from './scenarios/sampler.ts';
import { AdaptiveSampler, NormalSampler } from './row-samplers.ts';
import { scenariosOf } from '../scenarios/epistemic.ts';

/** The algorithm of this version, stored with each batch: a later algorithm gets a new name and leaves old studies as they were. */
export const SAMPLING_SCHEME = 'mc-sampler/1';

/** The members of `config.monte_carlo` that a sampler uses, with the drawn seed. `runs` is that of the full study, not `runs_override`. */
export interface SamplingPlan {
  runs: number;
  sampling_method: SamplingMethod;
  seed: Seed;
  /** Which independent randomisation of the design; 0 or absent is the first. */
  replicate?: number | null;
  /** How many randomisations the runs are, one after the other; absent: one. */
  replicates?: number | null;
  /** The blocks of a `saltelli` design. */
  design?: { second_order?: boolean } | null;
  correlations?: readonly Correlation[] | null;
  /** The space of the rows of an adaptive study; `parameters` when absent. */
  space?: RowSpace;
}

type Uniforms = (run: number) => number;

/** The names that are not chosen in an adaptive study are drawn by `monte_carlo`. */
const drawingMethod = (method: SamplingMethod): DrawingMethod => (method === 'adaptive' ? 'monte_carlo' : method);

/** A draw may be any run id. */
const DRAWS = 2 ** 31;

/** How a method makes the uniforms of one parameter. */
const METHODS: Record<DrawingMethod, (parameter: DrawnParameter) => Uniforms> = {
  monte_carlo: ({ name, key }) => monteCarloUniforms(key(name)),
  latin_hypercube: ({ name, key, runs }) => latinHypercubeUniforms(key(name), runs),
  quasi_monte_carlo: ({ name, key, rank }) => quasiMonteCarloUniforms(key(name), directionNumbers(rank)),
  saltelli: saltelliUniforms,
};

/** The schemes this version can reproduce. */
const SCHEMES: ReadonlyMap<string, typeof METHODS> = new Map([[SAMPLING_SCHEME, METHODS]]);

/** The sampler of a stored or submitted study with the seed that is used; see `createSampler`. */
export function studySampler(
  config: Pick<BatchConfig, 'dispersions' | 'monte_carlo' | 'correlations' | 'adaptive' | 'scenarios' | 'epistemic'>,
  seed: Seed,
  scheme: string = SAMPLING_SCHEME,
  rowOf?: RowOf,
): Sampler {
  const space: RowSpace = config.adaptive?.algorithm === 'rare_event' ? 'normal' : 'parameters';
  const plan = { ...config.monte_carlo, seed, correlations: config.correlations ?? null, space };
  if (scenariosOf(config) === undefined) return createSampler(config.dispersions, plan, scheme, rowOf);
  return new ScenarioSampler(config, createSampler(sharedDispersions(config), plan, scheme));
}

/**
 * The sampler of a valid study (`dispersions.ts` in this folder says what is valid). `scheme` is the one stored with the batch; an
 * adaptive study needs `rowOf`.
 * Throws a RangeError for an unknown scheme, a seed outside [0, 2^63 - 1] or more Sobol' dimensions than there are.
 */
export function createSampler(
  dispersions: Record<string, DispersionConfig>,
  monteCarlo: SamplingPlan,
  scheme: string = SAMPLING_SCHEME,
  rowOf: RowOf = noRow,
): Sampler {
  const methods = SCHEMES.get(scheme);
  if (methods === undefined) {
    throw new RangeError(
      `the sampling scheme "${scheme}" is not known; this version knows ${[...SCHEMES.keys()].join(', ')}`,
    );
  }
  const isAdaptive = monteCarlo.sampling_method === 'adaptive';
  if (isAdaptive && monteCarlo.space === 'normal')
    return new NormalSampler(dispersions, monteCarlo.runs, monteCarlo.correlations ?? [], rowOf);
  const method = drawingMethod(monteCarlo.sampling_method);
  const runs = isAdaptive ? DRAWS : monteCarlo.runs;
  const seedDecimal = seedToDecimal(monteCarlo.seed);
  const names = sortedNames(Object.keys(dispersions));
  const key =
    (replicate: number) =>
    (name: string): Uint32Array =>
      deriveKey(scheme, method, seedDecimal, name, replicate);
  const replicateRuns = replicateRunsOf(monteCarlo);
  const blocks = method === 'saltelli' ? saltelliDesign({ dispersions, monte_carlo: monteCarlo }) : undefined;
  const columns: Column[] = [];
  for (const [rank, name] of names.entries()) {
    const { distribution } = dispersions[name]!;
    const { argument } = distributionEntry(distribution.type)!;
    columns.push({
      random: argument === 'uniform',
      argument:
        argument === 'uniform'
          ? replicateRuns === undefined
            ? methods[method]({ name, rank, runs, key: key(monteCarlo.replicate ?? 0), blocks })
            : replicatedUniforms(replicateRuns, (replicate) =>
                methods[method]({ name, rank, runs: replicateRuns, key: key(replicate), blocks }),
              )
          : argument === 'run'
            ? runItself
            : nothing,
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
  const sampler =
    copulas.length === 0
      ? new IndependentSampler(names, runs, columns)
      : new CorrelatedSampler(names, runs, columns, copulas);
  if (!isAdaptive) return sampler;
  const chosen = names.flatMap((name, index) => (isChosen(dispersions[name]!) ? [index] : []));
  return new AdaptiveSampler(sampler, monteCarlo.runs, chosen, rowOf);
}

/** The uniforms of replicates of so many runs, one after the other. The latest replicate is kept: runs are mostly asked for in order. */
function replicatedUniforms(runs: number, uniformsOf: (replicate: number) => Uniforms): Uniforms {
  let latest = 0;
  let uniforms = uniformsOf(latest);
  return (run) => {
    const replicate = Math.floor(run / runs);
    if (replicate !== latest) [latest, uniforms] = [replicate, uniformsOf(replicate)];
    return uniforms(run - replicate * runs);
  };
}

/** True for a parameter that the rows of an adaptive study give. */
export const isChosen = ({ distribution }: DispersionConfig): boolean =>
  distributionEntry(distribution.type)?.argument === 'row';

const noRow: RowOf = (run) => {
  throw new RangeError(
    `run ${run} of an adaptive study has no row: its parameters are known when its round is appended`,
  );
};

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

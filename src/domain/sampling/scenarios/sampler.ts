/** The sampler of a study with scenarios: each sample has the same uniforms in every cell, and each cell its own distributions. */
import { distributionEntry, quantileFunction } from '../../../base/distributions/table.ts';
import type { BatchConfig, DistributionType, Scenario } from '../../../contract/types.ts';
import { axesOf, Cells, levelsOf } from '../../scenarios/cells.ts';
import { scenariosOf } from '../../scenarios/epistemic.ts';
import { declaredDispersions, distributionOf } from '../../scenarios/overrides.ts';
import { type Sampler, withMembers } from '../run-values.ts';

/** How a cell makes a value of a parameter. */
interface Cell {
  argument: 'uniform' | 'run' | 'none';
  value: (argument: number) => number;
}

/** A parameter: what each level of one axis makes of it, or one entry for all cells; undefined: the cell does not have it. */
interface Column {
  axis: number;
  levels: readonly (Cell | undefined)[];
}

type Config = Pick<BatchConfig, 'dispersions' | 'scenarios' | 'epistemic'>;

const argumentOf = (distribution: DistributionType) => distributionEntry(distribution.type)?.argument;

/**
 * The dispersions whose uniforms all cells share, with those that levels add: for each parameter a distribution that uses a random number,
 * where a cell has one.
 */
export function sharedDispersions(config: Config): BatchConfig['dispersions'] {
  const shared = Object.entries(declaredDispersions(config)).map(([name, it]) => {
    const random = allOf(config, name).find((one) => argumentOf(one) === 'uniform');
    return [name, random === undefined ? it : { ...it, distribution: random }] as const;
  });
  return Object.fromEntries(shared);
}

/** The distributions of a parameter in all cells. */
function allOf(config: Config, parameter: string): DistributionType[] {
  const { dispersions } = config;
  const scenarios = scenariosOf(config) ?? {};
  const declared = Object.hasOwn(dispersions, parameter) ? [dispersions[parameter]!.distribution] : [];
  const replaced = axesOf(scenarios).flatMap(({ name }) =>
    Object.values(levelsOf(scenarios, name)).flatMap((it) =>
      Object.hasOwn(it, parameter) ? [distributionOf(it[parameter]!)] : [],
    ),
  );
  return [...declared, ...replaced];
}

/** Gives run `sample * cells + cell` the parameters of the sample in the cell. */
export class ScenarioSampler implements Sampler {
  readonly names: readonly string[];
  readonly runs: number;
  readonly axes: readonly string[];
  readonly #cells: Cells;
  readonly #shared: Sampler;
  readonly #columns: readonly Column[];
  readonly #uniforms: { sample: number; values: Float64Array };
  readonly #values: Float64Array;
  readonly #template: Readonly<Record<string, number>>;

  /** `shared`: the sampler of one cell, of `sharedDispersions`. */
  constructor(config: Config, shared: Sampler) {
    this.#cells = new Cells(scenariosOf(config));
    this.#shared = shared;
    this.names = shared.names;
    this.axes = this.#cells.axes.map(({ name }) => name);
    this.runs = shared.runs * this.#cells.count;
    this.#columns = this.names.map((name) => columnOf(config, this.#cells, name));
    this.#uniforms = { sample: -1, values: new Float64Array(this.names.length) };
    this.#values = new Float64Array(this.names.length);
    this.#template = withMembers(this.names);
  }

  /** NaN for a parameter that the cell of the run does not have. */
  sampleInto(run: number, out: Float64Array): void {
    const { sample, cell, uniforms } = this.#at(run);
    for (const [at, column] of this.#columns.entries()) {
      const how = this.#how(column, cell);
      if (how === undefined) out[at] = Number.NaN;
      else
        out[at] = how.value(how.argument === 'uniform' ? uniforms[at]! : how.argument === 'run' ? sample : Number.NaN);
    }
  }

  parameters(run: number): Record<string, number> {
    this.sampleInto(run, this.#values);
    const parameters = { ...this.#template };
    for (const [at, name] of this.names.entries()) {
      if (Number.isNaN(this.#values[at]!)) delete parameters[name];
      else parameters[name] = this.#values[at]!;
    }
    return parameters;
  }

  uniforms(run: number): Float64Array {
    const { cell, uniforms } = this.#at(run);
    return uniforms.map((value, at) =>
      this.#how(this.#columns[at]!, cell)?.argument === 'uniform' ? value : Number.NaN,
    );
  }

  scenarioOf(run: number): { scenario: Scenario; sample: number } {
    const cells = this.#cells;
    return { scenario: cells.scenarioOf(cells.cellOf(run)), sample: cells.sampleOf(run) };
  }

  #how({ axis, levels }: Column, cell: number): Cell | undefined {
    return levels[axis === -1 ? 0 : this.#cells.placeOf(cell, axis)];
  }

  #at(run: number): { sample: number; cell: number; uniforms: Float64Array } {
    if (!(run >= 0 && run < this.runs && Number.isInteger(run)))
      throw new RangeError(`run ${run} is not one of the ${this.runs} runs of this study`);
    const sample = this.#cells.sampleOf(run);
    const kept = this.#uniforms;
    // Runs are mostly asked for in order: the cells of a sample come one after the other.
    if (kept.sample !== sample) {
      kept.values = this.#shared.uniforms(sample);
      kept.sample = sample;
    }
    return { sample, cell: this.#cells.cellOf(run), uniforms: kept.values };
  }
}

function columnOf(config: Config, cells: Cells, parameter: string): Column {
  const { dispersions } = config;
  const scenarios = scenariosOf(config) ?? {};
  const declared = Object.hasOwn(dispersions, parameter) ? howOf(dispersions[parameter]!.distribution) : undefined;
  for (const [axis, { name, levels }] of cells.axes.entries()) {
    const overrides = levelsOf(scenarios, name);
    const isOwner = levels.some((level) => Object.hasOwn(overrides[level]!, parameter));
    if (!isOwner) continue;
    const ofLevels = levels.map((level) =>
      Object.hasOwn(overrides[level]!, parameter) ? howOf(distributionOf(overrides[level]![parameter]!)) : declared,
    );
    return { axis, levels: ofLevels };
  }
  return { axis: -1, levels: [declared] };
}

function howOf(distribution: DistributionType): Cell {
  const argument = argumentOf(distribution);
  return {
    argument: argument === 'uniform' || argument === 'run' ? argument : 'none',
    value: quantileFunction(distribution),
  };
}

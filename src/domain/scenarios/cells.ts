/** The cells of a study with scenarios: a level of every axis, without those that are skipped. Pure. */
import type { Scenario, ScenarioAxis, Scenarios } from '../../contract/types.ts';
import { sortedNames } from '../../base/text/sorted-names.ts';
import { levelNames, scenariosOf, type WithScenarios } from './epistemic.ts';

/** An axis: its levels in their order. */
export interface Axis {
  readonly name: string;
  readonly levels: readonly string[];
}

/** The member of `scenarios` that is not an axis. */
export const SKIP = 'skip';

/** The axes of scenarios in the order in which cells are numbered: by name, as UTF-16 code units. */
export const axesOf = (scenarios: Scenarios): Axis[] =>
  sortedNames(Object.keys(scenarios).filter((it) => it !== SKIP)).map((name) => ({
    name,
    levels: levelNames(levelsOf(scenarios, name)),
  }));

/** The levels of an axis with the inputs that they replace. */
export const levelsOf = (scenarios: Scenarios, axis: string): ScenarioAxis => scenarios[axis] as ScenarioAxis;

/** The combinations of levels before any is skipped. */
export const combinationsOf = (axes: readonly Axis[]): number => axes.reduce((sum, it) => sum * it.levels.length, 1);

/** The cells of a study, numbered with the last axis varying fastest. Run `sample * count + cell` is a run of a cell. */
export class Cells {
  readonly axes: readonly Axis[];
  readonly count: number;
  /** The places of the levels of each cell, axis after axis. */
  readonly #places: Uint16Array;

  /** Of valid scenarios; a study without any is one cell without axes. */
  constructor(scenarios: Scenarios = {}) {
    const axes = axesOf(scenarios);
    this.axes = axes;
    const isSkipped = skipReader(axes, (scenarios[SKIP] ?? []) as Scenario[]);
    const places: number[] = [];
    const at = axes.map(() => 0);
    for (let left = combinationsOf(axes); left > 0; left--) {
      if (!isSkipped(at)) for (const place of at) places.push(place);
      for (let axis = axes.length - 1; axis >= 0; axis--) {
        at[axis]! += 1;
        if (at[axis]! < axes[axis]!.levels.length) break;
        at[axis] = 0;
      }
    }
    this.#places = Uint16Array.from(places);
    this.count = axes.length === 0 ? 1 : places.length / axes.length;
  }

  /** The cell of a run. */
  cellOf(run: number): number {
    return run % this.count;
  }

  /** Which run of its cell a run is. */
  sampleOf(run: number): number {
    return Math.floor(run / this.count);
  }

  /** The place of the level that a cell has of an axis. */
  placeOf(cell: number, axis: number): number {
    return this.#places[cell * this.axes.length + axis]!;
  }

  /** The levels of a cell by axis; of the axes that are named, where some are. */
  scenarioOf(cell: number, names?: readonly string[]): Scenario {
    const entries = this.axes.flatMap(({ name, levels }, axis) =>
      names === undefined || names.includes(name) ? [[name, levels[this.placeOf(cell, axis)]!] as const] : [],
    );
    return Object.fromEntries(entries);
  }
}

/** `site=andoya, wind=calm`. */
export const scenarioText = (scenario: Scenario): string =>
  Object.entries(scenario)
    .map(([axis, level]) => `${axis}=${level}`)
    .join(', ');

/** The weights of cells by level, axis by axis. */
export type Weights = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The weights of the cells: the product over the axes of the weights of the levels, of which an axis that is not named has equal ones. */
export const weightsOf = (cells: Cells, given: Weights): Float64Array =>
  Float64Array.from({ length: cells.count }, (_, cell) =>
    cells.axes.reduce(
      (product, { name, levels }, axis) => product * (given[name]?.[levels[cells.placeOf(cell, axis)]!] ?? 1),
      1,
    ),
  );

/** The cells of a configuration; undefined of a study without scenarios. */
export function cellsOf(config: WithScenarios): Cells | undefined {
  const scenarios = scenariosOf(config);
  return scenarios === undefined ? undefined : new Cells(scenarios);
}

/** All axes of a configuration, those of its epistemic inputs among them; none without scenarios. */
export const axesOfStudy = (config: WithScenarios): Axis[] => axesOf(scenariosOf(config) ?? {});

/** How many cells a configuration has: 1 without scenarios. */
export const cellCount = (config: WithScenarios): number => cellsOf(config)?.count ?? 1;

/** A function that is true for the places of a combination that is skipped. Entries with the same axes are looked up at once. */
function skipReader(axes: readonly Axis[], skip: readonly Scenario[]): (at: readonly number[]) => boolean {
  const groups = new Map<string, { places: number[]; keys: Set<string> }>();
  for (const entry of skip) {
    const places = axes.flatMap(({ name }, place) => (Object.hasOwn(entry, name) ? [place] : []));
    const key = places.map((place) => axes[place]!.levels.indexOf(entry[axes[place]!.name]!)).join();
    const group = groups.get(places.join()) ?? { places, keys: new Set<string>() };
    groups.set(places.join(), group);
    group.keys.add(key);
  }
  const all = [...groups.values()];
  return (at) => all.some(({ places, keys }) => keys.has(places.map((place) => at[place]).join()));
}

/** The scenarios with the order of their levels in their value: canonical JSON has none for the members of an object. */
export const orderedScenarios = (scenarios: Scenarios): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(scenarios).map(([name, it]) => [name, name === SKIP ? it : Object.entries(it)] as const),
  );

/** Changes of the axes of scenarios in a study that is being written: entries of `skip` and weights follow the names. Pure. */
import type { BatchSubmission, Override, Requirement, Scenario, ScenarioAxis } from '../../../../src/contract/types.ts';
import { SKIP } from '../../../../src/domain/scenarios/cells.ts';
import { withMember } from '../study.ts';

export const SCENARIOS = '/config/scenarios';

/** The inputs that a level replaces, by name. */
export type Level = Record<string, Override>;
/** Null takes the name away. */
type Renaming = (name: string) => string | null;

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];

/** The axes of a study in the order of its file; members of an undocumented shape are empty. */
export const axesIn = ({ config }: BatchSubmission): [axis: string, levels: [level: string, inputs: Level][]][] =>
  entriesOf(config.scenarios)
    .filter(([name]) => name !== SKIP)
    .map(([name, axis]) => [
      name,
      entriesOf(axis).map(([level, inputs]) => [level, Object.fromEntries(entriesOf(inputs)) as Level]),
    ]);

export function skippedIn({ config }: BatchSubmission): Scenario[] {
  const skip = (config.scenarios as Record<string, unknown> | undefined)?.[SKIP];
  return Array.isArray(skip) ? (skip as Scenario[]) : [];
}

/** Names such as `axis_2`, the first that is free. */
export function freeName(prefix: string, names: readonly string[]): string {
  let number = names.length + 1;
  while (names.includes(`${prefix}_${number}`)) number += 1;
  return `${prefix}_${number}`;
}

/** The study with these axes and entries of `skip`; without the member where there are none. */
function withScenarios(study: BatchSubmission, axes: readonly [string, ScenarioAxis][], skip: readonly Scenario[]) {
  const entries = [...axes, ...(skip.length === 0 ? [] : [[SKIP, skip] as const])];
  return withMember(study, SCENARIOS, entries.length === 0 ? undefined : Object.fromEntries(entries));
}

const asAxes = (axes: ReturnType<typeof axesIn>): [string, ScenarioAxis][] =>
  axes.map(([name, levels]) => [name, Object.fromEntries(levels)]);

export function withAxis(study: BatchSubmission): BatchSubmission {
  const axes = axesIn(study);
  const name = freeName('axis', [...axes.map(([it]) => it), ...Object.keys(study.config.epistemic ?? {})]);
  return withScenarios(study, [...asAxes(axes), [name, { level_1: {}, level_2: {} }]], skippedIn(study));
}

/** The study with other levels of an axis. */
export const withLevels = (study: BatchSubmission, axis: string, levels: readonly [string, Level][]): BatchSubmission =>
  withScenarios(
    study,
    asAxes(axesIn(study)).map(([name, it]) => [name, name === axis ? Object.fromEntries(levels) : it]),
    skippedIn(study),
  );

export const withSkipped = (study: BatchSubmission, skip: readonly Scenario[]): BatchSubmission =>
  withScenarios(study, asAxes(axesIn(study)), skip);

/** The study with an axis renamed, or, for null, removed. */
export function renameAxis(study: BatchSubmission, from: string, to: string | null): BatchSubmission {
  const rename: Renaming = (name) => (name === from ? to : name);
  const skip = renamedSkip(study, rename, () => (level) => level);
  return withWeights(withScenarios(study, renamed(asAxes(axesIn(study)), rename), skip), (weights) =>
    renamed(Object.entries(weights), rename),
  );
}

/** The study with a level of an axis renamed, or, for null, removed. */
export function renameLevel(study: BatchSubmission, axis: string, from: string, to: string | null): BatchSubmission {
  const rename: Renaming = (name) => (name === from ? to : name);
  const axes = asAxes(axesIn(study)).map(([name, levels]): [string, ScenarioAxis] => [
    name,
    name === axis ? Object.fromEntries(renamed(Object.entries(levels), rename)) : levels,
  ]);
  const skip = renamedSkip(
    study,
    (name) => name,
    (name) => (name === axis ? rename : (level) => level),
  );
  return withWeights(withScenarios(study, axes, skip), (weights) =>
    Object.entries(weights).map(([name, levels]) => [
      name,
      name === axis ? Object.fromEntries(renamed(Object.entries(levels), rename)) : levels,
    ]),
  );
}

function renamed<T>(entries: readonly [string, T][], rename: Renaming): [string, T][] {
  return entries.flatMap(([name, it]): [string, T][] => {
    const to = rename(name);
    return to === null ? [] : [[to, it]];
  });
}

/** An entry that names a level that is removed is removed too: it skipped cells that are no more. */
function renamedSkip(study: BatchSubmission, axisTo: Renaming, levelTo: (axis: string) => Renaming): Scenario[] {
  return skippedIn(study).flatMap((entry) => {
    const members = entriesOf(entry) as [string, string][];
    if (members.some(([axis, level]) => levelTo(axis)(level) === null)) return [];
    const kept = renamed(
      members.map(([axis, level]) => [axis, levelTo(axis)(level)!]),
      axisTo,
    );
    return kept.length === 0 && members.length > 0 ? [] : [Object.fromEntries(kept)];
  });
}

type Weights = NonNullable<Requirement['weights']>;

function withWeights(study: BatchSubmission, change: (weights: Weights) => [string, Weights[string]][]) {
  const requirements = study.requirements?.map((it) => {
    if (it.weights === undefined) return it;
    const { weights, ...rest } = it;
    const changed = change(weights);
    return changed.length === 0 ? rest : { ...rest, weights: Object.fromEntries(changed) };
  });
  return requirements === undefined ? study : { ...study, requirements };
}

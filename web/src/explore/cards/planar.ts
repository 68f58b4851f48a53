/** The pairs of outputs that are places in a plane. Pure. */
import { unitsIn, type Variable } from '../../plots/variables.ts';

/** Words of names for the two directions of a plane, the one across first. */
const DIRECTIONS: readonly (readonly [across: string, up: string])[] = [
  ['x', 'y'],
  ['east', 'north'],
  ['e', 'n'],
  ['lon', 'lat'],
  ['longitude', 'latitude'],
  ['downrange', 'crossrange'],
];

/** Outputs that share their unit with another one, or whose name has a twin, such as `landing_east_m` and `landing_north_m`. */
export function planarOutputs(variables: readonly Variable[]): Variable[] {
  const outputs = variables.filter(
    (it) => it.kind === 'output' && it.categories === undefined && it.name !== 'execution_secs',
  );
  return outputs.filter((it) =>
    outputs.some((other) => sharesUnit(it, other) || isTwin(it, other) || isTwin(other, it)),
  );
}

/**
 * The two outputs of a plane: those of `x` and `y` where given, else twins by a word of their names, twins by one letter, or the first two of
 * one unit; undefined where there are none.
 */
export function planarPair(
  some: readonly Variable[],
  x: Variable | undefined,
  y: Variable | undefined,
): [Variable, Variable] | undefined {
  const twinOf = (it: Variable): Variable | undefined =>
    some.find((other) => isTwin(it, other)) ?? some.find((other) => differsByLetter(it, other));
  const first =
    x ??
    some.find((it) => some.some((other) => isTwin(it, other))) ??
    some.find((it) => some.some((other) => differsByLetter(it, other))) ??
    some[0];
  if (first === undefined) return undefined;
  const second = y ?? twinOf(first) ?? some.find((it) => sharesUnit(first, it));
  return second === undefined ? undefined : [first, second];
}

const sharesUnit = (a: Variable, b: Variable): boolean =>
  a !== b && unitsIn(a) !== undefined && unitsIn(a) === unitsIn(b);

/** True for names that differ in one word, which is across for `a` and up for `b`, and outputs of one unit or none. */
function isTwin(a: Variable, b: Variable): boolean {
  if (unitsIn(a) !== unitsIn(b)) return false;
  const [across, up] = [a, b].map(({ name }) => name.toLowerCase().split(/[^a-z0-9]+/)) as [string[], string[]];
  if (across.length !== up.length) return false;
  const [at, ...more] = across.flatMap((word, place) => (word === up[place] ? [] : [place]));
  return at !== undefined && more.length === 0 && DIRECTIONS.some(([x, y]) => across[at] === x && up[at] === y);
}

function differsByLetter(a: Variable, b: Variable): boolean {
  if (!sharesUnit(a, b) || a.name.length !== b.name.length) return false;
  const places = Array.from(a.name).filter((letter, at) => letter !== b.name[at]);
  return places.length === 1 && a.name < b.name;
}

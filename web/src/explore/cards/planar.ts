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
  const sharing = new Map<string | undefined, number>();
  for (const it of outputs) sharing.set(unitsIn(it), (sharing.get(unitsIn(it)) ?? 0) + 1);
  const named = new Set([...twinsOf(outputs)].flat());
  return outputs.filter((it) => named.has(it) || (unitsIn(it) !== undefined && sharing.get(unitsIn(it))! > 1));
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
  const twins = twinsOf(some);
  const rules = [
    (it: Variable) => twins.get(it),
    (it: Variable) => some.find((other) => differsByLetter(it, other)),
    (it: Variable) => some.find((other) => sharesUnit(it, other)),
  ];
  for (const upOf of rules) {
    for (const across of x === undefined ? some : [x]) {
      const up = upOf(across);
      if (up !== undefined) return [across, y ?? up];
    }
  }
  return x === undefined || y === undefined ? undefined : [x, y];
}

const sharesUnit = (a: Variable, b: Variable): boolean =>
  a !== b && unitsIn(a) !== undefined && unitsIn(a) === unitsIn(b);

/** From each output to the one of the same unit, or none, whose name differs in one word, which is across for the first and up for the second. */
function twinsOf(outputs: readonly Variable[]): Map<Variable, Variable> {
  const wordsOf = ({ name }: Variable): string[] => name.toLowerCase().split(/[^a-z0-9]+/);
  const keyOf = (it: Variable, words: readonly string[]): string => `${words.join('_')} [${unitsIn(it) ?? ''}]`;
  const byKey = new Map(outputs.map((it) => [keyOf(it, wordsOf(it)), it]));
  const twins = new Map<Variable, Variable>();
  for (const it of outputs) {
    const words = wordsOf(it);
    for (const [x, y] of DIRECTIONS) {
      for (const [at, word] of words.entries()) {
        const up = word === x ? byKey.get(keyOf(it, words.with(at, y))) : undefined;
        if (up !== undefined) twins.set(it, up);
      }
    }
  }
  return twins;
}

function differsByLetter(a: Variable, b: Variable): boolean {
  if (!sharesUnit(a, b) || a.name.length !== b.name.length) return false;
  const places = Array.from(a.name).filter((letter, at) => letter !== b.name[at]);
  return places.length === 1 && a.name < b.name;
}

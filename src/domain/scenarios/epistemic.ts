/** Inputs that are unknown and not random, as axes of scenarios whose levels are numbers of an interval. Pure. */
import { pointerToken } from '../../base/json/json-pointer.ts';
import type { Epistemic, EpistemicInput, Fault, ScenarioAxis, Scenarios } from '../../contract/types.ts';
import { LIMITS } from '../../contract/limits.ts';

/** The members of a configuration that cells follow from. */
export interface WithScenarios {
  scenarios?: Scenarios | undefined;
  epistemic?: Epistemic | undefined;
}

const AT = '/config/epistemic';
/** The order of the levels of these axes: names such as `0` come first among the members of an object. */
const ORDERS = new WeakMap<ScenarioAxis, readonly string[]>();

/** The names of the levels of an axis, in their order. */
export const levelNames = (axis: ScenarioAxis): readonly string[] => ORDERS.get(axis) ?? Object.keys(axis);

/** The numbers of an interval that cells have: its ends, and the points at equal distances between them. */
export const numbersOf = ({ interval: [least, greatest], levels }: EpistemicInput): number[] =>
  Array.from({ length: levels }, (_, at) =>
    at === levels - 1 ? greatest : least + ((greatest - least) * at) / (levels - 1),
  );

/** All axes of a configuration as scenarios: those of `scenarios`, and one for each input of `epistemic`. Undefined: it has none. */
export function scenariosOf({ scenarios, epistemic }: WithScenarios): Scenarios | undefined {
  if (epistemic === undefined) return scenarios;
  const axes = Object.entries(epistemic).map(([name, input]) => [name, axisOf(name, input)] as const);
  return { ...scenarios, ...Object.fromEntries(axes) };
}

function axisOf(name: string, input: EpistemicInput): ScenarioAxis {
  const numbers = numbersOf(input);
  const axis = Object.fromEntries(numbers.map((value) => [String(value), { [name]: value }]));
  ORDERS.set(axis, numbers.map(String));
  return axis;
}

/** True for inputs of the documented shape. */
export const isReadableEpistemic = (epistemic: unknown): epistemic is Epistemic =>
  typeof epistemic === 'object' &&
  epistemic !== null &&
  Object.values(epistemic).every((it: Partial<EpistemicInput> | null) => {
    const { interval, levels } = it ?? {};
    return (
      Array.isArray(interval) &&
      interval.length === 2 &&
      interval.every((end) => typeof end === 'number') &&
      Number.isInteger(levels) &&
      levels! >= 2 &&
      levels! <= LIMITS.epistemicCells
    );
  });

/** The faults of inputs of the documented shape, before their cells are made. */
export function epistemicFaults(epistemic: Epistemic, scenarios: Scenarios): Fault[] {
  const inputs = Object.entries(epistemic);
  if (inputs.length === 0) return [{ pointer: AT, detail: 'has no input; name at least one, or leave epistemic out' }];
  const faults = inputs.flatMap(([name, input]) => {
    const pointer = AT + pointerToken(name);
    if (Object.hasOwn(scenarios, name))
      return [{ pointer, detail: `is an axis of scenarios too; name the axis otherwise, or leave one of them out` }];
    const detail = intervalFault(input);
    return detail === undefined ? [] : [{ pointer: `${pointer}/interval`, detail }];
  });
  const count = inputs.reduce((product, [, { levels }]) => product * levels, 1);
  if (count > LIMITS.epistemicCells)
    faults.push({
      pointer: AT,
      detail: `has ${count} combinations of levels; at most ${LIMITS.epistemicCells} are allowed: give levels: 2, the ends, which are enough where outputs are monotone`,
    });
  return faults;
}

function intervalFault(input: EpistemicInput): string | undefined {
  const [least, greatest] = input.interval;
  const shown = `[${least}, ${greatest}]`;
  if (!(least < greatest)) return `is ${shown}; the first number must be less than the second: give [least, greatest]`;
  if (!Number.isFinite(greatest - least)) return `is ${shown}, whose width is not a finite number; give a narrower one`;
  const names = new Set(numbersOf(input).map(String));
  return names.size === input.levels
    ? undefined
    : `is ${shown}, which has less than ${input.levels} different numbers at equal distances; give fewer levels`;
}

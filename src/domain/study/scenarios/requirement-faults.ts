/** The faults of the members of requirements that are about the cells of scenarios. Accepts incomplete input. */
import { member } from '../../../base/json/member.ts';
import { pointerToken } from '../../../base/json/json-pointer.ts';
import type { Fault, Requirement } from '../../../contract/types.ts';
import { type Axis, type Cells, weightsOf } from '../../scenarios/cells.ts';

/** The faults of presumed requirements. `axes`: of the study, none without scenarios. */
export function requirementFaults(requirements: unknown, axes: readonly Axis[], isEpistemic = false): Fault[] {
  if (!Array.isArray(requirements)) return [];
  return requirements.flatMap((it, index) => faultsOf(it, axes, `/requirements/${index}`, isEpistemic));
}

function faultsOf(requirement: unknown, axes: readonly Axis[], pointer: string, isEpistemic: boolean): Fault[] {
  const rule = member(requirement, 'in');
  const weights = member(requirement, 'weights');
  if (axes.length === 0) {
    return (['in', 'weights'] as const)
      .filter((name) => member(requirement, name) !== undefined)
      .map((name) => ({
        pointer: `${pointer}/${name}`,
        detail: 'is for studies with scenarios, and this one has none; leave it out',
      }));
  }
  if (rule !== 'pooled') {
    const detail = 'is for requirements with `in: pooled`; add it, or leave the weights out';
    return weights === undefined ? [] : [{ pointer: `${pointer}/weights`, detail }];
  }
  const faults: Fault[] = [];
  if (isEpistemic) {
    const detail =
      'is "pooled", and an epistemic input is not random, so that its levels have no weights; give each or worst';
    faults.push({ pointer: `${pointer}/in`, detail });
  }
  if (member(requirement, 'terminated') === 'exclude') {
    const detail = 'is "exclude", and a pooled share has every cell of every sample; give fail or unknown';
    faults.push({ pointer: `${pointer}/terminated`, detail });
  }
  if (typeof weights !== 'object' || weights === null) return faults;
  return [
    ...faults,
    ...Object.entries(weights).flatMap(([name, it]) => weightFaults(name, it, axes, `${pointer}/weights`)),
  ];
}

function weightFaults(name: string, weights: unknown, axes: readonly Axis[], pointer: string): Fault[] {
  const at = pointer + pointerToken(name);
  const axis = axes.find((it) => it.name === name);
  if (axis === undefined) return [{ pointer: at, detail: 'is not an axis of this study; name one of its axes' }];
  if (typeof weights !== 'object' || weights === null) return [];
  const given = Object.entries(weights as Record<string, unknown>);
  const unknown = given.find(([level]) => !axis.levels.includes(level));
  if (unknown !== undefined)
    return [{ pointer: at + pointerToken(unknown[0]), detail: `is not a level of ${name}; name its levels` }];
  const missing = axis.levels.find((level) => !Object.hasOwn(weights, level));
  if (missing !== undefined)
    return [
      { pointer: at, detail: `lacks the weight of ${JSON.stringify(missing)}; give one for every level of the axis` },
    ];
  if (given.every(([, weight]) => weight === 0))
    return [{ pointer: at, detail: 'has no weight above 0; give at least one level a weight' }];
  return [];
}

/** The requirements whose weights leave no cell that is not skipped; expects their other faults to be none. */
export function weightlessFaults(requirements: unknown, cells: Cells): Fault[] {
  if (!Array.isArray(requirements)) return [];
  return requirements.flatMap((it, index) => {
    const weights = member(it, 'weights') as Requirement['weights'];
    if (weights === undefined || weightsOf(cells, weights).some((weight) => weight > 0)) return [];
    const detail = 'has no weight above 0 in the cells that are not skipped; give at least one cell a weight';
    return [{ pointer: `/requirements/${index}/weights`, detail }];
  });
}

/** Levels in questions, written as `site:andoya`. */
import { closestMatch } from '../../base/text/closest-match.ts';
import type { Scenario } from '../../contract/types.ts';
import type { Cells } from '../../domain/scenarios/cells.ts';
import type { TableCells } from '../table/run-table.ts';

/** @throws RangeError where the study has no scenarios */
export function requireScenarios(of: TableCells | undefined, subject: string): TableCells {
  if (of !== undefined) return of;
  throw new RangeError(
    `${subject} is for studies with scenarios or epistemic inputs, and this one has none; leave it out, or submit one`,
  );
}

/** Reads a level. @throws RangeError, which names the parameter, for a level or an axis that the study does not have */
export function readLevel(parameter: string, written: string, { axes }: Cells): { axis: number; place: number } {
  const [name, ...rest] = written.split(':');
  const level = rest.join(':');
  const names = axes.map((it) => it.name);
  if (rest.length === 0)
    throw new RangeError(
      `${parameter} is "${written}", which has no axis; write axis:level, such as ${names[0]}:${axes[0]!.levels[0]}`,
    );
  const axis = names.indexOf(name!);
  if (axis === -1)
    throw new RangeError(
      `${parameter} names "${name}", which is not an axis of the study; name one of ${names.join(', ')}`,
    );
  const { levels } = axes[axis]!;
  // Numbers may be written otherwise than the level is named: 0.10 for 0.1.
  const place =
    levels.includes(level) || level.trim() === '' ? levels.indexOf(level) : levels.indexOf(String(Number(level)));
  if (place !== -1) return { axis, place };
  const near = closestMatch(level, levels);
  throw new RangeError(
    `${parameter} names "${level}", which is not a level of ${name}; ${near === undefined ? `name one of ${levels.slice(0, 20).join(', ')}` : `did you mean "${near}"?`}`,
  );
}

/** Levels of different axes as a scenario. @throws RangeError as `readLevel`, and for two levels of an axis */
export function readLevels(parameter: string, written: readonly string[], cells: Cells): Scenario {
  const found = new Map<string, string>();
  for (const one of written) {
    const { axis, place } = readLevel(parameter, one, cells);
    const { name, levels } = cells.axes[axis]!;
    if (found.has(name)) throw new RangeError(`${parameter} has two levels of ${name}; name one`);
    found.set(name, levels[place]!);
  }
  return Object.fromEntries(found);
}

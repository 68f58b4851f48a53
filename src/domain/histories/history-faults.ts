/** The rules of declared histories beyond their schema: names and times. Accepts incomplete input. Pure. */
import { isJsonObject } from '../../base/json/json-object.ts';
import { member } from '../../base/json/member.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Fault, HistoryTimes } from '../../contract/types.ts';
import { pointCount } from './points.ts';
import { eventFault, isReadable } from './text-faults.ts';

type ClauseAt = readonly [member: string, detail: string];

const EITHER = 'give `from`, `to` and `step`, or `points`';
const GRID = ['from', 'to', 'step'] as const;

/** Returns the faults of the histories of a presumed BatchConfig. */
export function historyFaults(config: unknown): Fault[] {
  const given = member(config, 'histories');
  if (!Array.isArray(given)) return [];
  const names = new Map<string, number>();
  return given.flatMap((it: unknown, index) => {
    if (!isJsonObject(it)) return [];
    const pointer = `/config/histories/${index}`;
    const faults = timeFaults(it['at']).map(([at, detail]) => ({ pointer: `${pointer}/at${at}`, detail }));
    const origin = isReadable(it['origin']) ? eventFault(it['origin']) : undefined;
    if (origin !== undefined) faults.push({ pointer: `${pointer}/origin`, detail: origin });
    const ownName = it['name'] === undefined ? 'variable' : 'name';
    const name = it[ownName];
    if (typeof name !== 'string') return faults;
    const first = names.get(name);
    if (first === undefined) names.set(name, index);
    else {
      const detail = `gives the history the name ${JSON.stringify(name)}, as /config/histories/${first} has; give one of them another \`name\``;
      faults.push({ pointer: `${pointer}/${ownName}`, detail });
    }
    return faults;
  });
}

/** The faults of `at`; its shape is checked by the schema. */
function timeFaults(at: unknown): ClauseAt[] {
  if (!isJsonObject(at)) return [];
  const ofGrid = GRID.filter((it) => at[it] !== undefined);
  if (at['points'] !== undefined) {
    const [extra] = ofGrid;
    return extra === undefined ? pointFaults(at['points']) : [[`/${extra}`, `is given beside \`points\`; ${EITHER}`]];
  }
  const missing = GRID.filter((it) => at[it] === undefined);
  if (missing.length > 0) return [['', `has no ${missing.map((it) => `\`${it}\``).join(', ')}; ${EITHER}`]];
  return ofGrid.every((it) => typeof at[it] === 'number') ? gridFaults(at as Required<HistoryTimes>) : [];
}

function pointFaults(points: unknown): ClauseAt[] {
  if (!Array.isArray(points)) return [];
  if (points.length === 0) return [['/points', 'is empty; give at least one time']];
  const fault = points.findIndex((it, index) => index > 0 && !(it > points[index - 1]));
  if (fault < 0 || typeof points[fault] !== 'number' || typeof points[fault - 1] !== 'number') return [];
  const detail = `is ${points[fault]}, not above ${points[fault - 1]}, the time before it; sort the times and give each once`;
  return [[`/points/${fault}`, detail]];
}

function gridFaults({ from, to, step }: Required<HistoryTimes>): ClauseAt[] {
  if (!(step > 0)) return [['/step', `is ${step}, and must be above 0`]];
  if (to < from) return [['/to', `is ${to}, before \`from\`, ${from}; exchange them`]];
  const count = pointCount({ from, to, step });
  if (count > LIMITS.historyPoints) {
    const detail = `is ${step}, which gives ${count} times, and the limit is ${LIMITS.historyPoints}; give a step of ${(to - from) / (LIMITS.historyPoints - 1)} or more`;
    return [['/step', detail]];
  }
  if (from + step === from || to - step === to)
    return [['/step', `is ${step}, too small for neighbouring times of ${to} to differ as doubles; give a larger one`]];
  return [];
}

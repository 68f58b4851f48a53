/** The rules of derived outputs beyond their schema: names, and which members each kind takes. Accepts incomplete input. Pure. */
import { isJsonObject } from '../../base/json/json-object.ts';
import { member } from '../../base/json/member.ts';
import { SAMPLE_TAKES, TAKES, type Take } from '../../contract/enums.ts';
import type { Fault } from '../../contract/types.ts';
import { EXECUTION_SECS } from '../runs/outputs.ts';
import { closestMatch } from '../../base/text/closest-match.ts';
import { expressionNames, parseExpression } from './expression.ts';
import { conditionFault, eventFault, isReadable, syntaxFault } from './text-faults.ts';

type ClauseAt = readonly [member: string, detail: string];
type Operand = 'telemetry' | 'while' | 'at' | 'band';

interface Form {
  needs: readonly Operand[];
  mayHave?: readonly Operand[];
}

const OPERANDS: readonly Operand[] = ['telemetry', 'while', 'at', 'band'];
const OVER_SAMPLES: Form = { needs: ['telemetry'], mayHave: ['while'] };
/** The members of each kind. */
const FORMS: Readonly<Record<Take, Form>> = {
  ...(Object.fromEntries(SAMPLE_TAKES.map((it) => [it, OVER_SAMPLES])) as Record<(typeof SAMPLE_TAKES)[number], Form>),
  value: { needs: ['telemetry', 'at'] },
  time: { needs: ['at'] },
  duration: { needs: ['while'] },
  count: { needs: ['at'] },
  last_time_outside: { needs: ['telemetry', 'band'] },
};

/** Returns the faults of the derived outputs of a presumed BatchConfig. */
export function derivedFaults(config: unknown): Fault[] {
  const given = member(config, 'derived');
  if (!Array.isArray(given)) return [];
  const names: (string | undefined)[] = [];
  const named: Named = {
    derived: given.map((it) => member(it, 'name')),
    parameters: Object.keys(member(config, 'dispersions') ?? {}),
  };
  return given.flatMap((it: unknown, index) => {
    if (!isJsonObject(it)) return [];
    const name = typeof it['name'] === 'string' ? it['name'] : undefined;
    const faults = [...formFaults(it), ...bandFaults(it['band']), ...textFaults(it), ...nameFaults(it, named, index)];
    const nameFault = name === undefined ? undefined : faultOfName(name, names);
    names[index] = name;
    if (nameFault !== undefined) faults.push(['name', nameFault]);
    return faults.map(([at, detail]) => ({ pointer: `/config/derived/${index}${at === '' ? '' : `/${at}`}`, detail }));
  });
}

/** Names are those of outputs: `a.b` is also the member `b` of an output `a`. */
function faultOfName(name: string, earlier: readonly (string | undefined)[]): string | undefined {
  const shown = JSON.stringify(name);
  if (name === EXECUTION_SECS) return `is ${shown}, which every run has by itself; choose another name`;
  for (const [index, other] of earlier.entries()) {
    if (other === undefined) continue;
    if (other === name)
      return `is ${shown}, as is /config/derived/${index}/name; give each derived output its own name`;
    if (other.startsWith(`${name}.`) || name.startsWith(`${other}.`))
      return `is ${shown}, and /config/derived/${index}/name is ${JSON.stringify(other)}: one reads as a member of the other; rename one of them`;
  }
  return undefined;
}

function formFaults(it: Record<string, unknown>): ClauseAt[] {
  const { take, expression } = it;
  if (expression !== undefined) {
    const extra = ['take' as const, ...OPERANDS].find((name) => it[name] !== undefined);
    return extra === undefined ? [] : [[extra, 'is given beside `expression`; leave one of them out']];
  }
  if (take === undefined) return [['', 'has neither `take` nor `expression`; give one of them']];
  if (!(TAKES as readonly unknown[]).includes(take)) return [];
  const { needs, mayHave = [] } = FORMS[take as Take];
  const form = `\`take: ${take as string}\` needs ${needs.map((name) => `\`${name}\``).join(' and ')}${mayHave.length === 0 ? '' : `, and may have ${mayHave.map((name) => `\`${name}\``).join(', ')}`}`;
  return OPERANDS.flatMap((name): ClauseAt[] => {
    const isGiven = it[name] !== undefined;
    if (needs.includes(name) && !isGiven) return [[name, `is missing; ${form}`]];
    if (isGiven && !needs.includes(name) && !mayHave.includes(name)) return [[name, `does not belong here; ${form}`]];
    return [];
  });
}

function textFaults({ take, at, while: condition, expression }: Record<string, unknown>): ClauseAt[] {
  const faults: [string, string | undefined][] = [
    ['at', isReadable(at) ? eventFault(at, take === 'count') : undefined],
    ['while', isReadable(condition) ? conditionFault(condition) : undefined],
    ['expression', isReadable(expression) ? syntaxFault(expression, parseExpression) : undefined],
  ];
  return faults.filter((it): it is [string, string] => it[1] !== undefined);
}

/** The names that expressions may use. */
interface Named {
  derived: readonly unknown[];
  parameters: readonly string[];
}

/** An expression uses parameters of the study, and of the derived outputs those before it. */
function nameFaults(
  { expression }: Record<string, unknown>,
  { derived, parameters }: Named,
  index: number,
): ClauseAt[] {
  if (!isReadable(expression) || syntaxFault(expression, parseExpression) !== undefined) return [];
  const used = expressionNames(parseExpression(expression));
  const unknown = used.parameters.find((it) => !parameters.includes(it));
  if (unknown !== undefined) {
    const meant = closestMatch(unknown, parameters);
    const remedy = meant === undefined ? 'name a parameter of the study' : `did you mean "${meant}"?`;
    return [['expression', `uses the parameter ${JSON.stringify(unknown)}, which the study does not have; ${remedy}`]];
  }
  const later = used.outputs.find((it) => derived.indexOf(it) >= index);
  if (later === undefined) return [];
  const place = derived.indexOf(later);
  const why = place === index ? 'itself' : `/config/derived/${place}, which is computed after it`;
  return [
    ['expression', `uses ${JSON.stringify(later)}, ${why}; ${place === index ? 'leave it out' : 'exchange them'}`],
  ];
}

function bandFaults(band: unknown): ClauseAt[] {
  if (!Array.isArray(band) || band.length !== 2) return [];
  const [low, high] = band as unknown[];
  if (typeof low !== 'number' || typeof high !== 'number' || low <= high) return [];
  return [['band', `is [${low}, ${high}], reversed; write the lower end first`]];
}

/** The rules of precisions beyond the schema: quantities, bounds and targets, checked at submission. Accepts incomplete input. */
import { closestMatch } from '../../base/text/closest-match.ts';
import { member } from '../../base/json/member.ts';
import type { Fault } from '../../contract/types.ts';
import { EXECUTION_SECS } from '../runs/outputs.ts';
import { RunSelection, type SelectedDesign, selectedRuns } from '../runs/run-selection.ts';
import { areWholeReplicates, replicateRunsOf } from '../sampling/replicates.ts';
import { noSampleOf, type DesignMethod } from './design-method.ts';
import { parseRequirementCondition } from './condition.ts';

/** `p` in (0, 1) for a quantile. */
export type PrecisionQuantity = 'mean' | 'probability' | { p: number };

const QUANTILE = /^p(\d{1,3}(?:\.\d{1,10})?)$/;
const EXPECTED = 'expected mean, probability, or a quantile such as p95';

/** Reads the quantity of a precision. Returns the fault as a clause when it is none. */
export function parseQuantity(text: string): { quantity: PrecisionQuantity } | { fault: string } {
  if (text === 'mean' || text === 'probability') return { quantity: text };
  const percent = QUANTILE.exec(text)?.[1];
  if (percent === undefined) return { fault: `is ${JSON.stringify(text)}; ${EXPECTED}` };
  const p = Number(percent) / 100;
  if (p > 0 && p < 1) return { quantity: { p } };
  return {
    fault: `is ${JSON.stringify(text)}, an end of the distribution, which no number of runs shows; ${EXPECTED}`,
  };
}

type Entry = Record<string, unknown>;
type EntryFault = readonly [member: string, detail: string];

/** Returns the faults of the precisions of a presumed BatchSubmission. */
export function precisionFaults(submission: unknown): Fault[] {
  const policy = member(submission, 'policy');
  const given = member(policy, 'precision');
  const isPrecise = member(policy, 'stop_when') === 'precise';
  const at = (detail: string): Fault[] => [{ pointer: '/policy/precision', detail }];
  if (!isPrecise) {
    return given === undefined
      ? []
      : at('is for studies with `stop_when: precise`; add it, or leave the precision out');
  }
  const design = designFault(submission);
  if (design !== undefined) return [design];
  if (given === undefined || (Array.isArray(given) && given.length === 0))
    return at('is missing; `stop_when: precise` needs at least one, such as {output, quantity: mean, half_width}');
  if (!Array.isArray(given)) return [];
  const entries = given.map((it): Entry => (typeof it === 'object' && it !== null ? (it as Entry) : {}));
  const outputs = member(submission, 'outputs');
  const declared = typeof outputs === 'object' && outputs !== null ? Object.keys(outputs) : [];
  if (declared.length > 0) declared.push(...derivedNames(submission));
  return entries.flatMap((entry, index) =>
    [
      ...outputFaults(entry, declared),
      ...quantityFaults(entry),
      ...boundsFaults(entry),
      ...targetFaults(entry),
      ...repeatFaults(entry, entries.slice(0, index)),
    ].map(([name, detail]) => ({ pointer: `/policy/precision/${index}${name === '' ? '' : `/${name}`}`, detail })),
  );
}

/** The names of the derived outputs, which need no other declaration. */
function derivedNames(submission: unknown): string[] {
  const derived = member(submission, 'config', 'derived');
  const names = Array.isArray(derived) ? derived.map((it) => member(it, 'name')) : [];
  return names.filter((it) => typeof it === 'string');
}

/** Runs of a replicate in the remedy: enough to be worth it, few enough for many replicates. */
const SUGGESTED_RUNS = 16;

/** Why the runs of the design cannot stop at a precision. */
function designFault(submission: unknown): Fault | undefined {
  const design = member(submission, 'config', 'monte_carlo');
  const method = member(design, 'sampling_method') as DesignMethod;
  const stop = (why: string): Fault => ({ pointer: '/policy/stop_when', detail: `is "precise", and ${why}` });
  const limit = noSampleOf(method);
  if (limit !== undefined) return stop(`${limit.why}: they have no error estimate; leave it out`);
  if (method !== 'latin_hypercube' && method !== 'quasi_monte_carlo') return undefined;
  if (typeof member(design, 'replicates') === 'number') return replicatesFault(submission, stop);
  const detail = `is missing; the runs of one ${method} design are not independent, so \`stop_when: precise\` needs several: give replicates, such as runs / ${SUGGESTED_RUNS}, or use monte_carlo`;
  return { pointer: '/config/monte_carlo/replicates', detail };
}

/** Why the replicates of a study cannot stop it. Their own faults are reported elsewhere. */
function replicatesFault(submission: unknown, stop: (why: string) => Fault): Fault | undefined {
  const dispersions = Object.entries(member(submission, 'config', 'dispersions') ?? {});
  const table = dispersions.find(([, it]) => member(it, 'distribution', 'type') === 'table');
  if (table !== undefined)
    return stop(`the rows of the table "${table[0]}" are not drawn anew in each replicate; use monte_carlo`);
  const design = member(submission, 'config', 'monte_carlo') as SelectedDesign['monte_carlo'];
  const cap = member(submission, 'runs_override');
  const runs = replicateRunsOf(design);
  if (runs === undefined || !Number.isInteger(runs)) return undefined;
  if (typeof design.run_ids === 'string' && typeof RunSelection.parse(design.run_ids) === 'string') return undefined;
  const selection = selectedRuns({ monte_carlo: design }, typeof cap === 'number' ? cap : undefined);
  if (areWholeReplicates(selection, runs)) return undefined;
  const isCapped = typeof cap === 'number';
  const what = isCapped ? `is ${cap}, not a multiple of ${runs} runs` : `selects parts of replicates of ${runs} runs`;
  return {
    pointer: isCapped ? '/runs_override' : '/config/monte_carlo/run_ids',
    detail: `${what}, and \`stop_when: precise\` takes whole replicates; select multiples of ${runs} runs`,
  };
}

/** A study that declares outputs declares those of its precisions too: a misspelt one would never be reached. */
function outputFaults({ output }: Entry, declared: readonly string[]): EntryFault[] {
  if (typeof output !== 'string' || declared.length === 0) return [];
  if (output === EXECUTION_SECS || declared.includes(output)) return [];
  const meant = closestMatch(output, declared);
  const remedy = meant === undefined ? 'declare it there, or name one of them' : `did you mean "${meant}"?`;
  return [['output', `is ${JSON.stringify(output)}, which \`outputs\` does not declare; ${remedy}`]];
}

function quantityFaults({ quantity, condition }: Entry): EntryFault[] {
  if (typeof quantity !== 'string') return [];
  const parsed = parseQuantity(quantity);
  if ('fault' in parsed) return [['quantity', parsed.fault]];
  if (parsed.quantity !== 'probability')
    return condition === undefined
      ? []
      : [['condition', `is for the quantity probability, and this one is ${quantity}; leave it out`]];
  if (condition === undefined)
    return [['condition', 'is missing; a probability is that of a condition, such as "> 50"']];
  const fault = typeof condition === 'string' ? parseRequirementCondition(condition) : undefined;
  return typeof fault === 'string' ? [['condition', fault]] : [];
}

function boundsFaults({ quantity, bounds }: Entry): EntryFault[] {
  if (bounds === undefined) return [];
  if (typeof quantity === 'string' && quantity !== 'mean')
    return [['bounds', `are for the quantity mean, and this one is ${quantity}; leave them out`]];
  const ends = endsOf(bounds);
  if (ends === undefined) return [];
  const [low, high] = ends;
  if (low > high) return [['bounds', `are ${low} to ${high}: they are reversed; write the smaller one first`]];
  if (low === high) return [['bounds', `are both ${low}: an output that cannot differ needs no run; write two ends`]];
  if (!Number.isFinite(high - low))
    return [['bounds', `are ${low} to ${high}, wider than a double holds; narrow them`]];
  return [];
}

const endsOf = (bounds: unknown): [number, number] | undefined =>
  Array.isArray(bounds) && bounds.length === 2 && bounds.every((it) => typeof it === 'number')
    ? (bounds as [number, number])
    : undefined;

function targetFaults(entry: Entry): EntryFault[] {
  const { half_width: half, relative, quantity } = entry;
  if (half === undefined && relative === undefined)
    return [['', 'has neither half_width nor relative; give one of them']];
  if (half !== undefined && relative !== undefined)
    return [['relative', 'is given beside half_width; give one of them']];
  const ends = quantity === 'probability' ? ([0, 1] as const) : quantity === 'mean' ? endsOf(entry.bounds) : undefined;
  if (ends === undefined || !(ends[0] < ends[1])) return [];
  if (relative !== undefined && ends[0] < 0 && ends[1] > 0)
    return [
      [
        'relative',
        `is a share of a mean that may be 0 (bounds ${ends[0]} to ${ends[1]}), and nothing is near 0 relative to it; give half_width`,
      ],
    ];
  if (typeof half === 'number' && half >= (ends[1] - ends[0]) / 2)
    return [
      ['half_width', `is ${half}, and ${ends[0]} to ${ends[1]} is as narrow without any run; give a smaller one`],
    ];
  return [];
}

function repeatFaults({ output, quantity, condition }: Entry, before: readonly Entry[]): EntryFault[] {
  if (typeof output !== 'string' || typeof quantity !== 'string') return [];
  const first = before.findIndex(
    (it) => it['output'] === output && it['quantity'] === quantity && it['condition'] === condition,
  );
  return first === -1 ? [] : [['quantity', `is that of /policy/precision/${first} too; give each quantity once`]];
}

/**
 * Validation that a schema cannot express: conditions outside their grammar, malformed quantities, degenerate or
 * overflowing distributions. It accepts incomplete input, so that these faults are reported together with the schema's.
 */
import { parseCondition } from './condition.ts';
import { canaryFaults } from '../probe/canary.ts';
import { contentFaults } from './requirement-content.ts';
import { functionFaults } from './function-code.ts';
import { precisionFaults } from './precision.ts';
import { storePrefixFault } from './store-prefix.ts';
import { member } from '../../base/json/member.ts';
import { pointerToken } from '../../base/json/json-pointer.ts';
import { derivedFaults } from '../histories/derived-faults.ts';
import { historyFaults } from '../histories/history-faults.ts';
import { parseCpu, parseMemory } from '../quantity.ts';
import { RunSelection, beyondDesign } from '../runs/run-selection.ts';
import { correlationFaults, dispersionFaults } from '../sampling/dispersions.ts';
import { replicateFaults } from '../sampling/replicates.ts';
import { saltelliFaults } from '../sampling/designs/saltelli.ts';
import { scenarioFaults } from './scenarios/faults.ts';
import { CONTRACT_PREFIX, isOwnVariable, PREFIX } from '../../base/text/variables.ts';
import { adaptiveFaults } from './adaptive.ts';
import type { BatchConfig, Correlation, DispersionConfig, Fault, Requirement } from '../../contract/types.ts';

type Reader = (text: string) => unknown;

/** Quantities of `config.compute.container`: member, parser, and the request that is its minimum. */
const QUANTITIES: readonly { member: string; read: Reader; atLeast?: string }[] = [
  { member: 'cpu_request', read: parseCpu },
  { member: 'memory_request', read: parseMemory },
  { member: 'cpu_limit', read: parseCpu, atLeast: 'cpu_request' },
  { member: 'memory_limit', read: parseMemory, atLeast: 'memory_request' },
];

/** Returns these faults of a presumed BatchSubmission; members of an undocumented shape are skipped. */
export function submissionFaults(submission: unknown): Fault[] {
  const config = member(submission, 'config');
  return [
    ...designFaults(config),
    ...containerFaults(member(config, 'compute')),
    ...environmentFaults(member(config, 'compute')),
    ...storageFaults(member(member(config, 'telemetry'), 'storage')),
    ...conditionFaults(member(config, 'early_termination')),
    ...historyFaults(config),
    ...derivedFaults(config),
    ...requirementFaults(member(submission, 'requirements')),
    ...stopFaults(submission),
    ...precisionFaults(submission),
    ...adaptiveFaults(submission),
    ...scenarioFaults(submission),
    ...canaryFaults(submission),
    ...functionFaults(member(config, 'simulation'), member(submission, 'code')),
  ];
}

/** The faults of the design: of its dispersions, correlations and selection of runs. */
function designFaults(config: unknown): Fault[] {
  const monteCarlo = member(config, 'monte_carlo');
  const given = member(config, 'dispersions');
  // A dispersion without a distribution has a fault of shape.
  const dispersions = Object.fromEntries(
    Object.entries(
      (typeof given === 'object' && given !== null ? given : {}) as Record<string, DispersionConfig>,
    ).filter(([, dispersion]) => typeof member(member(dispersion, 'distribution'), 'type') === 'string'),
  );
  // Where a dispersion is unreadable, a name that is missing is not a fault of the correlations.
  const areReadable = typeof given === 'object' && Object.keys(given ?? {}).length === Object.keys(dispersions).length;
  const design = (monteCarlo ?? {}) as BatchConfig['monte_carlo'];
  const correlations = wellFormed(member(config, 'correlations'));
  return [
    ...dispersionFaults({ dispersions, monte_carlo: design }),
    ...(areReadable ? saltelliFaults({ dispersions, monte_carlo: design, correlations }) : []),
    ...(areReadable ? correlationFaults(correlations, dispersions) : []),
    ...selectionFaults(monteCarlo),
    ...replicateFaults(monteCarlo),
  ];
}

/** The correlations, if all have the documented shape: the place of each is part of its faults. */
function wellFormed(correlations: unknown): Correlation[] {
  if (!Array.isArray(correlations)) return [];
  const isOne = (it: unknown): boolean => {
    const parameters = member(it, 'parameters');
    return (
      Array.isArray(parameters) &&
      parameters.length === 2 &&
      parameters.every((name) => typeof name === 'string') &&
      typeof member(it, 'rank') === 'number'
    );
  };
  return correlations.every(isOne) ? (correlations as Correlation[]) : [];
}

function selectionFaults(monteCarlo: unknown): Fault[] {
  const runIds = member(monteCarlo, 'run_ids');
  if (typeof runIds !== 'string') return [];
  const runs = member(monteCarlo, 'runs');
  const selection = RunSelection.parse(runIds);
  const detail =
    typeof selection === 'string' ? selection : typeof runs === 'number' ? beyondDesign(selection, runs) : undefined;
  return detail === undefined ? [] : [{ pointer: '/config/monte_carlo/run_ids', detail }];
}

function containerFaults(compute: unknown): Fault[] {
  const container = member(compute, 'container');
  const pointer = '/config/compute/container';
  const amounts = new Map<string, number>();
  const faults: Fault[] = [];
  for (const { member: quantity, read, atLeast } of QUANTITIES) {
    const text = member(container, quantity);
    if (typeof text !== 'string') continue;
    const amount = read(text);
    if (typeof amount === 'number') amounts.set(quantity, amount);
    else faults.push({ pointer: `${pointer}/${quantity}`, detail: String(amount) });
    const request = atLeast === undefined ? undefined : amounts.get(atLeast);
    if (typeof amount === 'number' && request !== undefined && amount < request) {
      faults.push({
        pointer: `${pointer}/${quantity}`,
        detail: `is ${JSON.stringify(text)}, less than \`${atLeast}\`; a limit must be at least the request`,
      });
    }
  }
  return faults;
}

/** A study must not set the variables that the runner sets for each run. */
function environmentFaults(compute: unknown): Fault[] {
  const environment = member(member(compute, 'container'), 'environment');
  if (typeof environment !== 'object' || environment === null) return [];
  return Object.keys(environment)
    .filter((name) => isOwnVariable(name.toUpperCase()))
    .map((name) => ({
      pointer: `/config/compute/container/environment${pointerToken(name)}`,
      detail: `begins with ${name.toUpperCase().startsWith(PREFIX) ? PREFIX : CONTRACT_PREFIX}, which is reserved for the runner; choose another name`,
    }));
}

/** The files of a study stay in its place of the bucket, whichever bucket it names. */
function storageFaults(storage: unknown): Fault[] {
  const prefix = member(storage, 's3_prefix');
  const detail = typeof prefix === 'string' ? storePrefixFault(prefix) : undefined;
  return detail === undefined ? [] : [{ pointer: '/config/telemetry/storage/s3_prefix', detail }];
}

function conditionFaults(earlyTermination: unknown): Fault[] {
  const conditions = member(earlyTermination, 'conditions');
  if (!Array.isArray(conditions)) return [];
  const faults: Fault[] = [];
  for (const [index, entry] of conditions.entries()) {
    const condition = member(entry, 'condition');
    const parsed = typeof condition === 'string' ? parseCondition(condition) : undefined;
    if (typeof parsed !== 'string') continue;
    faults.push({ pointer: `/config/early_termination/conditions/${index}/condition`, detail: parsed });
  }
  return faults;
}

/** Checks that each requirement can be read, and that no two have the same name, by which questions choose failing runs. */
function requirementFaults(requirements: unknown): Fault[] {
  if (!Array.isArray(requirements)) return [];
  const faults: Fault[] = [];
  const names = new Map<unknown, number>();
  const objects = requirements.filter((it): it is Partial<Requirement> => typeof it === 'object' && it !== null);
  for (const [index, entry] of requirements.entries()) {
    if (typeof entry !== 'object' || entry === null) continue;
    for (const { member: at, detail } of contentFaults(entry as Partial<Requirement>, objects))
      faults.push({ pointer: `/requirements/${index}/${at}`, detail });
    const name = member(entry, 'name');
    const first = names.get(name);
    if (first === undefined) names.set(name, index);
    else if (typeof name === 'string') {
      const detail = `is ${JSON.stringify(name)}, as is /requirements/${first}/name; give each requirement its own name`;
      faults.push({ pointer: `/requirements/${index}/name`, detail });
    }
  }
  return faults;
}

/** A study stops when its requirements are settled only if it has some. Those of a study that stops are judged after every run. */
function stopFaults(submission: unknown): Fault[] {
  const rule = member(member(submission, 'policy'), 'stop_when');
  const requirements = member(submission, 'requirements') ?? [];
  if (rule === 'settled') {
    const detail = settledFault(submission, requirements);
    if (detail !== undefined) return [{ pointer: '/policy/stop_when', detail: `is "settled", and ${detail}` }];
  }
  if ((rule !== 'settled' && rule !== 'precise') || !Array.isArray(requirements)) return [];
  return requirements.flatMap((it, index) =>
    member(it, 'look') === 'once'
      ? [
          {
            pointer: `/requirements/${index}/look`,
            detail: `is "once", which \`stop_when: ${rule}\` excludes: the stop is decided after every run; leave one of them out`,
          },
        ]
      : [],
  );
}

function settledFault(submission: unknown, requirements: unknown): string | undefined {
  if (member(submission, 'config', 'monte_carlo', 'sampling_method') === 'saltelli')
    return 'runs of a saltelli design, which share inputs, have no verdict; leave it out';
  if (Array.isArray(requirements) && requirements.length === 0)
    return 'the study has no requirement; declare `requirements`, or leave it out';
  return undefined;
}

/**
 * Defaults of a study file: what a study on the user's own machines does not need to say. The coordinator gets the whole
 * study; a study that says everything is not changed.
 */
import { isJsonObject } from '../../base/json/json-object.ts';
import type { SamplingMethod } from '../../contract/enums.ts';

/** A member that the file leaves out, and the value that it gets. */
export interface TakenDefault {
  /** Members from the root, joined by points: `config.compute`. */
  member: string;
  value: unknown;
  /** The effect of the value on the runs. */
  meaning: string;
}

type Members = Record<string, unknown>;

interface Default {
  value: (study: Members) => unknown;
  meaning: string;
}

const always = (value: unknown) => () => structuredClone(value);

/** Defaults by member, in the order in which they are set: one within an object comes after that of the object. */
const DEFAULTS: Readonly<Record<string, Default>> = {
  name: { value: simulationName, meaning: 'the study has the name of its simulation' },
  'config.simulation.version': { value: always('1'), meaning: 'a label; results keep it' },
  'config.simulation.duration_minutes': { value: always(1), meaning: 'passed to the simulation, which may ignore it' },
  'config.monte_carlo.sampling_method': {
    value: always('latin_hypercube'),
    meaning: 'every dispersion is covered evenly',
  },
  'config.compute': { value: always({}), meaning: '' },
  'config.compute.container': { value: always({}), meaning: '' },
  'config.compute.container.image': {
    value: always(''),
    meaning: 'no image: the runner starts the entrypoint it was given',
  },
  'config.compute.container.cpu_request': { value: always('1'), meaning: 'one core for each run' },
  'config.compute.container.memory_request': { value: always('256Mi'), meaning: 'memory for each run' },
  'config.compute.max_parallel_jobs': { value: always(0), meaning: 'as many runs at once as the runners have slots' },
  'config.compute.job_timeout_seconds': { value: always(0), meaning: 'no time limit' },
  'config.early_termination': { value: always({}), meaning: '' },
  'config.early_termination.conditions': { value: always([]), meaning: 'no run is ended early' },
  'config.early_termination.enabled': {
    value: hasConditions,
    meaning: 'conditions are evaluated where there are some',
  },
  'config.early_termination.check_frequency_hz': {
    value: always(10),
    meaning: 'how often a condition that is met is acted upon, per second',
  },
  'config.telemetry': { value: always({}), meaning: '' },
  'config.telemetry.sampling_rate_hz': { value: always(0), meaning: 'every sample is kept' },
  'config.telemetry.variables': { value: always([]), meaning: 'all variables are kept' },
  'config.telemetry.storage': { value: always({}), meaning: '' },
  'config.telemetry.storage.s3_bucket': { value: always(''), meaning: 'artifacts stay on the runner' },
  'config.telemetry.storage.s3_prefix': { value: always(''), meaning: 'artifacts stay on the runner' },
  'config.telemetry.storage.compression': { value: always('snappy'), meaning: 'compression of telemetry files' },
  'config.telemetry.buffer_flush_interval_seconds': {
    value: always(5),
    meaning: 'how often telemetry is written to the disk, in seconds',
  },
};

/** Names of methods that people write, in files as in Python (`clients/python/simbatch/study/build.py`), with the contract's. */
export const METHOD_NAMES: Readonly<Record<string, SamplingMethod>> = {
  sobol: 'quasi_monte_carlo',
  lhs: 'latin_hypercube',
  mc: 'monte_carlo',
  random: 'monte_carlo',
};

/** Gives the sampling method the contract's name, in place: the study is the same to the byte, and so is its configuration hash. */
export function takeMethodName(study: unknown): void {
  const design = isJsonObject(study) && isJsonObject(study['config']) ? study['config']['monte_carlo'] : undefined;
  if (!isJsonObject(design)) return;
  const name = design['sampling_method'];
  if (typeof name === 'string' && Object.hasOwn(METHOD_NAMES, name))
    (design as Members)['sampling_method'] = METHOD_NAMES[name];
}

/**
 * Adds the members that the study leaves out, in place, and returns those with a meaning of their own. Does nothing where
 * the parent is not an object, and nothing to a value that is not an object: such faults are reported.
 */
export function takeDefaults(study: unknown): TakenDefault[] {
  if (!isJsonObject(study) || !isJsonObject(study['config'])) return [];
  const taken: TakenDefault[] = [];
  for (const [member, { value, meaning }] of Object.entries(DEFAULTS)) {
    const path = member.split('.');
    const parent = path.slice(0, -1).reduce<unknown>((it, name) => (isJsonObject(it) ? it[name] : undefined), study);
    const name = path.at(-1) as string;
    if (!isJsonObject(parent) || name in parent) continue;
    const given = value(study);
    if (given === undefined) continue;
    parent[name] = given;
    if (meaning !== '') taken.push({ member, value: given, meaning });
  }
  return [...taken, ...takeUnits(study['config']['dispersions'])];
}

/** Units are for people, and may be empty. */
function takeUnits(dispersions: unknown): TakenDefault[] {
  if (!isJsonObject(dispersions)) return [];
  const without = Object.entries(dispersions).filter(([, it]) => isJsonObject(it) && !('units' in it));
  for (const [, it] of without) (it as Members)['units'] = '';
  if (without.length === 0) return [];
  const names = without.map(([name]) => name).join(', ');
  return [{ member: 'config.dispersions.*.units', value: '', meaning: `no units are shown for ${names}` }];
}

function simulationName({ config }: Members): unknown {
  const name = isJsonObject(config) && isJsonObject(config['simulation']) ? config['simulation']['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function hasConditions({ config }: Members): boolean {
  const termination = isJsonObject(config) ? config['early_termination'] : undefined;
  const conditions = isJsonObject(termination) ? termination['conditions'] : undefined;
  return Array.isArray(conditions) && conditions.length > 0;
}

/**
 * The runner's configuration: defaults < configuration file < environment < flags, resolved once into a frozen object.
 * The settings themselves are the table in `config/fields.ts`. The credential is read in `credential.ts`.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { below } from '../../base/directories.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { FIELDS } from './fields.ts';
import type { FieldName } from './fields.ts';
import {
  address,
  artifactsMode,
  boolean,
  cgroupMode,
  containerRuntime,
  duration,
  expandedPath,
  id,
  instant,
  integer,
  list,
  path,
  pause,
  program,
  resourceNames,
  resources,
  size,
  text,
  variables,
} from './values.ts';
import type { ArtifactsMode, CgroupMode, Given, ResourceAmounts, RUNTIME_NAMES } from './values.ts';
import { engineField, engines, engineVariable, Settings } from './engines.ts';
import type { Engine } from './engines.ts';
import { readConfigFile } from './file.ts';
import { closestMatch } from '../../base/text/closest-match.ts';

/** When the runner leaves by itself. */
export interface Lifetime {
  /** The instant at which the machine is taken from the runner; undefined: never. */
  endsAtMs: number | undefined;
  /** The latest end as a time from the start. */
  maxMs: number | undefined;
  /** Time before `endsAtMs` at which the runner has left. */
  marginMs: number;
  /** Time without a run after which the runner leaves; undefined: never. */
  idleMs: number | undefined;
}

/** How runs of studies that name an image are executed. */
export interface ContainerSettings {
  runtime: (typeof RUNTIME_NAMES)[number];
  /** Patterns of images that studies may name. */
  images: readonly string[];
  /** Arguments of each start. */
  options: readonly string[];
}

export interface RunnerConfig {
  id: string;
  name: string;
  endpoint: string;
  /** Where the credential is; `credential.ts` reads it. */
  tokenFile: string | undefined;
  tokenFd: number | undefined;
  maxConcurrentJobs: number;
  heartbeatIntervalSecs: number;
  graceSecs: number;
  /** Never empty after the checks of the machine; the first is the one for jobs that name none of them. */
  engines: readonly Engine[];
  capabilities: readonly string[];
  tags: readonly string[];
  /** Whether functions that studies carry are executed; `functions/engine.ts` adds their engine. */
  allowFunctions: boolean;
  /** Undefined: `python3`, then `python`, from PATH. */
  pythonExecutable: string | undefined;
  /** Patterns of variables, besides the default ones: those that simulations inherit, and those that studies may set. */
  environmentInherited: readonly string[];
  environmentAllowed: readonly string[];
  cgroup: CgroupMode;
  containers: ContainerSettings;
  /** Absolute path of the output root. */
  outputRoot: string;
  /** Days after which folders of finished attempts are deleted; undefined: never. */
  keepDays: number | undefined;
  artifacts: ArtifactsMode;
  /** Where checkpoints of runs are kept; undefined: below the output root. */
  checkpointDir: string | undefined;
  /** The shortest time between two uploads of the checkpoint of a run, and the largest checkpoint in bytes; 0: none. */
  checkpointIntervalMs: number;
  checkpointBytes: number;
  workingDirectory: string;
  /** Whether files of runs are sent to readers, and the largest one in bytes. */
  servesFiles: boolean;
  servedFileBytes: number;
  cpuCores: number;
  memoryGb: number;
  gpuAvailable: boolean;
  /** Counted resources as given; undefined: none. */
  resources: ResourceAmounts | undefined;
  /** The GPUs that are pinned to runs; undefined: `gpu` is not among the resources. The checks of the machine find them. */
  devices: readonly string[] | undefined;
  /** It takes only runs that ask for one of these; undefined: any. */
  onlyWith: readonly string[] | undefined;
  /** The allocation of a cluster; undefined outside of one. */
  allocation: string | undefined;
  lifetime: Lifetime;
  /** The coordinator forgets the runner when it has signed off. */
  isEphemeral: boolean;
  /** The name of this machine. */
  hostname: string;
  /** Settings that are valid and probably not intended; for the log. */
  notes: readonly string[];
}

export interface ConfigSources {
  /** Field name -> the text given on the command line; `entrypoint` may be repeated, each `path` or `engine=path`. */
  flags: Partial<Record<FieldName, string | boolean | readonly string[]>>;
  /** Path of the YAML file, if one is given. */
  file?: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Where relative paths of flags and variables start. */
  cwd: string;
  /** `uid`: the number of the user; undefined where users have none. */
  host: { hostname: string; cpuCores: number; memoryGb: number; uid?: number | undefined };
}

const DEFAULT_MARGIN_MS = 60_000;
const DEFAULT_CHECKPOINT_MS = 60_000;
const MOST_DAYS = 36_500;
const DEFAULT_ENDPOINT = 'http://127.0.0.1:7070';
const CREDENTIAL_FIELDS = ['token', 'svc_token', 'auth_token', 'api_token', 'password', 'secret'];

export type { CgroupMode } from './values.ts';
export type { Engine } from './engines.ts';

/** The coordinator takes no longer interval. */
const LONGEST_INTERVAL_SECS = 3600;

const atLeast = (least: number, most?: number) => (given: Given) => integer(given, least, most);

/** A fault in the words of the others: the setting with its place and value, and `why` it does not do. */
export type FaultOf = (setting: FieldName | { engine: string }, why: string) => string;

/** The configuration as far as it can be read; `faults` must be empty before it is used. */
export interface ReadConfig {
  config: RunnerConfig;
  faults: readonly string[];
  faultOf: FaultOf;
}

/** @throws SimbatchError `invalid-configuration`, naming every fault with its place, value and remedy. */
export function resolveConfig(sources: ConfigSources): RunnerConfig {
  const { config, faults } = readConfig(sources);
  if (faults.length > 0) throw new SimbatchError('invalid-configuration', faults.join('\n'));
  return config;
}

/**
 * Reads the configuration for callers that have further checks, and report all faults together.
 * @throws SimbatchError `invalid-configuration` when the file cannot be read.
 */
export function readConfig(sources: ConfigSources): ReadConfig {
  const settings = new Settings();
  if (sources.file !== undefined) takeFile(settings, resolve(sources.cwd, sources.file));
  takeEnvironment(settings, sources);
  takeFlags(settings, sources);

  const ofPaths = { env: sources.env, uid: sources.host.uid };
  const outputRoot = settings.read(
    'output_root',
    (given) => expandedPath(given, ofPaths),
    resolve(sources.cwd, 'simbatch-output'),
  );
  const runnerId = settings.read('runner_id', id, defaultId(sources.host.hostname, outputRoot));
  const { host } = sources;
  const config: RunnerConfig = {
    id: runnerId,
    name: settings.read('name', text, runnerId),
    endpoint: settings.read('endpoint', address, DEFAULT_ENDPOINT),
    tokenFile: settings.read<string | undefined>('token_file', path, undefined),
    tokenFd: settings.read<number | undefined>('token_fd', atLeast(0), undefined),
    maxConcurrentJobs: settings.read('max_concurrent_jobs', atLeast(1), host.cpuCores),
    heartbeatIntervalSecs: settings.read('heartbeat_interval_secs', atLeast(1, LONGEST_INTERVAL_SECS), 5),
    graceSecs: settings.read('grace_secs', atLeast(0), 30),
    engines: engines(settings),
    capabilities: settings.read('capabilities', list, []),
    tags: settings.read('tags', list, []),
    allowFunctions: settings.read('allow_functions', boolean, false),
    pythonExecutable: settings.read<string | undefined>('python_executable', program, undefined),
    environmentInherited: settings.read('environment_inherited', variables, []),
    environmentAllowed: settings.read('environment_allowed', variables, []),
    cgroup: settings.read('cgroup', cgroupMode, 'auto'),
    containers: containerSettings(settings),
    outputRoot,
    keepDays: settings.read<number | undefined>('keep_days', atLeast(1, MOST_DAYS), undefined),
    artifacts: settings.read('artifacts', artifactsMode, 'files'),
    checkpointDir: settings.read<string | undefined>('checkpoint_dir', path, undefined),
    checkpointIntervalMs: settings.read('checkpoint_interval', pause, DEFAULT_CHECKPOINT_MS),
    checkpointBytes: Math.floor(settings.read('checkpoint_max_gb', size, 4) * 2 ** 30),
    workingDirectory: settings.read('working_directory', path, sources.cwd),
    servesFiles: settings.read('serve_files', boolean, false),
    servedFileBytes: Math.floor(settings.read('serve_files_max_gb', size, 1) * 2 ** 30),
    cpuCores: settings.read('cpu_cores', atLeast(0), host.cpuCores),
    memoryGb: settings.read('memory_gb', size, host.memoryGb),
    gpuAvailable: settings.read('gpu_available', boolean, false),
    resources: settings.read<ResourceAmounts | undefined>('resources', resources, undefined),
    devices: undefined,
    onlyWith: settings.read<readonly string[] | undefined>('only_with', resourceNames, undefined),
    allocation: settings.read<string | undefined>('allocation', text, undefined),
    lifetime: {
      endsAtMs: settings.read<number | undefined>('ends_at', instant, undefined),
      maxMs: settings.read<number | undefined>('max_lifetime', duration, undefined),
      marginMs: settings.read('lifetime_margin', duration, DEFAULT_MARGIN_MS),
      idleMs: settings.read<number | undefined>('idle_exit', duration, undefined),
    },
    isEphemeral: settings.read('ephemeral', boolean, false),
    hostname: host.hostname,
    notes: settings.notes,
  };
  const faultOf: FaultOf = (setting, why) => {
    const { name, given } =
      typeof setting === 'string'
        ? { name: setting, given: settings.given.get(setting) }
        : settings.ofEngine('entrypoint', setting.engine);
    return given === undefined
      ? `${name} is not given, and ${why}`
      : `${given.where}: ${name} is ${JSON.stringify(given.value)}, but ${why}`;
  };
  return { config: Object.freeze(config), faults: settings.faults, faultOf };
}

function containerSettings(settings: Settings): ContainerSettings {
  const runtime = settings.read<ContainerSettings['runtime']>('container_runtime', containerRuntime, 'none');
  const images = settings.read('container_images', list, []);
  if (runtime !== 'none' && images.length === 0) {
    settings.faults.push(
      `container_runtime is ${runtime}, and container_images allows no image: name those that studies may use, or * for any`,
    );
  }
  return { runtime, images, options: settings.read('container_options', list, []) };
}

/** Where checkpoints of runs are kept. */
export const checkpointRoot = (config: Pick<RunnerConfig, 'outputRoot' | 'checkpointDir'>): string =>
  config.checkpointDir ?? below(config.outputRoot, '.checkpoints');

/** The advertised simulation types: engines and capabilities, in this order, each once. */
export function supportedSimulationTypes(config: Pick<RunnerConfig, 'engines' | 'capabilities'>): string[] {
  return [...new Set([...config.engines.map((engine) => engine.name), ...config.capabilities])];
}

function takeFile(settings: Settings, file: string): void {
  const known = new Map<string, FieldName>(FIELDS.map((field) => [field.name, field.name]));
  for (const [name, given] of readConfigFile(file, (fault) => settings.faults.push(fault))) {
    const own = engineField(name);
    if (known.has(name)) settings.given.set(name, given);
    else if (own !== undefined) settings.putOwn(own.member, own.engine, given);
    else if (CREDENTIAL_FIELDS.includes(name.toLowerCase())) {
      settings.faults.push(
        `${given.where}: ${name} does not belong in a file that is copied and shared; put it into a file of its own and name that in token_file`,
      );
    } else {
      const near = closestMatch(name, [...known.keys()]);
      const hint = near === undefined ? `known fields: ${[...known.keys()].join(', ')}` : `did you mean ${near}?`;
      settings.faults.push(`${given.where}: unknown field ${JSON.stringify(name)}; ${hint}`);
    }
  }
}

function takeEnvironment(settings: Settings, sources: ConfigSources): void {
  const known = new Map<string, FieldName>(FIELDS.map((field) => [field.env, field.name]));
  for (const [variable, value] of Object.entries(sources.env)) {
    if (value === undefined || value === '') continue;
    const given = { value, where: variable, base: sources.cwd };
    const field = known.get(variable);
    const own = engineVariable(variable);
    if (field !== undefined) settings.given.set(field, given);
    else if (own !== undefined) settings.putOwn(own.member, own.engine.toLowerCase(), given);
    else if (variable.startsWith('SVC_RUNNER_')) {
      const near = closestMatch(variable, known.keys());
      settings.notes.push(`${variable} is not a setting${near === undefined ? '' : `; did you mean ${near}?`}`);
    }
  }
}

function takeFlags(settings: Settings, sources: ConfigSources): void {
  for (const field of FIELDS) {
    const value = sources.flags[field.name];
    if (value === undefined) continue;
    const given = { value, where: `--${field.flag}`, base: sources.cwd };
    if (field.name !== 'entrypoint') settings.given.set(field.name, given);
    else {
      for (const one of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
        const [, engine, file] = /^([\w.*-]+)=(.+)$/.exec(String(one)) ?? [];
        if (engine === undefined) settings.given.set('entrypoint', { ...given, value: one });
        else settings.putOwn('entrypoint', engine, { ...given, value: file });
      }
    }
  }
}

/** An id that is the same after every restart, and another one for each output root of a machine. */
function defaultId(hostname: string, outputRoot: string): string {
  const host = hostname
    .replaceAll(/[^A-Za-z0-9.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100);
  const digest = createHash('sha256').update(outputRoot).digest('hex').slice(0, 6);
  return `${host === '' ? 'runner' : host}-${digest}`;
}

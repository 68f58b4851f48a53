/**
 * The table of the runner's settings: field of the configuration file, environment variable, flag, and what a value may
 * be. A new setting is a row here, a member of `RunnerConfig` and a line in docs/runner.md.
 */
import { isAbsolute, resolve } from 'node:path';
import { VARIABLE_PATTERN } from '../attempt/environment.ts';
import { INT32_MAX, LIMITS } from '../../contract/limits.ts';
import { endpointFault } from '../../client/transport.ts';

export type Kind = 'text' | 'id' | 'path' | 'program' | 'list' | 'count' | 'size' | 'boolean' | 'cgroup mode';

export interface Field {
  /** The name in the configuration file. */
  name: string;
  env: string;
  flag: string;
  kind: Kind;
  /** Text of `--help`. */
  text: string;
}

export const FIELDS = [
  {
    name: 'runner_id',
    env: 'SVC_RUNNER_ID',
    flag: 'runner-id',
    kind: 'id',
    text: 'unique identifier of this runner; distinct across the pool',
  },
  { name: 'name', env: 'SVC_RUNNER_NAME', flag: 'name', kind: 'text', text: 'display name shown in the API' },
  { name: 'endpoint', env: 'SVC_ENDPOINT', flag: 'endpoint', kind: 'text', text: 'address of the coordinator' },
  {
    name: 'max_concurrent_jobs',
    env: 'SVC_RUNNER_MAX_CONCURRENT_JOBS',
    flag: 'max-concurrent-jobs',
    kind: 'count',
    text: 'maximum jobs executed in parallel',
  },
  {
    name: 'heartbeat_interval_secs',
    env: 'SVC_RUNNER_HEARTBEAT_INTERVAL_SECS',
    flag: 'heartbeat-interval-secs',
    kind: 'count',
    text: 'heartbeat frequency in seconds',
  },
  {
    name: 'grace_secs',
    env: 'SVC_RUNNER_GRACE_SECS',
    flag: 'grace-secs',
    kind: 'count',
    text: 'how long running simulations may continue after SIGTERM',
  },
  { name: 'engines', env: 'SVC_RUNNER_ENGINES', flag: 'engines', kind: 'list', text: 'engine plugins enabled' },
  {
    name: 'capabilities',
    env: 'SVC_RUNNER_CAPABILITIES',
    flag: 'capabilities',
    kind: 'list',
    text: 'capability tags advertised',
  },
  {
    name: 'entrypoint',
    env: 'SVC_RUNNER_ENTRYPOINT',
    flag: 'entrypoint',
    kind: 'path',
    text: 'simulation entrypoint of every engine without its own',
  },
  {
    name: 'warm',
    env: 'SVC_RUNNER_WARM',
    flag: 'warm',
    kind: 'boolean',
    text: 'start the runs of every engine from a process that has loaded its modules',
  },
  {
    name: 'preload',
    env: 'SVC_RUNNER_PRELOAD',
    flag: 'preload',
    kind: 'list',
    text: 'modules that a warm Python imports',
  },
  {
    name: 'allow_functions',
    env: 'SVC_RUNNER_ALLOW_FUNCTIONS',
    flag: 'allow-functions',
    kind: 'boolean',
    text: 'execute Python functions that studies carry: clients with the scope submit choose the code',
  },
  {
    name: 'python_executable',
    env: 'SVC_RUNNER_PYTHON_EXECUTABLE',
    flag: 'python-executable',
    kind: 'program',
    text: 'interpreter used to start a .py entrypoint',
  },
  {
    name: 'output_root',
    env: 'SVC_RUNNER_OUTPUT_ROOT',
    flag: 'output-root',
    kind: 'path',
    text: 'root directory for per-job output',
  },
  {
    name: 'working_directory',
    env: 'SVC_RUNNER_WORKING_DIRECTORY',
    flag: 'working-directory',
    kind: 'path',
    text: 'working directory of the simulations',
  },
  {
    name: 'environment_inherited',
    env: 'SVC_RUNNER_ENVIRONMENT_INHERITED',
    flag: 'environment-inherited',
    kind: 'list',
    text: "further variables of the runner's environment that simulations get; a name, PREFIX_* or *",
  },
  {
    name: 'environment_allowed',
    env: 'SVC_RUNNER_ENVIRONMENT_ALLOWED',
    flag: 'environment-allowed',
    kind: 'list',
    text: 'further variables that a study may set; a name, PREFIX_* or *',
  },
  {
    name: 'cgroup',
    env: 'SVC_RUNNER_CGROUP',
    flag: 'cgroup',
    kind: 'cgroup mode',
    text: 'a cgroup for each run: auto (where possible), off or required',
  },
  {
    name: 'token_file',
    env: 'SVC_TOKEN_FILE',
    flag: 'token-file',
    kind: 'path',
    text: 'file that holds the credential',
  },
  {
    name: 'token_fd',
    env: 'SVC_TOKEN_FD',
    flag: 'token-fd',
    kind: 'count',
    text: 'open file descriptor from which the credential is read',
  },
  { name: 'tags', env: 'SVC_RUNNER_TAGS', flag: 'tags', kind: 'list', text: 'tags shown in the API' },
  {
    name: 'cpu_cores',
    env: 'SVC_RUNNER_CPU_CORES',
    flag: 'cpu-cores',
    kind: 'count',
    text: 'CPU cores offered; 0: undeclared',
  },
  {
    name: 'memory_gb',
    env: 'SVC_RUNNER_MEMORY_GB',
    flag: 'memory-gb',
    kind: 'size',
    text: 'memory offered in GiB; 0: undeclared',
  },
  {
    name: 'gpu_available',
    env: 'SVC_RUNNER_GPU_AVAILABLE',
    flag: 'gpu-available',
    kind: 'boolean',
    text: 'a GPU is available',
  },
] as const satisfies readonly Field[];
export type FieldName = (typeof FIELDS)[number]['name'];

/** A value as it was given, where (for the error), and the folder a relative path in it starts from. */
export interface Given {
  value: unknown;
  where: string;
  base: string;
}

/** A value that cannot be used; the message says what it must be. */
export class Unfit extends Error {
  /** The value holds what must not be repeated in a log. */
  readonly isSecret: boolean;

  constructor(message: string, isSecret = false) {
    super(message);
    this.isSecret = isSecret;
  }
}

/** `auto`: a cgroup for each run where the machine allows it. `required`: the runner does not start without. */
export const CGROUP_MODES = ['auto', 'off', 'required'] as const;
export type CgroupMode = (typeof CGROUP_MODES)[number];

const TRUTHS: Record<string, boolean> = { true: true, yes: true, '1': true, false: false, no: false, '0': false };

/** Engines become parts of variable names and are matched against `simulation.name`; so they stay simple. */
export const ENGINE_NAME = /^(?:\*|[A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;
const RUNNER_ID = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;

export function text(given: Given): string {
  if (typeof given.value !== 'string' || given.value.trim() === '') throw new Unfit('must be a text that is not empty');
  if (given.value.length > LIMITS.nameLength) {
    throw new Unfit(`must have at most ${String(LIMITS.nameLength)} characters`);
  }
  return given.value;
}

export function id(given: Given): string {
  const value = typeof given.value === 'number' ? String(given.value) : given.value;
  if (typeof value === 'string' && RUNNER_ID.test(value)) return value;
  throw new Unfit('must be 1 to 128 letters, digits, ".", "_", ":", "@" or "-", the first a letter or a digit');
}

/** An address the client can speak to. */
export function address(given: Given): string {
  const value = text(given);
  const fault = endpointFault(value);
  if (fault !== undefined) throw new Unfit(fault.why, fault.isSecret);
  return value;
}

/** An absolute path. */
export function path(given: Given): string {
  if (typeof given.value !== 'string' || given.value === '' || given.value.includes('\0')) {
    throw new Unfit('must be a path');
  }
  return resolve(given.base, given.value);
}

/** A path when it has a slash, else a name to be looked up in PATH. */
export function program(given: Given): string {
  const value = text(given);
  return value.includes('/') && !isAbsolute(value) ? resolve(given.base, value) : value;
}

/** YAML lists, or text with commas between the items. Repeated items count once. */
export function list(given: Given): readonly string[] {
  const parts = typeof given.value === 'string' ? given.value.split(',') : given.value;
  if (!Array.isArray(parts) || parts.length > 256) throw new Unfit('must be a list of at most 256 texts');
  const items = parts.map((item: unknown) => {
    const trimmed = typeof item === 'number' ? String(item) : typeof item === 'string' ? item.trim() : '';
    if (trimmed === '' || trimmed.length > 128) throw new Unfit('must be a list of texts of 1 to 128 characters');
    return trimmed;
  });
  return [...new Set(items)];
}

/** Names of Python modules, e.g. `scipy.optimize`. */
export function modules(given: Given): readonly string[] {
  const names = list(given);
  const wrong = names.find((name) => !/^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*$/u.test(name));
  if (wrong !== undefined) {
    throw new Unfit(`must be a list of Python modules such as scipy.optimize; ${JSON.stringify(wrong)} is not one`);
  }
  return names;
}

/** Names of environment variables, each with `*` at its end for a prefix. */
export function variables(given: Given): readonly string[] {
  const names = list(given);
  const wrong = names.find((name) => !VARIABLE_PATTERN.test(name));
  if (wrong !== undefined)
    throw new Unfit(
      `must be a list of names of variables, with * at the end for a prefix; ${JSON.stringify(wrong)} is not one`,
    );
  return names;
}

/** An integer in [least, most]. */
export function integer(given: Given, least: number, most = INT32_MAX): number {
  const value = numeric(given.value, /^\d{1,10}$/);
  if (!Number.isInteger(value) || value < least || value > most) {
    const bound = most === INT32_MAX ? '' : ` and at most ${String(most)}`;
    throw new Unfit(`must be a whole number of at least ${String(least)}${bound}`);
  }
  return value;
}

export function size(given: Given): number {
  const value = numeric(given.value, /^\d{1,10}(\.\d{1,10})?$/);
  if (!Number.isFinite(value) || value < 0) throw new Unfit('must be a number of at least 0');
  return value;
}

export function cgroupMode(given: Given): CgroupMode {
  const mode = CGROUP_MODES.find((it) => it === given.value);
  if (mode === undefined) throw new Unfit(`must be one of ${CGROUP_MODES.join(', ')}`);
  return mode;
}

export function boolean(given: Given): boolean {
  const value = typeof given.value === 'string' ? TRUTHS[given.value.toLowerCase()] : given.value;
  if (typeof value !== 'boolean') throw new Unfit('must be true or false');
  return value;
}

function numeric(value: unknown, shape: RegExp): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && shape.test(value.trim()) ? Number(value) : Number.NaN;
}

/** The values that settings may have: each function returns the value, or throws what it must be. */
import { isAbsolute, resolve } from 'node:path';
import { durationMs } from '../../domain/durations.ts';
import { imageEntrypoint } from './image-entrypoint.ts';
import { MEANING_OF_PATTERN, RESOURCE_NAME_PATTERN } from '../../contract/patterns.ts';
import { GPU } from '../../domain/counted/counts.ts';
import { INT32_MAX, LIMITS } from '../../contract/limits.ts';
import { endpointFault } from '../../client/transport.ts';

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

/** `archive`: the files of an attempt become one when it has ended. */
export const ARTIFACTS_MODES = ['files', 'archive'] as const;
export type ArtifactsMode = (typeof ARTIFACTS_MODES)[number];

/** The runtimes that `container_runtime` may name. `none`: simulations run on the machine itself. */
export const RUNTIME_NAMES = ['none', 'podman', 'docker', 'apptainer', 'charliecloud'] as const;
export type RuntimeName = Exclude<(typeof RUNTIME_NAMES)[number], 'none'>;

/** A name, a prefix with `*` at its end, or `*` for every name. */
const VARIABLE_PATTERN = /^(?:[A-Za-z_][A-Za-z0-9_]*\*?|\*)$/;

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

/** The variables of a path of output that a machine may lack, with their substitutes. */
export interface PathVariables {
  env: Readonly<Record<string, string | undefined>>;
  /** The number of the user, in place of a name. */
  uid: number | undefined;
}

/** An absolute path, in which `$NAME` and `${NAME}` are variables of the environment of the runner. */
export function expandedPath(given: Given, { env, uid }: PathVariables): string {
  if (typeof given.value !== 'string') return path(given);
  const missing = new Set<string>();
  const value = given.value.replaceAll(
    /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g,
    (_, braced?: string, bare?: string) => {
      const name = braced ?? bare ?? '';
      const fallback = name === 'TMPDIR' ? '/tmp' : name === 'USER' && uid !== undefined ? String(uid) : '';
      const found = env[name] === undefined || env[name] === '' ? fallback : env[name];
      if (found === '') missing.add(name);
      return found;
    },
  );
  if (missing.size > 0) throw new Unfit(`must have variables that are set here; ${[...missing].join(', ')} is not`);
  return path({ ...given, value });
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

/** Patterns of files below a folder, as in `.gitignore`. */
export function codePatterns(given: Given): readonly string[] {
  const patterns = list(given);
  const wrong = patterns.find((it) => /^!?\//.test(it) || it.split('/').includes('..'));
  if (wrong !== undefined) {
    throw new Unfit(
      `must be patterns of files below the folder of the entrypoint, such as model/**/*.py; ${JSON.stringify(wrong)} leads out of it`,
    );
  }
  return patterns;
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

const RESOURCE_NAME = new RegExp(RESOURCE_NAME_PATTERN);

/** Amounts of counted resources; `auto`: as many GPUs as are found. */
export type ResourceAmounts = Readonly<Record<string, number | 'auto'>>;

/** A YAML map, or text such as `gpu=auto,comsol=2`. */
export function resources({ value }: Given): ResourceAmounts {
  const pairs: [string, unknown][] =
    typeof value === 'string'
      ? value.split(',').map((it) => {
          const [name = '', ...amount] = it.split('=');
          return [name.trim(), amount.join('=').trim()];
        })
      : typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value)
        : [['', '']];
  if (pairs.length > LIMITS.resources) throw new Unfit(`must have at most ${String(LIMITS.resources)} resources`);
  const amounts: Record<string, number | 'auto'> = {};
  for (const [name, given] of pairs) {
    if (!RESOURCE_NAME.test(name))
      throw new Unfit(
        `must be names with amounts such as gpu=auto,comsol=2; ${JSON.stringify(name)} must be ${MEANING_OF_PATTERN[RESOURCE_NAME_PATTERN] ?? ''}`,
      );
    if (Object.hasOwn(amounts, name)) throw new Unfit(`must have each name once; ${name} is there twice`);
    const amount = given === 'auto' && name === GPU ? given : numeric(given, /^\d{1,5}$/);
    if (amount !== 'auto' && !(Number.isInteger(amount) && amount >= 0 && amount <= LIMITS.resourceAmount))
      throw new Unfit(
        `must have amounts from 0 to ${String(LIMITS.resourceAmount)}, or auto for ${GPU}; that of ${name} is ${JSON.stringify(given)}`,
      );
    amounts[name] = amount;
  }
  return amounts;
}

/** Names of counted resources. */
export function resourceNames(given: Given): readonly string[] {
  const names = list(given);
  const wrong = names.find((it) => !RESOURCE_NAME.test(it));
  if (wrong === undefined) return names;
  throw new Unfit(
    `must be a list of resources; ${JSON.stringify(wrong)} must be ${MEANING_OF_PATTERN[RESOURCE_NAME_PATTERN] ?? ''}`,
  );
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

/** One of these names. */
const oneOf =
  <T extends string>(names: readonly T[]) =>
  ({ value }: Given): T => {
    const name = names.find((it) => it === value);
    if (name === undefined) throw new Unfit(`must be one of ${names.join(', ')}`);
    return name;
  };

export const cgroupMode = oneOf(CGROUP_MODES);
export const artifactsMode = oneOf(ARTIFACTS_MODES);
export const containerRuntime = oneOf(RUNTIME_NAMES);

/** A path of this machine, or `image:/path` of a file inside the image. */
export function entrypoint(given: Given): string {
  return typeof given.value === 'string' && imageEntrypoint(given.value) !== undefined ? given.value : path(given);
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

/** A time such as `90s`, `55m`, `1h30m` or `2d`, in milliseconds; a number without a unit is in seconds. */
export function duration({ value }: Given): number {
  const ms = typeof value === 'number' || typeof value === 'string' ? durationMs(value) : undefined;
  if (ms === undefined) throw new Unfit('must be a time such as 90s, 55m, 1h30m or 2d');
  return ms;
}

/** A duration between two repetitions, in milliseconds. */
export function pause(given: Given): number {
  const ms = duration(given);
  if (ms < 1_000) throw new Unfit('must be at least 1s');
  return ms;
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** An ISO 8601 instant with its zone, or seconds since 1970 as `date +%s` and Slurm's SLURM_JOB_END_TIME give them; in milliseconds. */
export function instant(given: Given): number {
  const seconds = numeric(given.value, /^\d{9,11}$/);
  const ms = Number.isInteger(seconds) ? seconds * 1_000 : given.value instanceof Date ? given.value.getTime() : NaN;
  const read = typeof given.value === 'string' && INSTANT.test(given.value) ? Date.parse(given.value) : ms;
  if (Number.isFinite(read)) return read;
  throw new Unfit('must be an instant with its zone, such as 2026-03-01T18:00:00Z, or seconds since 1970');
}

/**
 * Checks this machine against the configuration: entrypoints, interpreter, folders, credential. Runs before anything
 * starts and reports together with the faults of the configuration itself, so that a mistake does not appear as failed runs.
 */
import { chmodSync, existsSync, lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDirectory, isWritable, makeDirectory } from '../base/directories.ts';
import { remoteStoreWarning, type Mount } from '../base/file-systems/mounts.ts';
import { SimbatchError } from '../domain/errors.ts';
import { readConfig } from './config/config.ts';
import { pinnedDevices } from './config/resources.ts';
import { findDevices } from './processes/devices.ts';
import { readCredential } from './config/credential.ts';
import type { ConfigSources, FaultOf, RunnerConfig } from './config/config.ts';
import { entrypointProblem, findPython } from './launch/engine.ts';
import { imageEntrypoint } from './config/image-entrypoint.ts';
import type { Python } from './launch/engine.ts';
import { functionEngine } from './functions/engine.ts';
import { oneLine } from './system-error.ts';

export interface Resolved {
  config: RunnerConfig;
  /** Sent to the coordinator as a bearer token and nowhere else. */
  token: string | undefined;
  /** Settings that are valid and probably not intended; for the log. */
  notes: readonly string[];
  /** Undefined: there is none, and no entrypoint needs it. */
  python: Python | undefined;
}

/** @throws SimbatchError `invalid-configuration` with every fault of the settings and of the machine, a line each. */
export async function resolveHere(sources: ConfigSources, mounts?: readonly Mount[]): Promise<Resolved> {
  const { config: given, faults, faultOf } = readConfig(sources);
  const pinned =
    given.resources === undefined ? undefined : pinnedDevices(given.resources, await findDevices(sources.env));
  const config = pinned === undefined ? given : { ...given, devices: pinned.devices };
  const python = await findPython(config.pythonExecutable, sources.env['PATH'] ?? '');
  const functions = config.allowFunctions ? await functionEngine(python) : undefined;
  const found = [
    ...faults,
    ...(functions !== undefined && 'fault' in functions ? [faultOf('allow_functions', functions.fault)] : []),
    ...pythonFaults(config, python, faultOf),
    ...(await entrypointFaults(config, python, faultOf)),
    ...directoryFaults(config, sources.host.uid, faultOf),
  ];
  const credential = readCredential({ ...config, env: sources.env });
  found.push(...credential.faults);
  // Engines that share an entrypoint share its fault.
  if (found.length > 0) throw refusal([...new Set(found)].join('\n'));
  try {
    makeOwn(config.outputRoot);
  } catch (error) {
    throw refusal(faultOf('output_root', `the folder cannot be made: ${oneLine(error)}; name another`));
  }
  const remote = remoteStoreWarning(config.outputRoot, mounts, REMOTE_REMEDY);
  const notes = [
    ...config.notes,
    ...credential.notes,
    ...(pinned?.note === undefined ? [] : [pinned.note]),
    ...(remote === undefined ? [] : [remote]),
  ];
  if (functions === undefined || 'fault' in functions) return { config, token: credential.token, notes, python };
  if (credential.token === undefined) notes.push(OPEN_FUNCTIONS);
  return { config: { ...config, engines: [...config.engines, functions] }, token: credential.token, notes, python };
}

const REMOTE_REMEDY =
  'name a local folder in --output-root, such as $TMPDIR/simbatch, and have files sent to an object store, or read them with --serve-files';

const OPEN_FUNCTIONS =
  'functions are allowed and there is no credential: if the coordinator needs none, every user of its machine may execute code here; see docs/security.md';

const refusal = (message: string): SimbatchError => new SimbatchError('invalid-configuration', message);

function pythonFaults(config: RunnerConfig, python: Python | undefined, faultOf: FaultOf): string[] {
  if (config.pythonExecutable === undefined || python !== undefined) return [];
  return [faultOf('python_executable', 'it is not a Python that can be started; name another, or leave it out')];
}

async function entrypointFaults(config: RunnerConfig, python: Python | undefined, faultOf: FaultOf): Promise<string[]> {
  const faults: string[] = [];
  for (const { name, entrypoint } of config.engines) {
    // An interpreter that was named and is none has its own fault.
    const isContained = config.containers.runtime !== 'none';
    if (!isContained && imageEntrypoint(entrypoint) !== undefined) {
      faults.push(
        faultOf(
          { engine: name },
          'there is no container runtime; set container_runtime, or name a file of this machine',
        ),
      );
      continue;
    }
    const interpreter = python?.executable ?? config.pythonExecutable ?? (isContained ? 'python3' : undefined);
    const problem = await entrypointProblem(entrypoint, interpreter);
    if (problem === undefined) continue;
    const remedy = problem === 'does not exist' || problem === 'is not a file' ? `; ${REMEDY}` : '';
    faults.push(faultOf({ engine: name }, `${entrypoint} ${problem}${remedy}`));
  }
  return faults;
}

const REMEDY = 'name the file of the simulation: a path without arguments, not a command looked up in PATH';

/** Bits of the mode of a folder in which any user may make files, such as /tmp. */
const STICKY = 0o1000;
const isShared = (folder: string): boolean => (statSync(folder).mode & STICKY) !== 0;

/** In a folder that all users share, the folder of the runner is for its user alone. */
function makeOwn(directory: string): void {
  const isNew = !existsSync(directory);
  makeDirectory(directory);
  if (isNew && isShared(dirname(directory))) chmodSync(directory, 0o700);
}

/** Why files in this folder may not be safe from other users; undefined for a folder of this user, or in a folder of its own. */
function foreignFault(directory: string, uid: number | undefined): string | undefined {
  if (!isDirectory(dirname(directory))) return undefined;
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (uid === undefined || found === undefined || !isShared(dirname(directory)) || found.uid === uid) return undefined;
  return `${directory} belongs to another user (${String(found.uid)}); remove it, or name another`;
}

function directoryFaults(
  { workingDirectory, outputRoot }: RunnerConfig,
  uid: number | undefined,
  faultOf: FaultOf,
): string[] {
  const faults: string[] = [];
  if (!isDirectory(workingDirectory))
    faults.push(faultOf('working_directory', `there is no folder ${workingDirectory}; make it, or name another`));
  // A runner that is refused makes no folder: the nearest existing one is examined.
  const foreign = foreignFault(outputRoot, uid);
  if (foreign !== undefined) return [...faults, faultOf('output_root', foreign)];
  let nearest = outputRoot;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  if (!isDirectory(nearest)) faults.push(faultOf('output_root', `${nearest} is not a folder; name another`));
  else if (!isWritable(nearest))
    faults.push(faultOf('output_root', `this user may not write in ${nearest}; have it allowed, or name another`));
  return faults;
}

/** Which program executes a job, and how it is started: engine, entrypoint, interpreter. */
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { delimiter, extname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { isFolder } from '../../base/directories.ts';
import { imageEntrypoint } from '../config/image-entrypoint.ts';
import type { Engine } from '../config/config.ts';
import { systemCode } from '../system-error.ts';

export interface Python {
  executable: string;
  /** Version of the interpreter, e.g. `3.11.7`. */
  version: string;
}

/** Entrypoints that this Node executes. */
export const NODE_EXTENSIONS = new Set(['.mjs', '.js', '.cjs']);

/** The engine named as the simulation, else the one for every name, else the first. */
export function chooseEngine(engines: readonly Engine[], simulationName: string): Engine | undefined {
  const named = (name: string): Engine | undefined => engines.find((engine) => engine.name === name);
  return named(simulationName) ?? named('*') ?? engines[0];
}

export interface EntrypointCommand {
  command: string;
  args: string[];
}

/**
 * The command line of an entrypoint: `.py` with Python, `.mjs`, `.js` and `.cjs` with Node, anything else by itself.
 * Undefined when it needs a Python and there is none.
 * @param node the program of Node: this one, where the entrypoint is executed on this machine.
 */
export function commandOf(entrypoint: string, python: string, node?: string): EntrypointCommand;
export function commandOf(entrypoint: string, python: string | undefined, node?: string): EntrypointCommand | undefined;
export function commandOf(
  entrypoint: string,
  python: string | undefined,
  node = process.execPath,
): EntrypointCommand | undefined {
  const extension = extname(entrypoint).toLowerCase();
  if (extension === '.py') return python === undefined ? undefined : { command: python, args: [entrypoint] };
  if (NODE_EXTENSIONS.has(extension)) return { command: node, args: [entrypoint] };
  return { command: entrypoint, args: [] };
}

/**
 * The first candidate that answers with its version, as an absolute path: the PATH of a study must not choose another.
 * `configured` leaves no other candidate.
 */
export async function findPython(configured: string | undefined, searchPath: string): Promise<Python | undefined> {
  for (const executable of configured === undefined ? ['python3', 'python'] : [configured]) {
    try {
      const { stdout, stderr } = await promisify(execFile)(executable, ['--version'], { timeout: 10_000 });
      const version = /Python (\S{1,40})/.exec(`${stdout}${stderr}`)?.[1];
      if (version !== undefined) return { executable: await inPath(executable, searchPath), version };
    } catch {
      // The candidate is absent or not a Python: the next one is tried.
    }
  }
  return undefined;
}

/** The file that a name without a slash is found at in `searchPath`; the name itself when there is none. */
async function inPath(name: string, searchPath: string): Promise<string> {
  if (name.includes('/')) return name;
  for (const folder of searchPath.split(delimiter).filter(isAbsolute)) {
    const path = join(folder, name);
    try {
      await access(path, constants.X_OK);
      if ((await stat(path)).isFile()) return path;
    } catch {
      // The folder does not have the program.
    }
  }
  return name;
}

/** Why the entrypoint cannot be executed here and now, as a sentence; undefined when it can. */
export async function entrypointFault(entrypoint: string, python: string | undefined): Promise<string | undefined> {
  const problem = await entrypointProblem(entrypoint, python);
  return problem === undefined ? undefined : `the entrypoint ${entrypoint} ${problem}`;
}

/** The problem as the end of a sentence that begins with the entrypoint. */
export async function entrypointProblem(entrypoint: string, python: string | undefined): Promise<string | undefined> {
  if (imageEntrypoint(entrypoint) !== undefined) return undefined;
  const launch = commandOf(entrypoint, python);
  if (launch === undefined) return 'needs Python and none was found; set python_executable';
  const direct = launch.command === entrypoint;
  try {
    if (!(await stat(entrypoint)).isFile()) return 'is not a file';
    await access(entrypoint, direct ? constants.X_OK : constants.R_OK);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
    if (code === 'EACCES' && direct) return `is not executable; try: chmod +x ${entrypoint}`;
    return `cannot be read: ${code ?? String(error)}`;
  }
  return undefined;
}

/** Why starting `command` failed although it is there, in words; for the error codes of `spawn`. */
export async function launchFault(code: string | undefined, command: string, cwd: string): Promise<string> {
  if (code === 'ENOENT') {
    if (!(await isFolder(cwd))) return `the working directory ${cwd} does not exist`;
    const interpreter = await interpreterOf(command);
    if (interpreter !== undefined)
      return `the interpreter "${interpreter}" in the first line of ${command} does not exist`;
    return `${command} does not exist`;
  }
  if (code === 'EACCES') return `${command} may not be executed by this user`;
  if (code === 'ENOEXEC')
    return `${command} is not a program for this machine (a script needs a first line such as #!/bin/sh)`;
  if (code === 'E2BIG') return 'container.environment is too large to be passed on';
  if (code === 'EMFILE' || code === 'ENFILE') return 'too many files are open on this machine';
  if (code === 'EAGAIN' || code === 'ENOMEM') return 'the machine has no room for another process';
  return `${command} could not be started: ${code ?? 'unknown reason'}`;
}

async function interpreterOf(script: string): Promise<string | undefined> {
  try {
    const file = await open(script, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
      return /^#!\s*(\S+)/.exec(buffer.toString('latin1', 0, bytesRead))?.[1];
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

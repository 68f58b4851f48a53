/** The engine of functions that studies carry: its entrypoint, and whether this machine's Python can execute them. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../base/package.ts';
import { functionsName } from '../../domain/study/function-code.ts';
import type { Python } from '../launch/engine.ts';
import type { Engine } from '../config/config.ts';

/** Executes the function of SVC_FUNCTION. */
const ENTRYPOINT = join(packageRoot, 'clients/python/function_main.py');
const CHECK_MS = 60_000;

/** Returns the engine for the Python of this runner, or why there is none, as the end of a sentence. */
export async function functionEngine(python: Python | undefined): Promise<Engine | { fault: string }> {
  if (python === undefined) return { fault: 'there is no Python; install one, or name it in python_executable' };
  try {
    await promisify(execFile)(python.executable, ['-c', 'import cloudpickle'], { timeout: CHECK_MS });
  } catch {
    const remedy = `${python.executable} -m pip install cloudpickle`;
    return { fault: `${python.executable} cannot import cloudpickle; try: ${remedy}` };
  }
  // A function of a notebook imports its packages when it is loaded: a warm interpreter has loaded it.
  return { name: functionsName(python.version), entrypoint: ENTRYPOINT, warm: true };
}

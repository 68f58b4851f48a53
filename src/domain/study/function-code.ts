/** Python functions as simulations: the name they run under, and the code that a study carries. */
import { createHash } from 'node:crypto';
import type { Fault } from '../../contract/types.ts';

/**
 * The simulations whose code comes with the study begin so; the Python version follows: `python-functions-3.11`. A runner offers
 * such a name only where its operator allows it, so `*` does not include it.
 */
export const FUNCTIONS_PREFIX = 'python-functions-';

/** True for a simulation whose code comes with the study. */
export const isFunctions = (simulationName: string): boolean => simulationName.startsWith(FUNCTIONS_PREFIX);

/** The simulation name of functions for a Python such as `3.11.7`. */
export const functionsName = (pythonVersion: string): string =>
  `${FUNCTIONS_PREFIX}${pythonVersion.split('.').slice(0, 2).join('.')}`;

/** The digest of a study's code, as `simulation.code.sha256` has it. */
export const codeDigest = (base64: string): string =>
  createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex');

/** Returns the faults of a presumed study's code. Members of an undocumented shape are skipped. */
export function functionFaults(simulation: unknown, code: unknown): Fault[] {
  const { name, code: identity } = (typeof simulation === 'object' && simulation !== null ? simulation : {}) as {
    name?: unknown;
    code?: unknown;
  };
  if (typeof name !== 'string') return [];
  const hasCode = code !== undefined || identity !== undefined;
  if (!isFunctions(name)) {
    const detail = `is not allowed for the simulation ${JSON.stringify(name)}; only ${FUNCTIONS_PREFIX}... takes code from a study`;
    return hasCode ? [{ pointer: code === undefined ? '/config/simulation/code' : '/code', detail }] : [];
  }
  const faults: Fault[] = [];
  if (code === undefined)
    faults.push({ pointer: '/code', detail: `is missing; ${name} executes the code of the study` });
  if (identity === undefined)
    faults.push({ pointer: '/config/simulation/code', detail: 'is missing; give the digest of `code` and its Python' });
  if (typeof code !== 'string' || typeof identity !== 'object' || identity === null) return faults;
  const { sha256, python } = identity as { sha256?: unknown; python?: unknown };
  if (typeof python === 'string' && functionsName(python) !== name) {
    const detail = `is ${JSON.stringify(python)}, which does not belong to the simulation ${name}; make both the same`;
    faults.push({ pointer: '/config/simulation/code/python', detail });
  }
  if (typeof sha256 === 'string' && codeDigest(code) !== sha256) {
    const detail = 'is not the SHA-256 of `code`; compute it of the bytes before base64';
    faults.push({ pointer: '/config/simulation/code/sha256', detail });
  }
  return faults;
}

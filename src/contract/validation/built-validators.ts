/**
 * Validators that the build has compiled, by the names of their schemas; they stop at the first fault. There are none here: the
 * bundle of the program has the module of `bin/validators.mjs` in place of this one, and starts in less time for it.
 */
import type { ValidateFunction } from 'ajv';

export const builtValidators: ReadonlyMap<string, ValidateFunction> = new Map();

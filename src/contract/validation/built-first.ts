/**
 * Validators that the build has compiled, by the names of their schemas; they stop at the first fault. There are none here: the
 * bundle of the program has a module of `bin/validators.mjs` in place of this one. So a coordinator starts in less time.
 */
import type { ValidateFunction } from 'ajv';

export const validators: ReadonlyMap<string, ValidateFunction> = new Map();

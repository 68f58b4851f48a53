/**
 * Validation of untrusted input against the schemas: requests, messages, snapshots and files. Reports all faults at once, each
 * with its JSON Pointer. A schema that the build has not compiled is compiled when it is first needed.
 */
import type { ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import type { Fault } from '../resources/problem.ts';
import { holdsMoreThan } from './ajv-keywords.ts';
import { validators as builtForAll } from './built-all.ts';
import { validators as builtForFirst } from './built-first.ts';
import { Compiler } from './compiler.ts';
import { faultsOf } from './validation-errors.ts';

/** The most faults reported for one value. */
const MAX_FAULTS = 100;
/** For a larger value only the first fault is reported: there could be millions. */
const MAX_VALUES_FOR_ALL_FAULTS = 200_000;

/** Two compilers: the validators of one stop at the first fault, for the many valid values; those of the other find all. */
const compilers: { first?: Compiler; all?: Compiler } = {};
const built = { first: builtForFirst, all: builtForAll };

function compiled(which: 'first' | 'all', schema: TSchema): ValidateFunction {
  const name = (schema as { $id?: string }).$id;
  const known = name === undefined ? undefined : built[which].get(name);
  return known ?? (compilers[which] ??= new Compiler(which === 'all')).compiled(schema);
}

/** Compiles the schema now, so that the first value does not wait for it. */
export function prepare(schema: TSchema): void {
  compiled('first', schema);
}

/** True for a value of this schema. */
export function isValid<S extends TSchema>(schema: S, value: unknown): value is Static<S> {
  return compiled('first', schema)(value);
}

/** True for a value so large that only its first fault is reported. */
export const isLarge = (value: unknown): boolean => holdsMoreThan(value, MAX_VALUES_FOR_ALL_FAULTS);

/** Returns all faults of `value`, at most `limit`; empty for a valid value. Does not throw for any JSON value. */
export function schemaFaults(schema: TSchema, value: unknown, limit = MAX_FAULTS): Fault[] {
  const first = compiled('first', schema);
  if (first(value)) return [];
  if (isLarge(value)) return faultsOf(first.errors ?? [], limit);
  const all = compiled('all', schema);
  all(value);
  const faults = faultsOf(all.errors ?? [], limit);
  // Errors that only repeat others are left out, but an invalid value must have a fault.
  const name = (schema as { $id?: string }).$id;
  return faults.length > 0
    ? faults
    : [{ pointer: '', detail: name === undefined ? 'is not valid' : `is not a ${name}` }];
}

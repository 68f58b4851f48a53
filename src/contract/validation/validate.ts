/**
 * Validation of untrusted input against the schemas: requests, messages, snapshots and files. Reports all faults at once, each
 * with its JSON Pointer. A schema is compiled when it is first needed.
 */
import addFormats from 'ajv-formats';
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TSchema } from 'typebox';
import { registry } from '../build.ts';
import { GRAMMARS, UUID_PATTERN } from '../patterns.ts';
import type { Fault } from '../resources/problem.ts';
import { freeFormKeyword, holdsMoreThan, int64Keyword } from './ajv-keywords.ts';
import { faultsOf } from './validation-errors.ts';

/** The most faults reported for one value. */
const MAX_FAULTS = 100;
/** For a larger value only the first fault is reported: there could be millions. */
const MAX_VALUES_FOR_ALL_FAULTS = 200_000;

/**
 * The schemas are the project's own, and a test holds them against the meta-schema: that check and the optimiser of the
 * generated code are half of the time that a coordinator needs to start.
 */
const UNCHECKED = { meta: false, validateSchema: false, code: { optimize: false } } as const;

/** Two validators: one stops at the first fault, for the many valid values; the other finds all. */
const validators = { first: makeValidator(false), all: makeValidator(true) };

interface Validator {
  ajv: Ajv2020;
  /** The names of the schemas that it has: a module may register more after the first value was validated. */
  known: Set<string>;
  compiled: Map<TSchema, ValidateFunction>;
}

function makeValidator(allErrors: boolean): Validator {
  const rules = { strict: true, allowUnionTypes: true, discriminator: true, verbose: true };
  const ajv = new Ajv2020({ allErrors, ...rules, ...UNCHECKED });
  addFormats.default(ajv, ['date-time', 'uri-reference', 'int32', 'double']);
  // The API's own format `uuid`: the one of ajv-formats accepts the `urn:uuid:` form.
  ajv.addFormat('uuid', new RegExp(UUID_PATTERN, 'i'));
  ajv.addKeyword(int64Keyword);
  ajv.addKeyword(freeFormKeyword);
  return { ajv, known: new Set(), compiled: new Map() };
}

/** Replaces the type of 64-bit integers, which JSON Schema validates as doubles, by the keyword `x-int64`. */
function forValidator(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forValidator);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, format } = schema as { type?: unknown; format?: unknown };
  if (typeof format === 'string' && Object.hasOwn(GRAMMARS, format)) {
    // The domain validates these, with messages that name the mistake.
    const { pattern: _pattern, maxLength: _maxLength, format: _format, ...rest } = schema as Record<string, unknown>;
    return rest;
  }
  if (format === 'int64') return { 'x-int64': { nullable: Array.isArray(type) && type.includes('null') } };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, forValidator(value)]));
}

function compiled(which: 'first' | 'all', schema: TSchema): ValidateFunction {
  const validator = validators[which];
  const known = validator.compiled.get(schema);
  if (known !== undefined) return known;
  for (const [name, each] of validator.known.size === registry.size ? [] : registry) {
    if (validator.known.has(name)) continue;
    validator.ajv.addSchema(forValidator(each) as AnySchemaObject);
    validator.known.add(name);
  }
  const named = (schema as { $id?: string }).$id;
  const validate =
    (named === undefined ? undefined : validator.ajv.getSchema(named)) ??
    validator.ajv.compile(forValidator(schema) as AnySchemaObject);
  validator.compiled.set(schema, validate);
  return validate;
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

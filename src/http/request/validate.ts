/**
 * Checks what a client sent against a schema and names every fault at once. Schemas are compiled when they are first
 * needed and once only. What a schema cannot say of a study is said by `domain/submission.ts`.
 */
import addFormats from 'ajv-formats';
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { submissionFaults } from '../../domain/submission.ts';
import type { BatchSubmission, Fault } from '../../contract/types.ts';
import { faultsOf } from './validation-errors.ts';
import { freeFormKeyword, holdsMoreThan, int64Keyword } from './ajv-keywords.ts';
import { registry, type NamedSchema } from '../../contract/build.ts';
import { INT32_MAX } from '../../contract/scalars.ts';
import { BatchSubmission as BatchSubmissionSchema } from '../../contract/study.ts';

/** Most faults that the answer to one request lists. */
const MAX_FAULTS = 100;
/** A body of more values than this gets its first fault only: all faults could be millions. */
const MAX_VALUES_FOR_ALL_FAULTS = 200_000;

/** Plain UUIDs only: the `urn:uuid:` form is not an id here. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Two validators: `first` stops at the first fault, for the common valid request; `all` finds every fault. */
const validators = { first: makeValidator(false), all: makeValidator(true) };

interface Validator {
  ajv: Ajv2020;
  ready: boolean;
  compiled: Map<NamedSchema, ValidateFunction>;
}

function makeValidator(allErrors: boolean): Validator {
  const ajv = new Ajv2020({ allErrors, strict: true, discriminator: true, verbose: true });
  addFormats.default(ajv, ['date-time', 'uri-reference', 'int32', 'double']);
  ajv.addFormat('uuid', UUID);
  ajv.addKeyword(int64Keyword);
  ajv.addKeyword(freeFormKeyword);
  return { ajv, ready: false, compiled: new Map() };
}

/** A 64-bit integer does not fit the validator's idea of one; ours takes its place. */
function forValidator(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forValidator);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, format } = schema as { type?: unknown; format?: unknown };
  if (format === 'int64') return { 'x-int64': { nullable: Array.isArray(type) && type.includes('null') } };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, forValidator(value)]));
}

function compiled(which: 'first' | 'all', schema: NamedSchema): ValidateFunction {
  const validator = validators[which];
  const known = validator.compiled.get(schema);
  if (known !== undefined) return known;
  if (!validator.ready) {
    for (const each of registry.values()) validator.ajv.addSchema(forValidator(each) as AnySchemaObject);
    validator.ready = true;
  }
  const validate = validator.ajv.getSchema(schema.$id);
  if (validate === undefined) throw new Error(`the schema ${schema.$id} is not in the registry`);
  validator.compiled.set(schema, validate);
  return validate;
}

/** Compiles the schema now rather than with the first request. */
export function prepare(schema: NamedSchema): void {
  compiled('first', schema);
}

/** All faults of `value` as the schema has it, by JSON Pointer; empty when there is none. Never throws on any JSON value. */
export function schemaFaults(schema: NamedSchema, value: unknown): Fault[] {
  const first = compiled('first', schema);
  if (first(value)) return [];
  if (holdsMoreThan(value, MAX_VALUES_FOR_ALL_FAULTS)) return faultsOf(first.errors ?? [], MAX_FAULTS);
  const all = compiled('all', schema);
  all(value);
  const faults = faultsOf(all.errors ?? [], MAX_FAULTS);
  // Errors that only repeat others are left out; a refusal must still say something.
  return faults.length > 0 ? faults : [{ pointer: '', detail: `is not a ${schema.$id}` }];
}

function sizeFaults({ config, runs_override }: BatchSubmission, maxRuns: number): Fault[] {
  const { runs } = config.monte_carlo;
  const wanted = Math.min(runs, runs_override ?? runs);
  if (wanted <= maxRuns) return [];
  const pointer = wanted === runs ? '/config/monte_carlo/runs' : '/runs_override';
  return [{ pointer, detail: `is ${wanted}; this coordinator takes studies of up to ${maxRuns} runs` }];
}

/** Returns all faults of a study, of shape and of meaning; none for a valid BatchSubmission. */
export function studyFaults(value: unknown, maxRuns = INT32_MAX): Fault[] {
  const ofShape = schemaFaults(BatchSubmissionSchema, value);
  if (ofShape.length > 0 && holdsMoreThan(value, MAX_VALUES_FOR_ALL_FAULTS)) return ofShape;
  const reported = new Set(ofShape.map((fault) => fault.pointer));
  const ofMeaning = submissionFaults(value).filter((fault) => !reported.has(fault.pointer));
  if (ofShape.length === 0) ofMeaning.push(...sizeFaults(value as BatchSubmission, maxRuns));
  return [...ofShape, ...ofMeaning].slice(0, MAX_FAULTS);
}

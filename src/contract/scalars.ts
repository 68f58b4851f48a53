/** The scalar schemas that several subjects share: ids, times, names, integers. */
import { Type } from 'typebox';
import { INT32_MAX, LIMITS } from './limits.ts';
import { mapOf } from './build.ts';
import { GRAMMARS, RESOURCE_NAME_PATTERN, RUNNER_ID_PATTERN } from './patterns.ts';

/** A UUID, version 8 for ids made by this coordinator (see `domain/ids.ts`). */
export type Uuid = string;

/** An ISO 8601 instant in UTC with milliseconds, e.g. `2026-03-01T12:00:00.000Z`. */
export type Timestamp = string;

/**
 * An integer in [0, 2^63 - 1]. A `number` up to 2^53 - 1 and a `bigint` above, so that no digit is ever lost;
 * `domain/seed.ts` reads and writes it.
 */
export type Seed = number | bigint;

/** An integer from 0 (or `minimum`) to 2^31 - 1 (or `maximum`). */
export const int32 = (description: string, { minimum = 0, maximum = INT32_MAX } = {}) =>
  Type.Integer({ minimum, maximum, format: 'int32', description });

/**
 * An integer from 0 to 2^63 - 1, exact to its last digit: a number or a bigint after parsing. The validator uses a
 * keyword of its own for it, as JSON Schema's `integer` is a double in JavaScript.
 */
export const int64 = (description: string) =>
  Type.Unsafe<Seed>({ type: 'integer', format: 'int64', minimum: 0, description });

/** A count that may exceed 2^31. */
export const count = (description: string) => Type.Integer({ minimum: 0, description });

/** A finite number. */
export const double = (description: string, bounds: { minimum?: number; maximum?: number } = {}) =>
  Type.Number({ format: 'double', description, ...bounds });

export const uuid = (description: string) => Type.String({ format: 'uuid', description });

export const timestamp = (description: string) =>
  Type.String({ format: 'date-time', description: `${description} ISO 8601, UTC.` });

/** A display name. */
export const name = (description: string) => Type.String({ minLength: 1, maxLength: LIMITS.nameLength, description });

/** A name without control characters, as a terminal or a log shows it. */
export const plainName = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: LIMITS.nameLength,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    description,
  });

/** Longer text, possibly empty. */
export const freeText = (description: string) => Type.String({ maxLength: LIMITS.textLength, description });

/** Text with a grammar, which the domain validates. The schema shows its pattern to clients. */
export const grammar = (format: keyof typeof GRAMMARS, description: string) =>
  Type.String({ format, ...GRAMMARS[format], description });

export const runnerId = (description: string) => Type.String({ pattern: RUNNER_ID_PATTERN, description });

/** Amounts of counted resources by their names, such as `{ gpu: 1, comsol: 1 }`. */
export const resourceCounts = (description: string, minimum: 0 | 1) =>
  mapOf(int32('Its amount.', { minimum, maximum: LIMITS.resourceAmount }), {
    description,
    maxProperties: LIMITS.resources,
    propertyNames: { type: 'string', pattern: RESOURCE_NAME_PATTERN },
  });

export const resourceName = (description: string) => Type.String({ pattern: RESOURCE_NAME_PATTERN, description });

export const instance = Type.String({
  minLength: 1,
  maxLength: 128,
  description:
    'A random string that the runner process draws at its start. It distinguishes processes with the same id.',
});

/** A free-form JSON object, with limits on its depth and its number of values. */
export const freeForm = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    'x-free-form': { depth: LIMITS.freeFormDepth, values: LIMITS.freeFormValues },
    description,
  });

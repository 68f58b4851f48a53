/** Query parameters: parsed as a route declares them. Any other parameter is rejected. */
import { closestMatch } from '../../base/closest-match.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { shown } from '../../contract/validation/validation-errors.ts';
import type { QueryParameter, QueryParameters } from '../../contract/queries.ts';
import { INT32_MAX, LIMITS } from '../../contract/limits.ts';
import { RUNNER_ID_PATTERN, UUID_PATTERN } from '../../contract/patterns.ts';

/** Values by parameter; absent parameters are absent. */
export type Query = Record<string, string | number | readonly string[] | readonly number[] | undefined>;

const UUID = new RegExp(UUID_PATTERN, 'i');
const RUNNER_ID = new RegExp(RUNNER_ID_PATTERN);
/** Most values of one list parameter. */
export const MAX_VALUES = 1_000;

/**
 * Reads the raw query string (without `?`). Throws `malformed-query` naming the parameter, the value and what is allowed.
 * A comma separates values; inside a free text it is written `%2C`.
 */
export function readQuery(raw: string, declared: QueryParameters): Query {
  const query: Query = {};
  if (raw === '') {
    for (const name in declared) requireOptional(name, declared[name]!);
    return query;
  }
  const pieces = new Map<string, string[]>();
  for (const part of raw.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decoded(equals < 0 ? part : part.slice(0, equals), 'name');
    if (!Object.hasOwn(declared, name)) throw unknownParameter(name, Object.keys(declared));
    const texts = pieces.get(name) ?? [];
    texts.push(equals < 0 ? '' : part.slice(equals + 1));
    pieces.set(name, texts);
  }
  for (const [name, texts] of pieces) query[name] = readValues(name, texts, declared[name]!);
  for (const name of Object.keys(declared)) if (query[name] === undefined) requireOptional(name, declared[name]!);
  return query;
}

function requireOptional(name: string, { required, description }: QueryParameter): void {
  if (required === true) throw malformed(`the query parameter \`${name}\` is missing; give it: ${description}`);
}

function readValues(name: string, texts: readonly string[], parameter: QueryParameter): Query[string] {
  if (!parameter.list) {
    if (texts.length > 1)
      throw malformed(`the query parameter \`${name}\` is given ${texts.length} times; it takes one value`);
    const text = decoded(texts[0]!, name);
    switch (parameter.kind) {
      case 'enum':
        return readEnum(name, text, parameter.values);
      case 'integer':
        return readInteger(name, text, parameter);
      case 'number':
        return readNumber(name, text, parameter);
      case 'text':
        return readText(name, text, parameter.maxLength);
    }
  }
  // Commas separate before decoding in free text, where %2C is a comma of the value, and after decoding elsewhere.
  const values = texts.flatMap((text) =>
    parameter.kind === 'text' ? text.split(',').map((value) => decoded(value, name)) : decoded(text, name).split(','),
  );
  if (values.length > MAX_VALUES)
    throw malformed(`the query parameter \`${name}\` has more than ${MAX_VALUES} values, the limit`);
  switch (parameter.kind) {
    case 'enum':
      return values.map((value) => readEnum(name, value, parameter.values));
    case 'uuid':
      return values.map((value) => readMatch(name, value, UUID, 'a UUID').toLowerCase());
    case 'runner-id':
      return values.map((value) => readMatch(name, value, RUNNER_ID, 'a runner id'));
    case 'int32':
      return values.map((value) => readInteger(name, value, { minimum: 0, maximum: INT32_MAX }));
    case 'number':
      return values.map((value) => readNumber(name, value, parameter));
    case 'text':
      return values.map((value) => readText(name, value, LIMITS.nameLength));
  }
}

function readEnum(name: string, value: string, allowed: readonly string[]): string {
  if (allowed.includes(value)) return value;
  const meant = closestMatch(value, allowed);
  const hint = meant === undefined ? '' : `, did you mean \`${meant}\`?`;
  throw malformed(`the query parameter \`${name}\` is ${shown(value)}${hint}; allowed are ${allowed.join(', ')}`);
}

function readMatch(name: string, value: string, pattern: RegExp, what: string): string {
  if (pattern.test(value)) return value;
  throw malformed(`the query parameter \`${name}\` is ${shown(value)}; it must be ${what}`);
}

function readInteger(name: string, value: string, range: { minimum: number; maximum: number }): number {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= range.minimum && number <= range.maximum) return number;
  throw malformed(
    `the query parameter \`${name}\` is ${shown(value)}; it must be an integer from ${range.minimum} to ${range.maximum}`,
  );
}

function readNumber(name: string, value: string, range: { minimum: number; maximum: number }): number {
  const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (number >= range.minimum && number <= range.maximum) return number;
  throw malformed(
    `The query parameter \`${name}\` is ${shown(value)}; it must be a number from ${range.minimum} to ${range.maximum}.`,
  );
}

function readText(name: string, value: string, maxLength: number): string {
  if (value.length > 0 && value.length <= maxLength) return value;
  const wrong = value === '' ? 'is empty' : `is ${value.length} characters long`;
  throw malformed(`the query parameter \`${name}\` ${wrong}; it must have 1 to ${maxLength} characters`);
}

function decoded(text: string, name: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw malformed(`the query parameter \`${name}\` is not correctly percent-encoded`, cause);
  }
}

function unknownParameter(name: string, known: readonly string[]): SimbatchError {
  const meant = closestMatch(name, known);
  const hint = meant === undefined ? '' : `, did you mean \`${meant}\`?`;
  const allowed = known.length === 0 ? 'none is' : `${known.join(', ')} are`;
  return malformed(`the query parameter ${shown(name)} is not known here${hint}; ${allowed} allowed`);
}

/** Returns an error of the query: 400. */
export function malformed(message: string, cause?: unknown): SimbatchError {
  return new SimbatchError('malformed-query', message, { cause });
}

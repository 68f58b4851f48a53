/** Query parameters: parsed as a route declares them. Any other parameter is rejected. */
import { closestMatch } from '../../base/text/closest-match.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { shown } from '../../contract/validation/validation-errors.ts';
import { IsOptional, type TSchema } from 'typebox';
import { MAX_VALUES, type QueryParameters } from '../../contract/queries.ts';
import { UUID_PATTERN } from '../../contract/patterns.ts';
import type { Query } from '../route.ts';

const UUID = new RegExp(UUID_PATTERN, 'i');

/** The members by which the schema of one value is read. */
interface ValueSchema {
  type: 'string' | 'integer' | 'number';
  enum?: readonly string[];
  format?: string;
  pattern?: string;
  minimum: number;
  maximum: number;
  /** Bounds that are not included, in place of `minimum` and `maximum`. */
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  /** Longest value, for free text alone. */
  maxLength?: number;
}
type ParameterSchema = (ValueSchema | { type: 'array'; items: ValueSchema }) & { description: string };

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

function requireOptional(name: string, schema: TSchema): void {
  if (IsOptional(schema)) return;
  const { description } = schema as unknown as ParameterSchema;
  throw malformed(`the query parameter \`${name}\` is missing; give it: ${description}`);
}

function readValues(name: string, texts: readonly string[], schema: TSchema): Query[string] {
  const parameter = schema as unknown as ParameterSchema;
  if (parameter.type !== 'array') {
    if (texts.length > 1)
      throw malformed(`the query parameter \`${name}\` is given ${texts.length} times; it takes one value`);
    return readValue(name, decoded(texts[0]!, name), parameter);
  }
  const { items } = parameter;
  // Commas separate before decoding in free text, where %2C is a comma of the value, and after decoding elsewhere.
  const values = texts.flatMap((text) =>
    items.maxLength === undefined
      ? decoded(text, name).split(',')
      : text.split(',').map((value) => decoded(value, name)),
  );
  if (values.length > MAX_VALUES)
    throw malformed(`the query parameter \`${name}\` has more than ${MAX_VALUES} values, the limit`);
  return values.map((value) => readValue(name, value, items)) as readonly string[] | readonly number[];
}

function readValue(name: string, value: string, schema: ValueSchema): string | number {
  if (schema.type === 'integer') return readInteger(name, value, schema);
  if (schema.type === 'number') return readNumber(name, value, schema);
  if (schema.enum !== undefined) return readEnum(name, value, schema.enum);
  if (schema.format === 'uuid') return readMatch(name, value, UUID, 'a UUID').toLowerCase();
  if (schema.pattern !== undefined) return readMatch(name, value, new RegExp(schema.pattern), 'a runner id');
  return readText(name, value, schema.maxLength!);
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

function readNumber(name: string, value: string, range: ValueSchema): number {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = range;
  const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(value) ? Number(value) : Number.NaN;
  const isInRange = above === undefined ? number >= minimum && number <= maximum : number > above && number < below!;
  if (isInRange) return number;
  const allowed = above === undefined ? `from ${minimum} to ${maximum}` : `between ${above} and ${below}`;
  throw malformed(`the query parameter \`${name}\` is ${shown(value)}; it must be a number ${allowed}`);
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

/** Converts Ajv's errors to faults: the pointer, the value found, and the value required. */
import { MEANING_OF_PATTERN } from '../patterns.ts';
import type { ErrorObject } from 'ajv';
import { closestMatch } from '../../base/text/closest-match.ts';
import type { Fault } from '../resources/problem.ts';
import { pointerToken } from '../../base/json/json-pointer.ts';
import { registry } from '../build.ts';

/** A value in a message: JSON, shortened to one line. */
export function shown(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return JSON.stringify(shortened(value));
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** Returns the faults of one validation, at most `limit`; the last one then counts the omitted ones. */
export function faultsOf(errors: readonly ErrorObject[], limit: number): Fault[] {
  const faults = new Map<string, Fault>();
  for (const error of oneOfEachType(errors)) {
    const fault = faultOf(error);
    if (fault !== undefined && !faults.has(fault.pointer)) faults.set(fault.pointer, fault);
  }
  const all = [...faults.values()];
  if (all.length <= limit) return all;
  const kept = all.slice(0, limit - 1);
  return [...kept, { pointer: '', detail: `and ${all.length - kept.length} more faults` }];
}

type Params = Record<string, unknown>;

/**
 * The alternatives of a value refuse it each by its type: one error names all types that it may have. A value of the type of one
 * alternative, with faults inside, is meant as that one: the other types are not mentioned.
 */
function* oneOfEachType(errors: readonly ErrorObject[]): Iterable<ErrorObject> {
  const hasAlternatives = new Set(errors.filter((it) => it.keyword === 'anyOf').map((it) => it.instancePath));
  const types = new Map<string, string[]>();
  const hasFaultsInside = new Set<string>();
  for (const { keyword, instancePath, params } of errors) {
    if (keyword === 'anyOf') continue;
    if (keyword === 'type')
      types.set(instancePath, [...(types.get(instancePath) ?? []), ...[(params as Params)['type'] as string].flat()]);
    else hasFaultsInside.add(instancePath);
    for (let path = instancePath; path !== ''; hasFaultsInside.add(path)) path = path.slice(0, path.lastIndexOf('/'));
  }
  for (const error of errors) {
    const { keyword, instancePath } = error;
    if (keyword !== 'type' || !hasAlternatives.has(instancePath)) yield error;
    else if (!hasFaultsInside.has(instancePath))
      yield { ...error, params: { type: [...new Set(types.get(instancePath))] } };
  }
}

/** Returns undefined for an error that only repeats another. */
function faultOf(error: ErrorObject): Fault | undefined {
  const params = error.params as Params;
  const pointer =
    error.propertyName === undefined ? error.instancePath : error.instancePath + pointerToken(error.propertyName);
  switch (error.keyword) {
    case 'propertyNames':
    case 'anyOf':
    case 'oneOf':
      return undefined;
    case 'required':
      if (error.parentSchema?.['discriminator'] !== undefined) return wrongTag(pointer, error);
      return { pointer: pointer + pointerToken(params['missingProperty'] as string), detail: 'is required' };
    case 'additionalProperties':
      return unknownMember(pointer, params['additionalProperty'] as string, error);
    case 'discriminator':
      return wrongTag(pointer, error);
    case 'type':
      return params['type'] === 'null' ? undefined : { pointer, detail: wrongType(error) };
    case 'x-free-form':
      return { pointer: pointer + String(params['pointer']), detail: sentence(error, params) };
    default:
      return { pointer, detail: sentence(error, params) };
  }
}

function unknownMember(pointer: string, member: string, error: ErrorObject): Fault {
  const known = Object.keys((error.parentSchema?.['properties'] ?? {}) as object);
  return {
    pointer: pointer + pointerToken(member),
    detail: `is not known here${suggestion(member, known)}; the members are ${known.join(', ')}`,
  };
}

function wrongTag(pointer: string, error: ErrorObject): Fault {
  const { discriminator, oneOf } = error.parentSchema as {
    discriminator: { propertyName: string };
    oneOf: (TaggedVariant & { $ref?: string })[];
  };
  const tag = discriminator.propertyName;
  const value = (error.data as Params | undefined)?.[tag];
  const known = oneOf.map((variant) =>
    tagValue(variant.$ref === undefined ? variant : (registry.get(variant.$ref) as TaggedVariant | undefined), tag),
  );
  return { pointer: pointer + pointerToken(tag), detail: oneOfThese(value, known) };
}

interface TaggedVariant {
  properties?: Record<string, { const?: string }>;
}

const tagValue = (variant: TaggedVariant | undefined, tag: string): string => String(variant?.properties?.[tag]?.const);

function oneOfThese(value: unknown, known: readonly string[]): string {
  const hint = typeof value === 'string' ? suggestion(value, known) : '';
  return value === undefined
    ? `is required: one of ${known.join(', ')}`
    : `is ${shown(value)}${hint}; it must be one of ${known.join(', ')}`;
}

function suggestion(given: string, known: readonly string[]): string {
  const meant = closestMatch(given, known);
  return meant === undefined ? '' : `, did you mean ${JSON.stringify(meant)}?`;
}

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a finite number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

function wrongType(error: ErrorObject): string {
  const wanted = [(error.params as { type: string | string[] }).type].flat().flatMap((type) => type.split(','));
  return `is ${shown(error.data)}; it must be ${wanted.map((type) => TYPE_NAMES[type] ?? type).join(' or ')}`;
}

function sentence(error: ErrorObject, params: Params): string {
  const is = `is ${shown(error.data)}; it must be`;
  const limit = String(params['limit']);
  const size = (error.data as { length?: number } | null)?.length;
  switch (error.keyword) {
    case 'enum':
      return oneOfThese(error.data, params['allowedValues'] as string[]);
    case 'const':
      return `${is} ${shown(params['allowedValue'])}`;
    case 'minimum':
      return `${is} at least ${limit}`;
    case 'maximum':
      return `${is} at most ${limit}`;
    case 'exclusiveMinimum':
      return `${is} above ${limit}`;
    case 'exclusiveMaximum':
      return `${is} below ${limit}`;
    case 'minLength':
      return size === 0 ? 'is empty' : `is shorter than ${limit} characters`;
    case 'maxLength':
      return `is ${size} characters long; the limit is ${limit}`;
    case 'maxItems':
      return `has ${size} items; the limit is ${limit}`;
    case 'maxProperties':
      return `has ${Object.keys(error.data as object).length} members; the limit is ${limit}`;
    case 'format':
      return `${is} ${params['format'] === 'uuid' ? 'a UUID' : `a ${String(params['format'])}`}`;
    case 'pattern':
      return `${is} ${MEANING_OF_PATTERN[String(params['pattern'])] ?? `of the form ${String(params['pattern'])}`}`;
    default:
      return error.message ?? 'is not valid';
  }
}

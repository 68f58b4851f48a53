/** Arguments and options of a command, made from the schemas of query parameters. */
import { InvalidArgumentError, Option } from 'commander';
import { IsOptional, type TSchema } from 'typebox';
import type { QueryParameters } from '../../../contract/queries.ts';
import { integerBetween, texts } from '../../options.ts';

/** The flags of an option that is not named like its parameter: another word, a short form, another placeholder. */
export type ParameterFlags<Q extends QueryParameters> = { readonly [P in keyof Q]?: string };

/** A parameter that the command line gives by its place. */
export interface PlacedParameter {
  name: string;
  description: string;
  isRequired: boolean;
}

/** The parameters of a query on the command line. */
export interface QueryOptions {
  /** Parameters that are arguments, in their order after the studies. */
  placed: PlacedParameter[];
  options: { parameter: string; option: Option }[];
}

/** Options of every command about a study: a parameter of such a name is an argument. */
const TAKEN: ReadonlySet<string> = new Set([
  'output',
  'format',
  'file',
  'from',
  'study',
  'endpoint',
  'color',
  'help',
  'family',
]);

/** The members of a schema that decide how a parameter is written. */
interface ValueSchema {
  type: 'string' | 'integer' | 'number';
  enum?: readonly string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
}
type ParameterSchema = (ValueSchema | { type: 'array'; items: ValueSchema }) & {
  description: string;
  default?: string | number;
};

/** A required parameter is an argument, as is one whose name is taken; the others are options, named like the parameter unless `flags` says otherwise.
 * `alsoPlaced` is an optional parameter that is both. */
export function queryOptions(
  query: QueryParameters,
  flags: Readonly<Record<string, string | undefined>>,
  alsoPlaced?: string,
): QueryOptions {
  const placed: PlacedParameter[] = [];
  const options: QueryOptions['options'] = [];
  const renamed = Object.entries(flags).map(([name, text = '']) => [`\`${name}\``, longOf(text)] as const);
  for (const [parameter, schema] of Object.entries(query)) {
    const described = schema as unknown as ParameterSchema;
    const isRequired = !IsOptional(schema);
    const text = helpText(described, renamed);
    const written = flags[parameter];
    const isTaken = written === undefined && (isRequired || TAKEN.has(parameter));
    if (isTaken || parameter === alsoPlaced) placed.push({ name: parameter, description: text, isRequired });
    if (!isTaken) options.push({ parameter, option: optionOf(written ?? flagsOf(parameter, schema), text, described) });
  }
  return { placed, options };
}

/** `-k, --count <count>` becomes `--count`. */
const longOf = (flags: string): string => /--[\w-]+/.exec(flags)?.[0] ?? flags;

/** The description of the API as a help text: other parameters by their options, and the default at the end. */
function helpText(schema: ParameterSchema, renamed: readonly (readonly [string, string])[]): string {
  const { description, default: fallback } = schema;
  const text = renamed.reduce((before, [name, option]) => before.replaceAll(name, option), description);
  return fallback === undefined ? asHelp(text) : `${asHelp(text)} (default: ${fallback})`;
}

/** A sentence of the API description in the form of help texts: it begins in lower case and ends without a period. */
export const asHelp = (text: string): string =>
  text.replace(/^[A-Z](?=[a-z ])/, (it) => it.toLowerCase()).replace(/\.$/, '');

/** `half_width` becomes `--half-width <number>`, and a parameter of one letter is a short option. */
function flagsOf(parameter: string, schema: TSchema): string {
  const name = parameter.replaceAll('_', '-');
  return `${name.length === 1 ? '-' : '--'}${name} <${placeholder(schema as unknown as ParameterSchema)}>`;
}

function placeholder(schema: ParameterSchema | ValueSchema): string {
  if (schema.type === 'array') return `${placeholder(schema.items)}s`;
  if (schema.type === 'string') return schema.enum === undefined ? 'text' : 'choice';
  return schema.exclusiveMaximum === 1 ? 'share' : 'number';
}

function optionOf(flags: string, text: string, schema: ParameterSchema): Option {
  if (schema.type === 'array') {
    const parse = parserOf(schema.items) ?? String;
    const add = (value: string, before: unknown[] = []): unknown[] => [
      ...before,
      ...texts(value).map((it) => parse(it)),
    ];
    return new Option(flags, `${text}, by comma or repetition`).argParser(add);
  }
  const option = new Option(flags, text);
  if (schema.enum !== undefined) return option.choices(schema.enum);
  const parse = parserOf(schema);
  return parse === undefined ? option : option.argParser(parse);
}

/** Undefined for a text, which is taken as it is. */
function parserOf(schema: ValueSchema): ((text: string) => number) | undefined {
  if (schema.type === 'string') return undefined;
  return schema.type === 'integer'
    ? integerBetween(schema.minimum ?? 0, schema.maximum ?? 2 ** 31 - 1)
    : numberIn(schema);
}

/** Returns a parser of the numbers that a schema allows. */
function numberIn({ minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below }: ValueSchema) {
  const [low, high] = [above ?? minimum ?? Number.NEGATIVE_INFINITY, below ?? maximum ?? Number.POSITIVE_INFINITY];
  const isExclusive = above !== undefined;
  const allowed =
    high >= Number.MAX_VALUE
      ? `of at least ${low}`
      : isExclusive
        ? `between ${low} and ${high}`
        : `from ${low} to ${high}`;
  const example = isExclusive && high === 1 ? ', such as 0.9' : '';
  return (text: string): number => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    const isInRange = isExclusive ? value > low && value < high : value >= low && value <= high;
    if (!isInRange) throw new InvalidArgumentError(`It must be a number ${allowed}${example}.`);
    return value;
  };
}

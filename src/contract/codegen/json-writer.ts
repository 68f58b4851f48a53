/** JSON writers compiled from schemas. They write members in the schema's order, in half the time of JSON.stringify. */
import type { Static, TSchema } from 'typebox';
import { stringifyExact } from '../../base/json/json-writing.ts';
import { BATCH_ID_PATTERN, JOB_ID_PATTERN } from '../patterns.ts';
import { compile, member } from '../../base/codegen.ts';

/** The members of a schema that the writer uses: JSON Schema as TypeBox makes it. */
interface Schema {
  type?: string | readonly string[];
  format?: string;
  pattern?: string;
  enum?: readonly (string | null)[];
  $ref?: string;
  properties?: Readonly<Record<string, object>>;
  required?: readonly string[];
  additionalProperties?: object | boolean;
  items?: object;
  anyOf?: readonly { $ref?: string }[];
}

type Writer = (value: never) => string;

export interface WriterOptions {
  /** Where the value has a member of the root schema; absent: under its own name. */
  pathOf?: (name: string) => readonly string[];
  /** The schema with this `$id`. */
  resolve?: (id: string) => object;
  /** The `$id`s of schemas whose values are written as they are, with members in their own order. */
  asTheyAre?: readonly string[];
}

/**
 * A function from a value of this schema to its JSON. Members that the schema does not list are left out; a value that does
 * not match the schema gives JSON that does not either.
 */
export function jsonWriterOf<S extends TSchema>(schema: S, options: WriterOptions = {}): (value: Static<S>) => string {
  return new WriterCompiler(options).writerOf(schema, options.pathOf) as (value: Static<S>) => string;
}

/** Strings of these formats and patterns hold no character that JSON escapes. */
const PLAIN_FORMATS = ['uuid', 'date-time'];
const PLAIN_PATTERNS: readonly string[] = [BATCH_ID_PATTERN, JOB_ID_PATTERN];
const ESCAPED = /["\\\p{Cc}\p{Cs}]/u;

class WriterCompiler {
  readonly #options: WriterOptions;
  readonly #byId = new Map<string, Writer>();
  readonly #scope: Record<string, unknown> = { stringifyExact };

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  writerOf(schema: Schema, pathOf = (name: string): readonly string[] => [name]): Writer {
    if (schema.properties === undefined) return compile(`(v) => \`${this.#text(schema, 'v')}\``, this.#scope) as Writer;
    const required = new Set(schema.required ?? []);
    const [first] = Object.keys(schema.properties);
    if (first === undefined || !required.has(first)) throw new Error('the first member of a schema must be required');
    let code = 'let json = `{';
    let isOpen = true;
    for (const [name, it] of Object.entries(schema.properties)) {
      const value = pathOf(name).reduce(member, 'v');
      const comma = name === first ? '' : ',';
      const text = `${comma}${templateText(JSON.stringify(name))}:${this.#text(it, value)}`;
      if (required.has(name)) code += isOpen ? text : ` json += \`${text}`;
      else code += `${isOpen ? '`;' : ''} if (${value} !== undefined) json += \`${text}\`;`;
      isOpen = required.has(name);
    }
    code += isOpen ? '}`;' : " json += '}';";
    return compile(`(v) => { ${code} return json; }`, this.#scope) as Writer;
  }

  /** The JSON of `value`, itself an expression, as the inside of a template literal. */
  #text(schema: Schema, value: string): string {
    if (schema.$ref !== undefined) return `\${${this.#define(this.#referenced(schema.$ref))}(${value})}`;
    const type = nullableTypeOf(schema);
    if (type !== undefined) {
      const { enum: values, ...rest } = schema;
      const given = { ...rest, type, ...(values && { enum: values.filter((it) => it !== null) }) };
      return `\${${value} === null ? 'null' : \`${this.#text(given, value)}\`}`;
    }
    if (isPlain(schema)) return `"\${${value}}"`;
    if (schema.type === 'integer' || schema.type === 'number' || schema.type === 'boolean') return `\${${value}}`;
    if (schema.type === 'string') return `\${JSON.stringify(${value})}`;
    if (schema.type === 'array' && schema.items !== undefined)
      return `[\${${value}.map(${this.#define(this.writerOf(schema.items))}).join(',')}]`;
    if (schema.anyOf?.every((it) => it.$ref !== undefined) === true)
      return `\${${this.#define(this.#oneOf(schema.anyOf))}(${value})}`;
    if (beginsWithRequired(schema)) return `\${${this.#define(this.writerOf(schema))}(${value})}`;
    if (typeof schema.additionalProperties === 'object') return this.#map(schema.additionalProperties, value);
    return `\${stringifyExact(${value})}`;
  }

  #map(values: Schema, value: string): string {
    if (values.type === 'number') return `\${JSON.stringify(${value})}`;
    const write = this.#define(this.writerOf(values));
    return `{\${Object.keys(${value}).map((k) => JSON.stringify(k) + ':' + ${write}(${value}[k])).join(',')}}`;
  }

  /** A value of several schemas is of the first one whose required members it has. */
  #oneOf(schemas: readonly { $ref?: string }[]): Writer {
    const choices = schemas.map(({ $ref: id = '' }) => {
      const { required = [] } = (this.#options.resolve?.(id) ?? {}) as Schema;
      const isOfIt = required.map((name) => `${member('v', name)} !== undefined`).join(' && ');
      return `${isOfIt} ? ${this.#define(this.#referenced(id))}(v) : `;
    });
    return compile(`(v) => ${choices.join('')}stringifyExact(v)`, this.#scope) as Writer;
  }

  #referenced(id: string): Writer {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const schema = this.#options.resolve?.(id);
    if (schema === undefined) throw new Error(`there is no schema ${id} to resolve a reference`);
    const writer = this.#options.asTheyAre?.includes(id) === true ? stringifyExact : this.writerOf(schema);
    this.#byId.set(id, writer);
    return writer;
  }

  /** Enters a function in the scope of the generated code; returns its name there. */
  #define(writer: Writer): string {
    const name = `write${Object.keys(this.#scope).length}`;
    this.#scope[name] = writer;
    return name;
  }
}

/** True where the first member is required: a writer begins with a member that is always present. */
const beginsWithRequired = ({ properties = {}, required = [] }: Schema): boolean =>
  required.includes(Object.keys(properties)[0] ?? '');

/** A text as the inside of a template literal. */
const templateText = (text: string): string => text.replaceAll(/[\\`$]/g, '\\$&');

/** The other type of a schema that allows null and one other type. */
function nullableTypeOf({ type }: Schema): string | undefined {
  if (typeof type === 'string' || type?.length !== 2 || !type.includes('null')) return undefined;
  return type.find((it) => it !== 'null');
}

function isPlain({ format, pattern = '', enum: values }: Schema): boolean {
  if (values !== undefined) return values.every((it) => it !== null && !ESCAPED.test(it));
  if (PLAIN_PATTERNS.includes(pattern)) return true;
  return format !== undefined && PLAIN_FORMATS.includes(format);
}

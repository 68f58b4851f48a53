/** The compiler of schemas: Ajv with the rules, formats and keywords of the project. */
import addFormats from 'ajv-formats';
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { registry } from '../build.ts';
import { GRAMMARS, UUID_PATTERN } from '../patterns.ts';
import type { TSchema } from 'typebox';
import { freeFormKeyword, int64Keyword } from './ajv-keywords.ts';

/**
 * The schemas are the project's own, and a test holds them against the meta-schema: that check and the optimiser of the
 * generated code are half of the time that compiling takes.
 */
const UNCHECKED = { meta: false, validateSchema: false } as const;

/** Compiles schemas, each once, with all that are registered by then to refer to. */
export class Compiler {
  readonly ajv: Ajv2020;
  /** The names of the schemas that it has: a module may register more after the first value was validated. */
  readonly #known = new Set<string>();
  readonly #compiled = new Map<TSchema, ValidateFunction>();

  /** `allErrors`: the validators find all faults, not only the first. `source`: their code is kept, for the build. */
  constructor(allErrors: boolean, source = false) {
    const rules = { strict: true, allowUnionTypes: true, discriminator: true, verbose: true };
    const code = source ? { source, esm: true } : { optimize: false };
    this.ajv = new Ajv2020({ allErrors, ...rules, ...UNCHECKED, code });
    addFormats.default(this.ajv, ['date-time', 'uri-reference', 'int32', 'double']);
    // The API's own format `uuid`: the one of ajv-formats accepts the `urn:uuid:` form.
    this.ajv.addFormat('uuid', new RegExp(UUID_PATTERN, 'i'));
    this.ajv.addKeyword(int64Keyword);
    this.ajv.addKeyword(freeFormKeyword);
  }

  compiled(schema: TSchema): ValidateFunction {
    const known = this.#compiled.get(schema);
    if (known !== undefined) return known;
    for (const [name, each] of this.#known.size === registry.size ? [] : registry) {
      if (this.#known.has(name)) continue;
      this.ajv.addSchema(forAjv(each) as AnySchemaObject);
      this.#known.add(name);
    }
    const named = (schema as { $id?: string }).$id;
    const validate =
      (named === undefined ? undefined : this.ajv.getSchema(named)) ??
      this.ajv.compile(forAjv(schema) as AnySchemaObject);
    this.#compiled.set(schema, validate);
    return validate;
  }
}

/** Replaces the type of 64-bit integers, which JSON Schema validates as doubles, by the keyword `x-int64`. */
function forAjv(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forAjv);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, format } = schema as { type?: unknown; format?: unknown };
  if (typeof format === 'string' && Object.hasOwn(GRAMMARS, format)) {
    // The domain validates these, with messages that name the mistake.
    const { pattern: _pattern, maxLength: _maxLength, format: _format, ...rest } = schema as Record<string, unknown>;
    return rest;
  }
  if (format === 'int64') return { 'x-int64': { nullable: Array.isArray(type) && type.includes('null') } };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, forAjv(value)]));
}

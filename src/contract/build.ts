/** Constructors of schemas over TypeBox, and the registry of named schemas, from which the API description is made. */
import { Type, type Static, type TProperties, type TSchema } from 'typebox';

/** A schema with a name: one entry under `components/schemas` of the API description, one `$id` for the validator. */
export type NamedSchema = TSchema & { $id: string };

/** Every named schema, in order of definition. */
export const registry = new Map<string, NamedSchema>();

/** Returns `schema` with this name and description, and adds it to the registry. Throws for a name in use. */
export function named<T extends TSchema>($id: string, description: string, schema: T): T & { $id: string } {
  if (registry.has($id)) throw new Error(`two schemas are named ${$id}`);
  const result = { ...schema, $id, description } as T & { $id: string };
  registry.set($id, result);
  return result;
}

/** A reference to a named schema. */
export const ref = <T extends NamedSchema>(schema: T) => Type.Unsafe<Static<T>>({ $ref: schema.$id });

/** One of the strings listed. */
export const enumOf = <const V extends readonly string[]>(values: V, description: string) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], description });

/** Exactly this string: the tag of a variant. */
export const literal = <const S extends string>(value: S) => Type.Unsafe<S>({ type: 'string', const: value });

/** The schema, or null. */
export function nullable<T extends TSchema>(schema: T) {
  const description = 'description' in schema ? { description: schema.description } : {};
  return Type.Unsafe<Static<T> | null>(
    'type' in schema && typeof schema.type === 'string'
      ? {
          ...schema,
          type: [schema.type, 'null'],
          ...('enum' in schema ? { enum: [...(schema.enum as []), null] } : {}),
        }
      : { anyOf: [schema, { type: 'null' }], ...description },
  );
}

/** An optional member that may also be null. */
export const optionalNullable = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema));

/** One of several objects, distinguished by the string member `propertyName`. */
export const tagged = <T extends NamedSchema[]>(propertyName: string, ...variants: [...T]) =>
  Type.Unsafe<Static<T[number]>>({
    type: 'object',
    required: [propertyName],
    properties: { [propertyName]: { type: 'string' } },
    discriminator: { propertyName },
    oneOf: variants.map((variant) => ({ $ref: variant.$id })),
  });

/** An object that a client sends. Other members are refused: a misspelt one would be ignored silently. */
export const submitted = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/** An object that the coordinator sends. Later versions may add members. */
export const answered = <P extends TProperties>(properties: P, description?: string) =>
  Type.Object(properties, description === undefined ? {} : { description });

/** A map from any name to values of one schema. */
export const mapOf = <T extends TSchema>(
  values: T,
  options: { description: string; maxProperties?: number; propertyNames?: object },
) => Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: values, ...options });

export const listOf = <T extends TSchema>(items: T, description: string, maxItems?: number) =>
  Type.Array(items, maxItems === undefined ? { description } : { description, maxItems });

export const text = (description: string, bounds: { minLength?: number; maxLength?: number } = {}) =>
  Type.String({ description, ...bounds });

export const flag = (description: string) => Type.Boolean({ description });

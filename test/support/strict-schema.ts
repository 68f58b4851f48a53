/** Validates an answer strictly: by its schema, and without any member that the schema does not name. */
import { registry, type NamedSchema } from '../../src/contract/build.ts';
import { schemaFaults } from '../../src/contract/validation/validate.ts';

type Schema = {
  $ref?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
};

/** Returns all faults as text; empty for a value of exactly this shape. */
export function strictFaults(schema: NamedSchema, value: unknown): string[] {
  return [
    ...schemaFaults(schema, value).map(({ pointer, detail }) => `${pointer} ${detail}`),
    ...unnamedMembers(schema as Schema, value, ''),
  ];
}

function unnamedMembers(given: Schema, value: unknown, pointer: string): string[] {
  const schema = resolved(given, value);
  if (Array.isArray(value))
    return value.flatMap((item, at) => unnamedMembers(schema.items ?? {}, item, `${pointer}/${at}`));
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const inner = schema.properties?.[name];
    return inner === undefined
      ? [`${pointer}/${name} is not in the schema`]
      : unnamedMembers(inner, member, `${pointer}/${name}`);
  });
}

/** Follows references, and takes the alternative that fits. */
function resolved(schema: Schema, value: unknown): Schema {
  if (schema.$ref !== undefined) return resolved(registry.get(schema.$ref) as Schema, value);
  const fitting = schema.anyOf?.find((it) => schemaFaults(it, value).length === 0);
  return fitting === undefined ? schema : resolved(fitting, value);
}

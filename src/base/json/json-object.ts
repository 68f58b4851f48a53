/** JSON objects among the values that `JSON.parse` and YAML return. */

/** True for an object that is neither null nor an array. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

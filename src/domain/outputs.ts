/** The outputs of a run: the members of its free-form metadata under flat names. */

/** Nested objects are flattened to this depth; deeper ones, and lists, are single values. */
const MAX_DEPTH = 4;

/** Yields every member, nested ones as `outer.inner`, in the order of the object. A name may occur twice; the last one counts. */
export function* flatOutputs(metadata: object): Generator<[name: string, value: unknown]> {
  yield* membersOf(metadata, '', 0);
}

function* membersOf(object: object, prefix: string, depth: number): Generator<[string, unknown]> {
  for (const [member, value] of Object.entries(object) as [string, unknown][]) {
    const name = prefix === '' ? member : `${prefix}.${member}`;
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value) && depth + 1 < MAX_DEPTH;
    if (isNested) yield* membersOf(value, name, depth + 1);
    else if (name !== '') yield [name, value];
  }
}

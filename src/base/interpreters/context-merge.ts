/**
 * Contexts as V8 handles them best: created as one literal, and merged with a change by code compiled for the members that the
 * changes of one action mostly have.
 */
import { compile, member } from '../codegen.ts';

/** Returns a new context: a copy of the given one with the members of the change. */
export type ContextMerge = (context: object, change: object) => object;

interface Compiled {
  names: readonly string[];
  merge: ContextMerge;
}

/** An action that sets other members each time is merged member by member. */
const MAX_COMPILED = 4;

/**
 * Returns a merge for the changes of one action. It equals `{ ...context, ...change }`, for which V8 looks each member up by name;
 * compiled, the members of a context are copied at once and those of the change are written at known places.
 */
export function contextMerge(): ContextMerge {
  const known: Compiled[] = [];
  return (context, change) => {
    for (const { names, merge } of known) if (hasNames(change, names)) return merge(context, change);
    if (known.length === MAX_COMPILED) return Object.assign({ ...context }, change);
    const names = Object.keys(change);
    const merge = compileMerge(names);
    known.push({ names, merge });
    return merge(context, change);
  };
}

/** True when the object has these members, in this order. */
function hasNames(change: object, names: readonly string[]): boolean {
  let at = 0;
  for (const name in change) {
    if (names[at] !== name) return false;
    at += 1;
  }
  return at === names.length;
}

function compileMerge(names: readonly string[]): ContextMerge {
  const stores = names.map((name) => `${member('copy', name)} = ${member('change', name)};`);
  return compile(
    `(context, change) => { const copy = { ...context }; ${stores.join(' ')} return copy; }`,
  ) as ContextMerge;
}

const shapes = new Map<string, (context: object) => object>();
/** Contexts of one machine differ in their optional members. */
const MAX_SHAPES = 200;

/**
 * Returns a copy of a context that is created as one literal. V8 keeps an object to which more than a dozen members were added one
 * by one, as `Object.assign` and a rest pattern do, as a hash table, and every copy of it too. The names must not come from input.
 */
export function inShape<T extends object>(context: T): T {
  const names = Object.keys(context);
  const key = JSON.stringify(names);
  let shape = shapes.get(key);
  if (shape === undefined) {
    if (shapes.size >= MAX_SHAPES) return context;
    const members = names.map((name) => `${JSON.stringify(name)}: ${member('context', name)}`);
    shape = compile(`(context) => ({ ${members.join(', ')} })`) as (context: object) => object;
    shapes.set(key, shape);
  }
  return shape(context) as T;
}

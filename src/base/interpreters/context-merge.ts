/** Contexts as V8 handles them best: created as one literal, also when a change is merged into one. */
import { compile, member } from '../codegen.ts';

/** Returns a new context: a copy of the given one with the members of the change. */
export type ContextMerge = (context: object, change: object) => object;

interface Compiled {
  /** Names of the members of the context and of the change. */
  names: readonly string[];
  changed: readonly string[];
  merge: ContextMerge;
}

/** An action that sets other members each time is merged member by member. */
const MAX_COMPILED = 4;

/**
 * Returns a merge for the changes of one action. It equals `{ ...context, ...change }`, whose result has a hidden class of its own in
 * V8, and so has every copy of a copy: all code that reads a context would search for its members by name. The compiled merge is one
 * literal with all members, so that all contexts of an actor have the same class.
 */
export function contextMerge(): ContextMerge {
  const known: Compiled[] = [];
  return (context, change) => {
    for (const { names, changed, merge } of known)
      if (hasNames(change, changed) && hasNames(context, names)) return merge(context, change);
    if (known.length === MAX_COMPILED) return Object.assign({ ...context }, change);
    const names = Object.keys(context);
    const changed = Object.keys(change);
    const merge = compileMerge(names, changed);
    known.push({ names, changed, merge });
    return merge(context, change);
  };
}

/** True when the object has these members, in this order. */
function hasNames(object: object, names: readonly string[]): boolean {
  let at = 0;
  for (const name in object) {
    if (names[at] !== name) return false;
    at += 1;
  }
  return at === names.length;
}

function compileMerge(names: readonly string[], changed: readonly string[]): ContextMerge {
  const all = new Set([...names, ...changed]);
  const isChanged = new Set(changed);
  const members = Array.from(all, (name) => literalMember(name, isChanged.has(name) ? 'change' : 'context'));
  return compile(`(context, change) => ({ ${members.join(', ')} })`) as ContextMerge;
}

const literalMember = (name: string, of: string): string => `${JSON.stringify(name)}: ${member(of, name)}`;

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
    const members = names.map((name) => literalMember(name, 'context'));
    shape = compile(`(context) => ({ ${members.join(', ')} })`) as (context: object) => object;
    shapes.set(key, shape);
  }
  return shape(context) as T;
}

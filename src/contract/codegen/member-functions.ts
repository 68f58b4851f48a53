/** Functions over the tables of members: merge, compare and present, each compiled once from its table. */
import {
  ATTEMPT_MEMBERS,
  LIVE_TEXT_LENGTH,
  type AttemptRecord,
  type Member,
  type Members,
} from '../members/members.ts';
import { compile, member } from '../../base/codegen.ts';

/** The names of an object's members, typed. */
export const namesOf = <T extends object>(it: T): (keyof T & string)[] => Object.keys(it) as (keyof T & string)[];

/** A function that returns one object with the members `names[i]` of its i-th argument, made as one literal. */
export function mergeOf<Sources extends object[], Result extends object>(
  ...names: { [I in keyof Sources]: readonly (keyof Sources[I] & keyof Result & string)[] }
): (...sources: Sources) => Result {
  const parameters = names.map((_, at) => `s${at}`);
  const members = names.flatMap((some, at) => some.map((it) => `${JSON.stringify(it)}: ${member(`s${at}`, it)}`));
  return compile(`(${parameters.join(', ')}) => ({ ${members.join(', ')} })`) as (...sources: Sources) => Result;
}

/** A function that is true when two records of these members are equal. */
export function equalityOf<T>(members: Members): (a: T, b: T) => boolean {
  const isSameAttempt = (a: AttemptRecord, b: AttemptRecord): boolean => sameAttempt(a, b);
  const terms = Object.entries(members).map(([name, { type }]) => {
    const [a, b] = [member('a', name), member('b', name)];
    return type === 'attempts'
      ? `${a}.length === ${b}.length && ${a}.every((it, at) => isSameAttempt(it, ${b}[at]))`
      : `${a} === ${b}`;
  });
  return compile(`(a, b) => ${terms.join(' && ')}`, { isSameAttempt }) as (a: T, b: T) => boolean;
}

const sameAttempt = equalityOf<AttemptRecord>(ATTEMPT_MEMBERS);

/** The audience of the members: a client of the API, or a subscriber of the live feed. */
type Audience = 'api' | 'live';
type NameFor<V extends Member, A extends Audience> = V extends Record<A, infer N extends string> ? N : never;
/** The names under which an audience sees members of the table. */
export type ShownNames<M extends Members, A extends Audience> = { [K in keyof M]: NameFor<M[K], A> }[keyof M];

/** How a value is converted for an audience: the name of a function in the scope. */
const CONVERSIONS: Record<Audience, Partial<Record<Member['type'], string>>> = {
  api: { time: 'timestamp' },
  live: { text: 'cut' },
};
const cut = (text: string): string => text.slice(0, LIVE_TEXT_LENGTH);

type RequiredNames<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T];
/** The required members of `T` that do not come from the table. */
type Own<T, M extends Members, A extends Audience> = Pick<T, Exclude<RequiredNames<T>, ShownNames<M, A>>>;

/**
 * A function that returns the resource or row of a state: the members of the table that the audience sees, under the
 * names it sees, and the members of `own`, as they are. Required members have the order of the schema.
 */
export function presenterOf<T extends object, M extends Members, A extends Audience>(
  schema: { properties: object; required: readonly string[] },
  members: M,
  audience: A,
  timestamp: (ms: number) => string = String,
): (own: Own<T, M, A>, state: object) => T {
  const shown = new Map(
    Object.entries(members as Members).flatMap(([name, it]) => {
      const [as, conversion] = [it[audience], CONVERSIONS[audience][it.type]];
      const raw = member('state', name);
      return as === undefined ? [] : [[as, { it, raw, value: conversion ? `${conversion}(${raw})` : raw }]];
    }),
  );
  const required = Object.keys(schema.properties)
    .filter((as) => schema.required.includes(as))
    .map((as) => `${JSON.stringify(as)}: ${shown.get(as)?.value ?? member('own', as)}`);
  const optional = [...shown]
    .filter(([, { it }]) => it.optional === true)
    .map(([as, { raw, value }]) => `if (${raw} !== undefined) ${member('result', as)} = ${value};`);
  return compile(
    `(own, state) => { const result = { ${required.join(', ')} }; ${optional.join(' ')} return result; }`,
    { timestamp, cut },
  ) as (own: Own<T, M, A>, state: object) => T;
}

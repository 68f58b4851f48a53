/** The schemas of tables of members: as stored, as the API shows them and as rows of the live feed carry them. */
import { Type, type TOptional, type TSchema, type TUnsafe } from 'typebox';
import { enumOf, text } from '../build.ts';
import { ATTEMPT_OUTCOMES } from '../enums.ts';
import { int32, runnerId, timestamp } from '../scalars.ts';
import {
  ATTEMPT_MEMBERS,
  LIVE_TEXT_LENGTH,
  type Member,
  type Members,
  type MemberType,
  type ValueOf,
} from './members.ts';

/** ms since the epoch, as far as a Date reaches. */
export const storedTime = Type.Integer({ minimum: -8.64e15, maximum: 8.64e15, description: 'ms since the epoch' });
export const storedCount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const STORED: Record<MemberType, () => TSchema> = {
  count: () => storedCount,
  time: () => storedTime,
  text: () => Type.String(),
  'runner-id': () => runnerId('A runner.'),
  outcome: () => enumOf(ATTEMPT_OUTCOMES, 'How it ended.'),
  attempts: () => Type.Array(Type.Object(storedProperties(ATTEMPT_MEMBERS))),
};

const API = {
  count: (about: string) => int32(about),
  time: timestamp,
  text: (about: string) => text(about),
  'runner-id': (about: string) => text(about),
  outcome: (about: string) => enumOf(ATTEMPT_OUTCOMES, about),
};

const LIVE = {
  count: () => storedCount,
  time: () => storedTime,
  text: () => text('', { maxLength: LIVE_TEXT_LENGTH }),
  'runner-id': () => text(''),
};

type Shown = { api: typeof API; live: typeof LIVE };
type Stored<M extends Members> = {
  [K in keyof M]: M[K] extends { optional: true } ? TOptional<TUnsafe<ValueOf<M[K]>>> : TUnsafe<ValueOf<M[K]>>;
};
type Built<T, Builders> = T extends keyof Builders
  ? Builders[T] extends (about: string) => infer S
    ? S & TSchema
    : never
  : never;
type SchemaOf<V extends Member, Builders> = V extends { optional: true }
  ? TOptional<Built<V['type'], Builders>>
  : Built<V['type'], Builders>;
type ShownTo<M extends Members, A extends keyof Shown> = {
  [K in keyof M as M[K] extends Record<A, infer Name extends string> ? Name : never]: SchemaOf<M[K], Shown[A]>;
};
type Part<P, Which> = Which extends 'optional'
  ? { [K in keyof P as P[K] extends TOptional ? K : never]: P[K] }
  : { [K in keyof P as P[K] extends TOptional ? never : K]: P[K] };

const optional = (it: Member, schema: TSchema): TSchema => (it.optional === true ? Type.Optional(schema) : schema);

/** The members of a record, under the names they are stored under. */
export function storedProperties<M extends Members>(members: M): Stored<M> {
  const entries = Object.entries(members).map(([name, it]) => [name, optional(it, STORED[it.type]())]);
  return Object.fromEntries(entries) as Stored<M>;
}

/** The required or the optional members that the API or the live feed shows, under the names it shows. */
export function shownProperties<M extends Members, A extends keyof Shown, W extends 'required' | 'optional'>(
  members: M,
  audience: A,
  which: W,
): Part<ShownTo<M, A>, W> {
  const builders: Partial<Record<Member['type'], (about: string) => TSchema>> = audience === 'api' ? API : LIVE;
  const entries = Object.entries(members as Members).flatMap(([name, it]) => {
    const as = it[audience];
    if (as === undefined || (it.optional === true) !== (which === 'optional')) return [];
    const build = builders[it.type];
    if (build === undefined) throw new Error(`the member ${name} is shown as ${as}, but ${it.type} has no form there`);
    return [[as, optional(it, build(it.description ?? ''))]];
  });
  return Object.fromEntries(entries) as Part<ShownTo<M, A>, W>;
}

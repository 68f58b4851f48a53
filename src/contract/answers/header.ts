/** The members that all answers about a study share. */
import { Type, type Static } from 'typebox';
import { answered, listOf, mapOf, named, nullable, text } from '../build.ts';
import { count, double, uuid } from '../scalars.ts';

export const Warning = named(
  'Warning',
  'A limit of an answer.',
  answered({ code: text('kebab-case, stable.'), message: text('The limit, for people.') }),
);

/** Two finite numbers. */
export const range = (description: string) =>
  Type.Unsafe<[number, number]>({ type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2, description });

/** Two numbers, each null where the runs do not bound that side. */
export const openRange = (description: string) =>
  Type.Unsafe<[number | null, number | null]>({
    type: 'array',
    items: { type: ['number', 'null'] },
    minItems: 2,
    maxItems: 2,
    description,
  });

export const probability = (description: string) => double(description, { minimum: 0, maximum: 1 });
export const runIds = (description: string) => listOf(Type.Integer({ minimum: 0 }), description);
export const reason = nullable(text('Why members are null; null where none is.'));
export const sentence = text('The answer in one sentence.');

export const headerMembers = {
  batch_id: uuid('The batch.'),
  of: count('Number of all its runs.'),
  n_used: count('Number of runs that the figures use.'),
  excluded: mapOf(count('Number of runs.'), {
    description:
      'The other runs by class (`ok`, `terminated`, `crashed`, `timeout`, `lost`, `cancelled`, `open`), `no_value`, `after_prefix`, or by the choice of the runs.',
  }),
  reused: Type.Optional(
    count('Of all runs, those that have the result of another run and were not executed; absent for none.'),
  ),
  prefix: answered(
    { length: count('Number of runs before the first open run.'), of: count('Number of all runs.') },
    'The complete prefix: the runs before the first open one.',
  ),
  warnings: listOf(Type.Unsafe<Static<typeof Warning>>({ $ref: Warning.$id }), 'Limits of this answer.'),
};

export const AnswerHeader = named('AnswerHeader', 'How many runs an answer uses.', answered(headerMembers));

export const PendingAnswer = named(
  'PendingAnswer',
  'The answer is still being computed.',
  answered({
    detail: text('The reason, and what to do.'),
    retry_after_secs: count('Seconds after which to repeat the request; also in `Retry-After`.'),
  }),
);
export type PendingAnswer = Static<typeof PendingAnswer>;

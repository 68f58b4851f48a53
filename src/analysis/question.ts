/** A question about a study as one object: its route, worker, client, command line and offline answer are derived from it. */
import type { Static } from 'typebox';
import type { NamedSchema } from '../contract/build.ts';
import { FAMILY, WAIT } from '../contract/answers/queries.ts';
import type { QueryOf, QueryParameters } from '../contract/queries.ts';
import type { Uuid } from '../contract/types.ts';
import type { StudySituation } from './conclusion/conclude.ts';
import type { AnsweredStudy } from './table/answered-study.ts';

interface Definition<Q extends QueryParameters, A extends NamedSchema, E> {
  operationId: string;
  summary: string;
  description?: string;
  /** The parameters of the question itself; `family` and `wait` are added. */
  query: Q;
  response: A;
  /** False: the runs of extensions and reruns are never pooled with those of the study. */
  isPooled?: false;
  /** Files of runs are read: an unreadable file makes the answer another one later. */
  readsFiles?: true;
  /** Its conclusion also takes the facts that the coordinator knows besides the runs: `StudySituation.facts`. */
  takesFacts?: true;
  /** Refuses a query that no study can answer, before runs are read. @throws RangeError */
  check?(query: QueryOf<Q>): unknown;
  /** The other study of the question, where it has one. @throws SimbatchError `unknown-batch` */
  other?(query: QueryOf<Q>): Uuid | undefined;
  /** True for a query about all studies that were submitted together, which are in `AnsweredStudy.repeats` then. */
  joinsRepeats?(query: QueryOf<Q>): boolean;
  /**
   * The answer. `other` is the study after in a comparison, else the same study.
   * @throws RangeError for a name that the study does not have and for a number out of its range
   */
  answer(study: AnsweredStudy, query: QueryOf<Q>, other: AnsweredStudy): E | Promise<E>;
  /** Makes the answer of what `answer` returns, with what the runs do not say; of a family or a file they say all that is known. */
  conclude?(evidence: E, situation?: StudySituation): Static<A>;
}

/** `name` is the last segment of the route. */
export interface Question<
  N extends string = string,
  Q extends QueryParameters = QueryParameters,
  A extends NamedSchema = NamedSchema,
  E = Static<A>,
> extends Definition<Q, A, E> {
  name: N;
}

/** The types of the query and of the answer follow from their schemas. */
export const question = <N extends string, Q extends QueryParameters, A extends NamedSchema>(
  definition: Question<N, Q, A>,
): Question<N, Q, A> => definition;

/** Defines a question whose answer is concluded from evidence about the runs and the situation of the study. */
export const concludedQuestion = <N extends string, Q extends QueryParameters, A extends NamedSchema, E>(
  definition: Question<N, Q, A, E> & Required<Pick<Question<N, Q, A, E>, 'conclude'>>,
): Question<N, Q, A, E> => definition;

/** All query parameters of the route of a question. */
export const parametersOf = ({ query, isPooled }: Question): QueryParameters => ({
  ...query,
  ...(isPooled === false ? {} : FAMILY),
  ...WAIT,
});

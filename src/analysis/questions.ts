/** The list of questions about a study, and how one is asked and answered. A new question is a file and its line here. */
import type { Static } from 'typebox';
import type { QueryOf } from '../contract/queries.ts';
import type { Uuid } from '../contract/types.ts';
import { SimbatchError } from '../domain/errors.ts';
import type { StudySituation } from './conclusion/conclude.ts';
import type { Question } from './question.ts';
import type { AnsweredStudy } from './table/answered-study.ts';
import type { ExtractedBatch } from './table/extracted.ts';
import { answer } from './questions/outcome/answer.ts';
import { attribution } from './questions/attribution.ts';
import { evidence } from './questions/outcome/evidence.ts';
import { band } from './questions/band.ts';
import { compare } from './questions/compare.ts';
import { convergence } from './questions/convergence.ts';
import { distributions } from './questions/distributions.ts';
import { indices } from './questions/indices.ts';
import { rareEvent } from './questions/outcome/rare-event.ts';
import { pbox } from './questions/outcome/pbox.ts';
import { precision } from './questions/outcome/precision.ts';
import { probe } from './questions/probe.ts';
import { sensitivity } from './questions/sensitivity.ts';
import { summary } from './questions/summary.ts';
import { telemetryBand } from './questions/telemetry-band.ts';
import { transitions } from './questions/transitions.ts';
import { verdicts } from './questions/outcome/verdicts.ts';
import { worst } from './questions/worst.ts';

/** All questions, in the order of the API description. */
export const QUESTIONS = [
  answer,
  summary,
  distributions,
  verdicts,
  precision,
  rareEvent,
  sensitivity,
  indices,
  probe,
  attribution,
  convergence,
  worst,
  pbox,
  band,
  telemetryBand,
  compare,
  transitions,
  evidence,
] as const;

type Listed = (typeof QUESTIONS)[number];
export type QuestionName = Listed['name'];
type Named<N extends QuestionName> = Extract<Listed, { name: N }>;
/** The query of a question, without `family` and `wait`. */
export type QuestionQuery<N extends QuestionName> = QueryOf<Named<N>['query']>;
export type QuestionAnswer<N extends QuestionName> = Static<Named<N>['response']>;

/** A question about a certain study, as plain data. */
export interface Asked<N extends QuestionName = QuestionName> {
  name: N;
  batchId: Uuid;
  query: QuestionQuery<N>;
  /** The batches of the family whose runs are pooled, `batchId` among them, oldest first; absent: this batch alone. */
  members?: readonly Uuid[];
  /** The batches that were submitted together with this one, `batchId` among them, the first study first; absent: this batch alone. */
  repeats?: readonly Uuid[];
  /** The extractions of these batches; absent: there are none. */
  extracted?: readonly ExtractedBatch[];
}

const BY_NAME: ReadonlyMap<string, Question> = new Map(QUESTIONS.map((it) => [it.name, it as unknown as Question]));

/** The question of this name. */
export const questionOf = (name: QuestionName): Question => BY_NAME.get(name)!;

/** The studies that a question is about. @throws SimbatchError `unknown-batch` for an id in the query that is malformed */
export function batchesOf({ name, batchId, query, repeats, members = [batchId] }: Asked): Uuid[] {
  if (repeats !== undefined) return [...repeats];
  const other = questionOf(name).other?.(query as never);
  return other === undefined ? [...members] : [batchId, other];
}

/** Refuses a query that no study can answer. @throws SimbatchError `malformed-query` */
export function checkAsked({ name, query }: Pick<Asked, 'name' | 'query'>): void {
  try {
    questionOf(name).check?.(query as never);
  } catch (error) {
    throw refusal(error);
  }
}

/**
 * The answer, by the schema of its question, or the evidence for `concluded`. `studies`: as `batchesOf` names them.
 * @throws SimbatchError `malformed-query` for a name that the study does not have and for a number out of its range
 */
export async function answerTo(
  { name, query }: Pick<Asked, 'name' | 'query'>,
  [study, other = study]: readonly [AnsweredStudy, AnsweredStudy?],
): Promise<object> {
  try {
    return (await questionOf(name).answer(study, query as never, other)) as object;
  } catch (error) {
    throw refusal(error);
  }
}

/** The answer by what `answerTo` returns, which is the answer itself of most questions. */
export const concluded = (name: QuestionName, found: object, situation?: StudySituation): object =>
  (questionOf(name).conclude?.(found, situation) as object | undefined) ?? found;

const refusal = (error: unknown): unknown =>
  error instanceof RangeError ? new SimbatchError('malformed-query', error.message, { cause: error }) : error;

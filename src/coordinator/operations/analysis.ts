/** Questions about a study, which the analysis worker answers. */
import type { Uuid } from '../../contract/types.ts';
import type { Answer, AskOptions } from '../answers/answers.ts';
import type { Question } from '../answers/question.ts';
import type { Core } from '../core.ts';

/** See `Answers.ask`. */
export const answer = (core: Core, question: Question, options: AskOptions): Promise<Answer> =>
  core.answers.ask(question, options);

/** The manifest of a batch as bytes, as of one instant. Must be iterated to its end or returned from. */
export const manifest = (core: Core, batchId: Uuid): Promise<AsyncIterable<Uint8Array>> =>
  core.answers.manifest(batchId);

/** Questions about a study and tables of its runs, which the analysis worker answers. */
import type { Uuid } from '../../contract/types.ts';
import type { Answer, AskOptions } from './answers.ts';
import type { Question } from './question.ts';
import type { TableAnswer, TableOptions } from './table-answers.ts';
import type { TableRequest } from './table-request.ts';
import type { Core } from '../core.ts';

/** See `Answers.ask`. */
export const answer = (core: Core, question: Question, options: AskOptions): Promise<Answer> =>
  core.answers.ask(question, options);

/** The manifest of a batch as bytes, as of one instant. Must be iterated to its end or returned from. */
export const manifest = (core: Core, batchId: Uuid): Promise<AsyncIterable<Uint8Array>> =>
  core.answers.tables.manifest(batchId);

/** See `TableAnswers.table`. */
export const table = (core: Core, request: TableRequest, options?: TableOptions): Promise<TableAnswer> =>
  core.answers.tables.table(request, options);

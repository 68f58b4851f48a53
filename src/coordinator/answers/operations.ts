/** Tables of the runs of a study and their histories, which the analysis worker writes. */
import type { Uuid } from '../../contract/types.ts';
import type { Answers } from './answers.ts';
import type { TableAnswer, TableOptions } from './table-answers.ts';
import type { HistoriesRequest, TableRequest } from './table-request.ts';

interface AnswerParts {
  answers: Answers;
}

/** The manifest of a batch as bytes, as of one instant. Must be iterated to its end or returned from. */
export const manifest = (parts: AnswerParts, batchId: Uuid): Promise<AsyncIterable<Uint8Array>> =>
  parts.answers.tables.manifest(batchId);

/** See `TableAnswers.table`. */
export const table = (parts: AnswerParts, request: TableRequest, options?: TableOptions): Promise<TableAnswer> =>
  parts.answers.tables.table(request, options);

/** See `TableAnswers.histories`. */
export const histories = (
  parts: AnswerParts,
  request: HistoriesRequest,
  options?: Pick<TableOptions, 'isKnown' | 'abandoned'>,
): Promise<TableAnswer> => parts.answers.tables.histories(request, options);

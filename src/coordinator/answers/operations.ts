/** Tables of the runs of a study, which the analysis worker writes. */
import type { Uuid } from '../../contract/types.ts';
import type { TableAnswer, TableOptions } from './table-answers.ts';
import type { TableRequest } from './table-request.ts';
import type { Core } from '../core.ts';

/** The manifest of a batch as bytes, as of one instant. Must be iterated to its end or returned from. */
export const manifest = (core: Core, batchId: Uuid): Promise<AsyncIterable<Uint8Array>> =>
  core.answers.tables.manifest(batchId);

/** See `TableAnswers.table`. */
export const table = (core: Core, request: TableRequest, options?: TableOptions): Promise<TableAnswer> =>
  core.answers.tables.table(request, options);

/** Requests for tables of runs, as plain data. */
import type { ExtractedBatch } from '../../analysis/table/extracted.ts';
import type { HistoryFormat, TableFormat, Uuid } from '../../contract/types.ts';

export interface TableRequest {
  batchId: Uuid;
  /** True for one row of each run of the batch's family. */
  family?: boolean;
  format: TableFormat;
  /** All columns when absent. */
  columns?: readonly string[] | undefined;
  where?: string | undefined;
  /** Columns by which rows are sorted; in run order when absent. */
  sort?: readonly string[] | undefined;
}

/** A request to the analysis worker; `batchIds`: the batches that the table merges, `extracted`: their extractions. */
export interface MergeRequest extends TableRequest {
  batchIds: readonly Uuid[];
  extracted: readonly ExtractedBatch[];
}

export interface TablePageRequest extends MergeRequest {
  limit: number;
  /** The position that an earlier page returned. */
  after?: string | undefined;
}

/** A page: its bytes, the position of the next one if there is one, and how many runs are on all pages. */
export interface TablePage {
  bytes: Uint8Array;
  next: string | undefined;
  matched: number;
}

/** A request for one history of the runs of a batch. */
export interface HistoriesRequest {
  batchId: Uuid;
  /** True for one row of each run of the batch's family. */
  family?: boolean;
  name: string;
  /** All runs when absent. */
  where?: string | undefined;
  format: HistoryFormat;
  /** True for one row of each run. */
  wide: boolean;
}

/** A request to the analysis worker; `batchIds`: the batches that the answer merges, `extracted`: their extractions. */
export interface MergedHistoriesRequest extends HistoriesRequest {
  batchIds: readonly Uuid[];
  extracted: readonly ExtractedBatch[];
}

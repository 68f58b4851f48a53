/** Requests for tables of runs, as plain data. */
import type { TableFormat, Uuid } from '../../contract/types.ts';

export interface TableRequest {
  /** The batch asked for, then those of its family that the table merges. */
  batchIds: readonly Uuid[];
  format: TableFormat;
  /** All columns when absent. */
  columns?: readonly string[] | undefined;
  where?: string | undefined;
  /** In run order when absent. */
  sort?: readonly string[] | undefined;
}

export interface TablePageRequest extends TableRequest {
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

/** The interface of the formats of a table. */
import type { Chunk } from '../../../../analysis/export/chunk.ts';
import type { Warning } from '../../../../analysis/warning.ts';
import type { Uuid } from '../../../../contract/types.ts';

export interface TableStart {
  batchId: Uuid;
  warnings: readonly Warning[];
}

/** `matched`: the rows that were written; on a page, those that the condition selects. `of`: all runs. */
export interface TableEnd {
  matched: number;
  of: number;
}

/** Writes a table piece by piece: `begin` once, `write` for each chunk of rows, `end` once. Pieces may be empty. */
export interface TableEncoder {
  begin(start: TableStart): Uint8Array;
  write(chunk: Chunk): Uint8Array;
  end(end: TableEnd): Uint8Array;
}

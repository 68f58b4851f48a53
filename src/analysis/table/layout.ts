/** The rows that a table of runs has, before any run is added. */
import type { TableCells } from './run-table.ts';
import type { DesignMethod } from '../../domain/study/design-method.ts';

export interface TableLayout {
  batchId: string;
  method: DesignMethod;
  /** All runs of the study. */
  runs: number;
  /** The run id of each row, ascending within a replicate; absent where row i is run i. */
  runIds?: Uint32Array;
  /** The run of a row; in place of `runIds`, where rows are added. */
  runIdAt?: (row: number) => number;
  /** `from` rows are expected and more are made as runs are added: memory follows these, and not all runs of the study. */
  grows?: { from: number };
  /** Most bytes of the columns; an output beyond them is left out. */
  maxBytes?: number;
  /** Bytes that the other study of a question leaves: with more columns the question is refused, and none is left out. */
  pairBytes?: number;
  /** The replicate of each row, where rows are of several batches. */
  replicates?: Uint16Array;
  /** The runs of each replicate of a study that has several. */
  replicateRuns?: number | undefined;
  /** The scenarios of the study. */
  cells?: TableCells | undefined;
  /** Outputs that are in the table however many there are. */
  kept?: ReadonlySet<string>;
}

/** The shapes in which the loader hands runs to the page: columns, so that a hundred thousand runs are a few arrays. */
import { JOB_STATUSES } from '../../../src/contract/enums.ts';
import type { JobStatus } from '../../../src/contract/types.ts';

/** Runs `from`, `from + 1`, ... NaN stands for what is not known (yet). Times in ms since the epoch. */
export interface RunChunk {
  from: number;
  status: Uint8Array;
  retries: Uint8Array;
  started: Float64Array;
  ended: Float64Array;
  /** Sparse: the few that have one. */
  runners: [offset: number, runner: string][];
  errors: [offset: number, message: string][];
  /** A column each; none where they are known already. */
  parameters: [name: string, values: Float64Array][];
}

/** Outputs of single runs, a column per name. */
export interface OutputChunk {
  runs: Uint32Array;
  columns: Record<string, Float64Array>;
}

export type LoaderMessage =
  | { type: 'runs'; chunk: RunChunk }
  | { type: 'outputs'; chunk: OutputChunk }
  | { type: 'done' }
  | { type: 'error'; detail: string };

export interface LoaderRequest {
  /** What every request has to bring. */
  headers: Record<string, string>;
  origin: string;
  batchId: string;
  /** False when only states and outputs are to be read again. */
  withParameters: boolean;
}

export const STATUS_CODE = Object.fromEntries(JOB_STATUSES.map((it, index) => [it, index])) as Record<
  JobStatus,
  number
>;

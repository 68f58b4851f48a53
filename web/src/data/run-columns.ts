/** Messages from the loader to the page: columns, so that a hundred thousand runs are a few arrays. */
import { JOB_STATUSES } from '../../../src/contract/enums.ts';
import type { JobStatus } from '../../../src/contract/types.ts';

/** Run `from` and those that follow it in its batch. NaN means unknown. Times in ms since the epoch. */
export interface RunChunk {
  from: number;
  status: Uint8Array;
  retries: Uint8Array;
  started: Float64Array;
  ended: Float64Array;
  /** Sparse: only runs that have one. */
  runners: [offset: number, runner: string][];
  errors: [offset: number, message: string][];
  /** One column each; empty where they are already known. */
  parameters: [name: string, values: Float64Array][];
}

/** Outputs of single runs, one column per name. */
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
  /** Headers of every request. */
  headers: Record<string, string>;
  origin: string;
  batchId: string;
  /** False to read only states and outputs again. */
  withParameters: boolean;
}

export const STATUS_CODE = Object.fromEntries(JOB_STATUSES.map((it, index) => [it, index])) as Record<
  JobStatus,
  number
>;

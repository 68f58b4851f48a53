/** Messages to and from the loader of runs: its request, and the columns that it sends. */
import { JOB_STATUSES } from '../../../src/contract/enums.ts';
import type { JobStatus } from '../../../src/contract/types.ts';

/** A page of runs, in the order of run ids. NaN means unknown. Times in ms since the epoch. */
export interface RunChunk {
  /** Ids of the runs, by row. */
  runs: Uint32Array;
  status: Uint8Array;
  started: Float64Array;
  ended: Float64Array;
  /** Sparse: only runs that have one. */
  runners: [at: number, runner: string][];
  errors: [at: number, message: string][];
  /** Numbers by the key of their variable, `p.NAME` or `o.NAME`; booleans are 0 and 1. */
  values: { key: string; values: Float64Array; isBoolean: boolean }[];
  /** Outputs that are texts. */
  texts: { key: string; values: (string | null)[] }[];
}

export type LoaderMessage = { type: 'runs'; chunk: RunChunk } | { type: 'done' } | { type: 'error'; detail: string };

export interface LoaderRequest {
  /** Headers of every request. */
  headers: Record<string, string>;
  endpoint: string;
  batchId: string;
  /** False to read states and times only. */
  withValues: boolean;
  /** The first run to read. */
  from: number;
}

export const STATUS_CODE = Object.fromEntries(JOB_STATUSES.map((it, index) => [it, index])) as Record<
  JobStatus,
  number
>;

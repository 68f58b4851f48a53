/** Messages of the live feed that the coordinator and the dashboard share: rows of runs, and close codes. */
import type { JobStatus } from './enums.ts';

/** The current state of a run. Times in ms since the epoch; unset members are omitted. */
export interface RunRow {
  run: number;
  status: JobStatus;
  retries: number;
  runner?: string;
  started?: number;
  ended?: number;
  error?: string;
  /** The numeric members of the result's metadata, and `execution_time_secs`. */
  outputs?: Record<string, number>;
}

/** Close codes that correspond to 401 and 403; RFC 6455 reserves 4000 to 4999 for applications. */
export const CLOSE_UNAUTHENTICATED = 4401;
export const CLOSE_FORBIDDEN = 4403;

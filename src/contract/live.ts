/** The live feed, as both of its sides know it: what is told of a run, and why a connection is closed. */
import type { JobStatus } from './enums.ts';

/** A run as it is now. Times in ms since the epoch; members that are not set are left out. */
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

/** Close codes for what would be answered with 401 and 403 by now; RFC 6455 leaves 4000 and up to applications. */
export const CLOSE_UNAUTHENTICATED = 4401;
export const CLOSE_FORBIDDEN = 4403;

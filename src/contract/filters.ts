/** Filters of lists: each given member must match one of its values; an empty list does not restrict. */
import type { BatchStatus, JobStatus, RunnerStatus } from './enums.ts';
import type { Uuid } from './scalars.ts';

export interface JobFilter {
  batchIds?: readonly Uuid[];
  statuses?: readonly JobStatus[];
  runnerIds?: readonly string[];
  runIds?: readonly number[];
}

export interface BatchFilter {
  statuses?: readonly BatchStatus[];
  names?: readonly string[];
}

export interface RunnerFilter {
  statuses?: readonly RunnerStatus[];
  tags?: readonly string[];
}

/** What lists can be asked for: every member given must match, any of its values will do; an empty list is no restriction. */
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

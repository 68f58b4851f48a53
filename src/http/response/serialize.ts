/** Writing JSON: exact to the last digit of a seed, and quickly where there are many of a kind. */
import { stringifyExact } from '../../base/json-writing.ts';
import type { BatchConfig, ClaimResponse, Job, RunMetadata } from '../../contract/types.ts';

/** A value as JSON text. */
export const toJson = (value: unknown): string => stringifyExact(value);

/** Several values as JSON, with commas between. */
export function itemsToJson(items: readonly unknown[]): string {
  return items.map((item) => (isJob(item) ? jobToJson(item) : toJson(item))).join(',');
}

function isJob(item: unknown): item is Job {
  return (item as Partial<Job>).run_config !== undefined;
}

/** What the runs of a study share is written once, and forgotten with the object. */
const SHARED = new WeakMap<RunMetadata | BatchConfig, string>();

function sharedToJson(value: RunMetadata | BatchConfig): string {
  let json = SHARED.get(value);
  if (json === undefined) SHARED.set(value, (json = toJson(value)));
  return json;
}

/** Work for a runner: the jobs as in a list, and each study once. */
export function claimToJson({ assignments, batches }: ClaimResponse): string {
  const jobs = assignments.map(({ job, attempt }) => `{"job":${jobToJson(job)},"attempt":${attempt}}`).join(',');
  const studies = Object.entries(batches).map(([id, { config }]) => `"${id}":{"config":${sharedToJson(config)}}`);
  return `{"assignments":[${jobs}],"batches":{${studies.join(',')}}}`;
}

/**
 * A job, put together from parts: a list may hold a million of them, and the general way takes twice as long. Ids, statuses
 * and times hold nothing that JSON would escape.
 */
export function jobToJson(job: Job): string {
  const { run_config: run, assigned_runner: runner, error_message: error } = job;
  let json =
    `{"id":"${job.id}","batch_id":"${job.batch_id}","status":"${job.status}","run_config":{"run_id":${run.run_id},` +
    `"parameters":${JSON.stringify(run.parameters)},"metadata":${sharedToJson(run.metadata)}},` +
    `"retries":${job.retries},"max_retries":${job.max_retries},"timeout_secs":${job.timeout_secs},` +
    `"created_at":"${job.created_at}"`;
  if (runner !== undefined) json += `,"assigned_runner":${JSON.stringify(runner)}`;
  if (job.claimed_at !== undefined) json += `,"claimed_at":"${job.claimed_at}"`;
  if (job.started_at !== undefined) json += `,"started_at":"${job.started_at}"`;
  if (job.completed_at !== undefined) json += `,"completed_at":"${job.completed_at}"`;
  if (error !== undefined) json += `,"error_message":${JSON.stringify(error)}`;
  return `${json}}`;
}

/** Reads the stored results of runs. */
import type { JobRecord, JobResult, StoredResult, Uuid } from '../../../contract/types.ts';
import { SimbatchError } from '../../../domain/errors.ts';
import { batchIdOf, isJobId } from '../../../domain/ids.ts';
import { isTerminal, missingRecord } from '../actors/actor-kinds.ts';
import { keys } from '../storage/keys.ts';
import { readJob, type StoreReader } from './lookup.ts';
import type { Records } from './read-batch.ts';
import { toResult } from './to-resource.ts';

/** The result of a job; undefined where none is stored. */
export function storedResult(records: Records, jobId: Uuid): JobResult | undefined {
  const text = records.get(keys.result(jobId));
  return text === undefined ? undefined : resultFrom(records, JSON.parse(text) as StoredResult);
}

/** Reads the job of a result only where the result does not say how the job ended. */
export function resultFrom(records: Records, result: StoredResult): JobResult {
  if (result.success) return toResult(result, { value: 'Completed', attempts: [] });
  const record = records.get(keys.job(result.job_id));
  if (record === undefined) throw missingRecord(`job ${result.job_id}`);
  return toResult(result, JSON.parse(record) as JobRecord);
}

export function jobResult(parts: StoreReader, jobId: Uuid): JobResult {
  // Results of a deleted batch remain for a while; they must not be served.
  const isKept = isJobId(jobId) && parts.store.get(keys.batch(batchIdOf(jobId))) !== undefined;
  const result = isKept ? storedResult(parts.store, jobId) : undefined;
  if (result !== undefined) return result;
  const { value } = readJob(parts, parts.store, jobId).state;
  if (isTerminal(value) && value !== 'Cancelled') throw missingRecord(`the result of job ${jobId}`);
  const why = isTerminal(value) ? 'and leaves none' : 'and has none yet';
  throw new SimbatchError(
    'result-not-ready',
    `job ${jobId} is ${value} ${why}; a result exists once a job is Completed, Failed or Timeout`,
  );
}

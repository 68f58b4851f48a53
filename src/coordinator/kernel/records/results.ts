/** Reads the stored results of runs. */
import type { JobRecord, JobResult, StoredResult, Uuid } from '../../../contract/types.ts';
import { isDamage, SimbatchError } from '../../../domain/errors.ts';
import { batchIdOf, isJobId } from '../../../domain/ids.ts';
import { isTerminal, missingRecord } from '../actors/actor-kinds.ts';
import { keys } from '../storage/keys.ts';
import { readJob, type StoreReader } from './lookup.ts';
import { readBatch, type Records } from './read-batch.ts';
import { toResult } from './to-resource.ts';

type Studies = Pick<StoreReader, 'studyCache'>;

/** The result of a job; undefined where none is stored. */
export function storedResult({ studyCache }: Studies, records: Records, jobId: Uuid): JobResult | undefined {
  const text = records.get(keys.result(jobId));
  return text === undefined ? undefined : resultFrom({ studyCache }, records, JSON.parse(text) as StoredResult);
}

/** Reads the job of a result only where the result does not say how the job ended. */
export function resultFrom({ studyCache }: Studies, records: Records, result: StoredResult): JobResult {
  const namesOf = (jobId: Uuid): readonly string[] | undefined => {
    try {
      return studyCache.of(readBatch(records, batchIdOf(jobId)).context).sampler.names;
    } catch (error) {
      // The rest of the result is whole.
      if (isDamage(error)) return undefined;
      throw error;
    }
  };
  if (result.success) return toResult(result, { value: 'Completed', attempts: [] }, namesOf);
  const record = records.get(keys.job(result.job_id));
  if (record === undefined) throw missingRecord(`run ${result.job_id}`);
  return toResult(result, JSON.parse(record) as JobRecord, namesOf);
}

export function jobResult(parts: StoreReader, jobId: Uuid): JobResult {
  // Results of a deleted batch remain for a while; they must not be served.
  const isKept = isJobId(jobId) && parts.store.get(keys.batch(batchIdOf(jobId))) !== undefined;
  const result = isKept ? storedResult(parts, parts.store, jobId) : undefined;
  if (result !== undefined) return result;
  const { value } = readJob(parts, parts.store, jobId).state;
  if (isTerminal(value) && value !== 'Cancelled') throw missingRecord(`the result of run ${jobId}`);
  const why = isTerminal(value) ? 'and leaves none' : 'and has none yet';
  throw new SimbatchError(
    'result-not-ready',
    `run ${jobId} is ${value} ${why}; a result exists once a job is Completed, Failed or Timeout`,
  );
}

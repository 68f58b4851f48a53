/** The JSON encoding of the records of a job. Every job is written three times, so this is the hottest code of the write path. */
import { stringifyExact } from '../../../base/json/json-writing.ts';
import { equalityOf, mergeOf, namesOf } from '../../../contract/codegen/member-functions.ts';
import { JOB_MEMBERS, type JobHistoryState } from '../../../contract/members/members.ts';
import { JobRecord } from '../../../contract/records/records.ts';
import { StoredResult } from '../../../contract/resources/jobs.ts';
import type { JobStatus } from '../../../contract/types.ts';

/** The stored members of a job; the others come from its batch. */
interface EncodableJob {
  value: JobStatus;
  context: JobHistoryState;
}

const { value: _, ...history } = JobRecord.properties;
const toRecord = mergeOf<[EncodableJob, JobHistoryState], JobRecord>(['value'], namesOf(history));
const isSameHistory = equalityOf<JobHistoryState>(JOB_MEMBERS);

/** The job encoded last, and its record. */
let latest: { state: EncodableJob; json: string } | undefined;

/**
 * Returns the record of a job. The id is in the key, so the jobs that one request changes have equal records, which are
 * encoded once.
 */
export function encodeJob(state: EncodableJob): string {
  const isSame = latest?.state.value === state.value && isSameHistory(latest.state.context, state.context);
  if (latest === undefined || !isSame) latest = { state, json: JSON.stringify(toRecord(state, state.context)) };
  return latest.json;
}

const ofResult = mergeOf<[StoredResult], StoredResult>(namesOf(StoredResult.properties));

/** Returns the record of a result. Members that the runner measured are written as they came. */
export const encodeResult = (result: StoredResult): string => stringifyExact(ofResult(result));

/**
 * Ids: UUIDs version 8 (RFC 9562 section 5.8). 48 bits of milliseconds, 42 random bits, and 32 low bits that are 0 for a
 * batch and `run_id + 1` for its jobs. So a job id leads to its batch and its run, and ids sort in creation order.
 */
import type { Uuid } from './types.ts';

const UUID_V8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A new batch id. `nowMs` in ms since the epoch, `random` at least 6 bytes. */
export function newBatchId(nowMs: number, random: Uint8Array): Uuid {
  const time = nowMs.toString(16).padStart(12, '0').slice(-12);
  const hex = Buffer.from(random.subarray(0, 6)).toString('hex');
  const variant = (8 + (parseInt(hex.charAt(3), 16) & 3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-8${hex.slice(0, 3)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 11)}00000000`;
}

/** The id of run `runId` (0 to 2^32 - 2) of the batch. */
export function jobId(batchId: Uuid, runId: number): Uuid {
  return batchId.slice(0, 28) + (runId + 1).toString(16).padStart(8, '0');
}

/** True for an id in the form that `newBatchId` makes. */
export function isBatchId(id: string): boolean {
  return UUID_V8.test(id) && id.endsWith('00000000');
}

/** True for an id in the form that `jobId` makes. */
export function isJobId(id: string): boolean {
  return UUID_V8.test(id) && !id.endsWith('00000000');
}

let latest = { prefix: '', batchId: '' };

/** The batch of a job, by its id alone. Jobs are asked about batch by batch: the latest text is kept. */
export function batchIdOf(job: Uuid): Uuid {
  if (!job.startsWith(latest.prefix) || latest.prefix === '') {
    const prefix = job.slice(0, 28);
    latest = { prefix, batchId: `${prefix}00000000` };
  }
  return latest.batchId;
}

/** The run of a job, by its id alone. */
export function runIdOf(job: Uuid): number {
  return parseInt(job.slice(28), 16) - 1;
}

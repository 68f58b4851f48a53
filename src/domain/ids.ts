/**
 * Ids: UUIDs version 8 (RFC 9562 section 5.8). 48 bits of milliseconds, 42 random bits, and 32 low bits that are 0 for a
 * batch and `run_id + 1` for its jobs. A job id thus contains its batch and its run, and ids sort in creation order.
 */
import { BATCH_ID_PATTERN, JOB_ID_PATTERN } from '../contract/patterns.ts';
import type { Uuid } from '../contract/types.ts';

const BATCH_ID = new RegExp(BATCH_ID_PATTERN);
const JOB_ID = new RegExp(JOB_ID_PATTERN);

/** A new batch id. `nowMs` in ms since the epoch, `random` at least 6 bytes. */
export function newBatchId(nowMs: number, random: Uint8Array): Uuid {
  return formatId(nowMs, randomOf(Buffer.from(random.subarray(0, 6)).toString('hex')));
}

/** Returns the smallest batch id above `id`. */
export function nextBatchId(id: Uuid): Uuid {
  const hex = id.replaceAll('-', '');
  const timeMs = parseInt(hex.slice(0, 12), 16);
  const random = randomOf(hex.slice(13)) + 1;
  return random < 2 ** 42 ? formatId(timeMs, random) : formatId(timeMs + 1, 0);
}

/** 42 bits of 11 hexadecimal digits: all but the two of the fourth digit where an id has its variant. */
function randomOf(hex: string): number {
  const high = parseInt(hex.slice(0, 3), 16) * 4 + (parseInt(hex.charAt(3), 16) & 3);
  return high * 2 ** 28 + parseInt(hex.slice(4, 11), 16);
}

/** Formats an id of 48 bits of time and 42 random bits: 12 of these follow the version, 2 are in the variant, 28 follow it. */
function formatId(timeMs: number, random: number): Uuid {
  const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0').slice(-digits);
  const time = hex(timeMs, 12);
  const low = hex(random % 2 ** 28, 7);
  const variant = hex(8 + (Math.floor(random / 2 ** 28) % 4), 1);
  const high = hex(Math.floor(random / 2 ** 30), 3);
  return `${time.slice(0, 8)}-${time.slice(8)}-8${high}-${variant}${low.slice(0, 3)}-${low.slice(3)}00000000`;
}

/** The id of run `runId` (0 to 2^32 - 2) of the batch. */
export function jobId(batchId: Uuid, runId: number): Uuid {
  return commonPrefix(batchId) + (runId + 1).toString(16).padStart(8, '0');
}

/** True for an id in the form that `newBatchId` makes. */
export function isBatchId(id: string): boolean {
  return BATCH_ID.test(id);
}

/** True for an id in the form that `jobId` makes. */
export function isJobId(id: string): boolean {
  return id.length === ID_LENGTH && id.slice(0, PREFIX_LENGTH) === known ? hasRunDigits(id) : isNewJobId(id);
}

const ID_LENGTH = 36;
/** The characters of an id before those of its run. */
const PREFIX_LENGTH = 28;
/** The beginning of a valid id: the next one asked about has most likely the same. */
let known = '-';

function isNewJobId(id: string): boolean {
  const isValid = JOB_ID.test(id);
  if (isValid) known = id.slice(0, PREFIX_LENGTH);
  return isValid;
}

/** True when the digits of the run are lower-case hexadecimal and not all 0. */
function hasRunDigits(id: string): boolean {
  let bits = 0;
  for (let at = PREFIX_LENGTH; at < ID_LENGTH; at += 1) {
    const digit = id.charCodeAt(at);
    const isDigit = (digit >= ZERO && digit <= ZERO + 9) || (digit >= LETTER_A && digit <= LETTER_A + 5);
    if (!isDigit) return false;
    bits |= digit ^ ZERO;
  }
  return bits !== 0;
}

const ZERO = 48;
const LETTER_A = 97;

let latest: { prefix?: string; batchId: string } = { batchId: '' };

/** The batch of a job, by its id alone. Jobs are asked about batch by batch: the latest text is kept. */
export function batchIdOf(job: Uuid): Uuid {
  const prefix = job.slice(0, PREFIX_LENGTH);
  if (prefix !== latest.prefix) {
    latest = { prefix, batchId: `${prefix}00000000` };
  }
  return latest.batchId;
}

/** The run of a job, by its id alone. */
export function runIdOf(job: Uuid): number {
  return parseInt(job.slice(PREFIX_LENGTH), 16) - 1;
}

/** The characters with which the ids of a batch and of all its runs begin. */
export const commonPrefix = (id: Uuid): string => id.slice(0, PREFIX_LENGTH);

/** The part of a study's id that tables show and commands take in its place: its time in milliseconds, which names it. */
export const shortId = (id: string): string => id.slice(0, 13);

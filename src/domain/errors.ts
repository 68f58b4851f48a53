/**
 * The one error class of the product and the one table of its codes. A layer below HTTP knows no status code;
 * `http/problem.ts` maps a code to one. Every code has its heading in docs/api.md (a test insists).
 */
import type { Fault } from '../contract/types.ts';

/** code -> title. Codes are part of the interface: add, never rename. */
export const ERROR_TITLES = {
  'malformed-body': 'The request body is not valid JSON',
  'malformed-query': 'A query parameter is not valid',
  'not-found': 'There is nothing at this address',
  'unknown-job': 'No such run',
  'unknown-batch': 'No such study',
  'unknown-runner': 'No such runner',
  'unknown-file': 'No such file',
  'unknown-round': 'No such round',
  'result-not-ready': 'The run has no result yet',
  'method-not-allowed': 'This address does not take this method',
  'illegal-transition': 'The state does not allow this',
  'round-key-reused': 'The key names another round',
  'round-taken': 'The study has another round of this number',
  'round-out-of-order': 'The round is not the next one of the study',
  'budget-exhausted': 'The study has too few runs left for the round',
  'study-closed': 'The study takes no further rounds',
  'not-external': 'Clients do not append rounds to the study',
  'not-extendable': 'The study cannot be extended',
  'judgement-changed': 'The judgement of the study was amended meanwhile',
  'stale-attempt': 'The report is of an attempt that is no longer current',
  'code-differs': 'The study executes another code alone',
  'runner-id-in-use': 'Another live runner uses this id',
  'wrong-instance': 'The request comes from a runner process that is no longer the current one',
  'signed-off': 'The runner process has signed off',
  'artifact-not-uploaded': 'The file is on a runner that does not send it',
  'run-not-running': 'The run is not running',
  'live-telemetry-off': 'The study does not keep live telemetry',
  'live-telemetry-unavailable': 'The runner does not send live telemetry',
  'uploads-unavailable': 'Files cannot be uploaded',
  'answer-too-large': 'The study is too large for this answer',
  'file-too-large': 'The file is too large for one answer',
  'object-store-failed': 'The object store does not send the file',
  'range-not-satisfiable': 'The file does not have the requested bytes',
  'body-too-large': 'The request body is too large',
  'headers-too-large': 'The request headers are too large',
  'unsupported-media-type': 'The request body is not JSON',
  'invalid-request': 'The request does not have the documented shape',
  'idempotency-key-reused': 'The idempotency key was used with another request',
  'foreign-origin': 'The request comes from a foreign origin',
  unauthenticated: 'Credentials are missing or not valid',
  forbidden: 'The credentials do not allow this',
  'too-many-requests': 'Too many requests',
  unavailable: 'The coordinator is stopping, cannot write or is not ready',
  internal: 'The coordinator met a fault of its own',
  'request-timeout': 'The request did not arrive in time',
  // Errors of the layers below HTTP: opening the store and configuring a program.
  'store-locked': 'Another process uses this data directory',
  'store-newer': 'The data directory was written by a newer version',
  'store-unusable': 'The data directory cannot be used',
  'store-damaged': 'The data directory is damaged',
  'snapshot-newer': 'The snapshot was written by a newer version',
  'snapshot-unusable': 'The snapshot cannot be used',
  'invalid-configuration': 'The configuration is not valid',
} as const;
export type ErrorCode = keyof typeof ERROR_TITLES;

/** An error with a stable code. `message` names cause and remedy; `faults` lists all faults. */
export class SimbatchError extends Error {
  readonly code: ErrorCode;
  readonly faults: readonly Fault[] | undefined;

  constructor(code: ErrorCode, message: string, options: { faults?: readonly Fault[]; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SimbatchError';
    this.code = code;
    this.faults = options.faults;
  }
}

/** True for the error about a record that is missing or damaged: it concerns what the record belongs to, and nothing else. */
export const isDamage = (error: unknown): error is SimbatchError =>
  error instanceof SimbatchError && error.code === 'store-damaged';

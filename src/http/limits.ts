/** The limits of a server: configured and fixed ones. */
import { CLAIM_MS, LEASE_MS, MAX_INFRASTRUCTURE_FAULTS, MAX_LOSSES, OFFLINE_AFTER_MIN_MS } from '../domain/rules.ts';
import type { LimitsResponse } from '../contract/types.ts';
import type { CoordinatorOptions } from '../coordinator/options.ts';
import { SMALL_BYTES, type BodyLimits } from './request/body.ts';
import { LIMITS } from '../contract/limits.ts';

export interface HttpLimits extends BodyLimits {
  /** Bytes of all bodies over 64 KiB that are received and handled at once. */
  bodiesBytes: number;
  /** How long such a body waits for others. */
  bodyWaitMs: number;
  /** Most runs of one study. */
  runsPerBatch: number;
  /** Time limit for the headers of a request. */
  headersTimeoutMs: number;
  /** Time limit for a whole request, without its answer. */
  requestTimeoutMs: number;
  /** How long an unused connection is kept. */
  keepAliveTimeoutMs: number;
  /** A connection without traffic for this long is closed: its reader has stopped. Longer than the longest poll. */
  stallTimeoutMs: number;
  maxHeaderBytes: number;
}

export const DEFAULT_LIMITS: HttpLimits = {
  submissionBytes: 16 * 1024 * 1024,
  reportsBytes: 64 * 1024 * 1024,
  bodiesBytes: 256 * 1024 * 1024,
  bodyWaitMs: 10_000,
  // An answer about a study of this size holds less than 1.5 GB of memory.
  runsPerBatch: 10_000_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 30_000,
  stallTimeoutMs: 120_000,
  maxHeaderBytes: 16 * 1024,
};

/** Returns the answer of `GET /limits`. */
export function limitsResponse(limits: HttpLimits, options: CoordinatorOptions): LimitsResponse {
  return {
    submission_bytes: limits.submissionBytes,
    reports_bytes: limits.reportsBytes,
    small_body_bytes: SMALL_BYTES,
    header_bytes: limits.maxHeaderBytes,
    request_timeout_secs: limits.requestTimeoutMs / 1000,
    runs_per_batch: limits.runsPerBatch,
    dispersions: LIMITS.dispersions,
    conditions: LIMITS.conditions,
    variables: LIMITS.variables,
    name_length: LIMITS.nameLength,
    text_length: LIMITS.textLength,
    error_message_length: LIMITS.errorMessageLength,
    output_files: LIMITS.outputFiles,
    metadata_depth: LIMITS.freeFormDepth,
    metadata_values: LIMITS.freeFormValues,
    page_size: LIMITS.pageSize,
    wait_seconds: LIMITS.waitSeconds,
    jobs_per_claim: LIMITS.maxJobs,
    reports_per_request: LIMITS.reports,
    default_max_retries: options.defaultMaxRetries,
    max_losses: MAX_LOSSES,
    max_infrastructure_faults: MAX_INFRASTRUCTURE_FAULTS,
    claim_secs: CLAIM_MS / 1000,
    offline_after_min_secs: OFFLINE_AFTER_MIN_MS / 1000,
    lease_min_secs: LEASE_MS / 1000,
    idempotency_hours: options.idempotencyMs / 3_600_000,
    retain_days: (options.retainMs ?? 0) / 86_400_000,
  };
}

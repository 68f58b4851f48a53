/** Constants of the product's guarantees. Times are in milliseconds unless the name gives another unit. */

/** A claimed job whose start is not reported within this time goes back to Pending. */
export const CLAIM_MS = 60_000;

/** A runner without heartbeat for max(this, 3 x its interval) is Offline. */
export const OFFLINE_AFTER_MIN_MS = 15_000;

/** How long the jobs of a silent runner stay assigned to it before they are requeued. */
export const LEASE_MS = 60_000;

/** A running job that loses its runner this many times ends Failed: it is probably what kills them. */
export const MAX_LOSSES = 5;

/** A run that meets this many infrastructure faults ends Failed. They do not count as retries. */
export const MAX_INFRASTRUCTURE_FAULTS = 5;

/** Retries of a failed job when neither the study nor the server says otherwise. */
export const DEFAULT_MAX_RETRIES = 3;

export const DEFAULT_HEARTBEAT_INTERVAL_SECS = 5;

/** How many attempts of a job are kept in its history; older ones are only counted. */
export const HISTORY_LIMIT = 100;

/** Longest message kept of one attempt in the history, in UTF-16 units; the job's own `error_message` is kept whole. */
export const HISTORY_MESSAGE_LIMIT = 2_000;

/** How long a requeued run is reserved for a runner other than its last one, if such a runner is free. */
export const PREFER_OTHER_RUNNER_MS = 10_000;

/** How long a run of an audit is reserved for a runner other than that of the original run, while such a runner is connected. */
export const AUDIT_OTHER_RUNNER_MS = 600_000;

/** Time without heartbeat after which a runner has missed one, in ms. */
export const missedAfterMs = (heartbeatIntervalSecs: number): number => 1_500 * heartbeatIntervalSecs;

/** Time without heartbeat after which a runner with this heartbeat interval (in seconds) counts as silent. */
export function offlineAfterMs(heartbeatIntervalSecs: number): number {
  return Math.max(OFFLINE_AFTER_MIN_MS, 3 * heartbeatIntervalSecs * 1000);
}

/** Time without heartbeat after which the jobs of a runner are requeued: never before the runner counts as silent. */
export function leaseMs(heartbeatIntervalSecs: number): number {
  return Math.max(LEASE_MS, offlineAfterMs(heartbeatIntervalSecs));
}

/** Runs of a study that takes results of earlier runs in one plan, and results that one turn takes: some milliseconds. */
export const TAKEN_AT_ONCE = 48;

/** Runs that one turn assigns: one whose code is not compiled yet takes some 70 us for each. */
export const CLAIMED_AT_ONCE = 64;

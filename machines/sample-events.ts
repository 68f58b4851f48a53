/** Representative events of each machine for an actor in a state; deadlines at the moment they expire. For questions about what it would do. Pure. */
import type { StoredState } from './actor-player.ts';
import { CANARY_PATIENCE_MS, type BatchContext } from './batch.ts';
import type { JobContext } from './job-context.ts';
import type { MachineName } from './kinds.ts';
import type { NotificationContext } from './notification/context.ts';
import type { AnyEvent, JobChange, JobEvent } from './protocol.ts';
import { runnerDeadline, type RunnerContext } from './runner-context.ts';
import { leaseMs, offlineAfterMs } from '../src/domain/rules.ts';
import { FAIL_REASONS } from '../src/contract/enums.ts';

/** An event with its description in words. */
export type SampleEvent = [label: string, event: AnyEvent];

/** Representative events of each machine, one of each sort, for an actor in this state at its own latest time. */
export const SAMPLE_EVENTS: Readonly<Record<MachineName, (stored: StoredState) => SampleEvent[]>> = {
  job: (stored) => jobEvents(stored as unknown as JobContext),
  batch: (stored) => batchEvents(stored as unknown as BatchContext),
  runner: (stored) => runnerEvents(stored.value, stored as unknown as RunnerContext),
  notification: (stored) => notificationEvents(stored as unknown as NotificationContext),
  supervisor: () => [
    ['OPENED: the store is open', { type: 'OPENED', now: 0 }],
    ['TICK', { type: 'TICK', now: 0, due: [] }],
    ['FAULT: a turn threw', { type: 'FAULT', now: 0, operation: '', message: '' }],
    ['STOP', { type: 'STOP', now: 0 }],
    ['CLOSED: the store is closed', { type: 'CLOSED', now: 0 }],
    ['WRITE_FAILED: the disk did not take a change', { type: 'WRITE_FAILED', now: 0, message: '' }],
  ],
};

function jobEvents(c: JobContext): SampleEvent[] {
  const now = Math.max(c.startedAtMs ?? 0, c.claimedAtMs ?? 0, c.completedAtMs ?? 0);
  const runnerId = c.runnerId ?? 'any';
  const report = { runnerId, attempt: c.attempt, now };
  const due = c.dueAtMs ?? now;
  const fail = (reason: (typeof FAIL_REASONS)[number]): JobEvent => ({ type: 'FAIL', ...report, reason, message: '' });
  return [
    ['CLAIM by a runner', { type: 'CLAIM', runnerId: 'any', now }],
    [`START by ${runnerId}`, { type: 'START', ...report }],
    [`COMPLETE by ${runnerId}`, { type: 'COMPLETE', ...report }],
    ...FAIL_REASONS.map((reason): SampleEvent => [`FAIL (${reason}) by ${runnerId}`, fail(reason)]),
    [`HAND_BACK: ${runnerId} signs off`, { type: 'HAND_BACK', ...report }],
    [`UNCLAIM: ${runnerId} has not started it`, { type: 'UNCLAIM', ...report }],
    [`DOUBT_CODE: its code changed while ${runnerId} loaded it`, { type: 'DOUBT_CODE', ...report }],
    [`INTERRUPT: ${runnerId} is stopped`, { type: 'INTERRUPT', ...report, why: 'runner-stopped', message: '' }],
    [`RUNNER_LOST: ${runnerId} is gone`, { type: 'RUNNER_LOST', ...report, cause: '' }],
    [`CLAIM_EXPIRED${at(c.dueAtMs)}`, { type: 'CLAIM_EXPIRED', now: due }],
    [`TIME_LIMIT${at(c.dueAtMs)}`, { type: 'TIME_LIMIT', now: due }],
    ['REUSE: a finished run has the same key', { type: 'REUSE', from: '', endedAtMs: now, code: '', now }],
    ['CANCEL', { type: 'CANCEL', reason: undefined, now }],
  ];
}

function batchEvents(c: BatchContext): SampleEvent[] {
  const now = c.startedAtMs ?? c.createdAtMs;
  const about = { jobId: '', batchId: c.batchId, runId: c.next, runnerId: 'any', attempt: 1, now };
  const claimed: JobChange = {
    ...about,
    type: 'job.claimed',
    ...(c.selectsRuns === true ? { index: c.next } : {}),
    // A batch without an untouched run assigns requeued ones.
    requeued: c.next >= c.totalJobs,
    cpuMilli: 0,
    memoryBytes: 0,
  };
  const completed: JobChange = {
    ...about,
    type: 'job.ended',
    from: 'Running',
    to: 'Completed',
    touched: true,
    error: undefined,
    startedAtMs: now,
  };
  const reused: JobChange = {
    ...completed,
    runnerId: undefined,
    attempt: 0,
    from: 'Pending',
    touched: false,
    startedAtMs: undefined,
    reused: true,
    ...(c.selectsRuns === true ? { index: c.next } : {}),
  };
  const changed = (change: JobChange): AnyEvent => ({ type: 'JOBS_CHANGED', changes: [change], now });
  const pending = c.totalJobs - c.next - c.cancelledAhead + c.requeued;
  return [
    ...(pending > 0 ? [['JOBS_CHANGED: a run is claimed', changed(claimed)] satisfies SampleEvent] : []),
    ...(c.reuse !== undefined && c.next < c.totalJobs
      ? [['JOBS_CHANGED: a run has the result of another one', changed(reused)] satisfies SampleEvent]
      : []),
    ...(c.running > 0 ? [['JOBS_CHANGED: a run completes', changed(completed)] satisfies SampleEvent] : []),
    ['CANCEL', { type: 'CANCEL', reason: undefined, now }],
    ['SETTLE: every requirement is settled', { type: 'SETTLE', runId: 0, now }],
    ['PAUSE', { type: 'PAUSE', reason: undefined, now }],
    ['RESUME', { type: 'RESUME', now }],
    ...(c.growing === true
      ? ([
          ['APPEND: a round of one run', { type: 'APPEND', count: 1, now }],
          ['CLOSE', { type: 'CLOSE', now }],
        ] satisfies SampleEvent[])
      : []),
    ...(c.budget !== undefined && c.growing === undefined
      ? [['EXTEND: a study of rare events takes further runs', { type: 'EXTEND', runs: 1, now }] satisfies SampleEvent]
      : []),
    ['RELEASE: the runs after the canary runs', { type: 'RELEASE', now }],
    ...(c.canaryBatch === undefined
      ? []
      : ([
          ['CANARY_ENDED: the canary study has passed', { type: 'CANARY_ENDED', passed: true, now }],
          ['CANARY_ENDED: the canary study has failed', { type: 'CANARY_ENDED', passed: false, now }],
        ] satisfies SampleEvent[])),
    ['CANARY_LATE: the canary runs take long', { type: 'CANARY_LATE', now: now + CANARY_PATIENCE_MS }],
    ['BLOCK: a finding', { type: 'BLOCK', finding: { code: '', message: '', remedy: '' }, now }],
    ['UNBLOCK', { type: 'UNBLOCK', now }],
  ];
}

function notificationEvents(c: NotificationContext): SampleEvent[] {
  const now = c.retryAtMs;
  return [
    ['SEND: a request', { type: 'SEND', body: '', now }],
    ['ACCEPTED by its receiver', { type: 'ACCEPTED', now }],
    ['REJECTED by its receiver', { type: 'REJECTED', reason: '', now }],
    [`NO_ANSWER${at(c.answerByMs)}`, { type: 'NO_ANSWER', now: c.answerByMs ?? now }],
    [`EXPIRE${at(c.expiresAtMs)}`, { type: 'EXPIRE', now: c.expiresAtMs }],
    ['WITHDRAW: its receiver is not configured any more', { type: 'WITHDRAW', reason: '', now }],
  ];
}

function runnerEvents(value: string, c: RunnerContext): SampleEvent[] {
  const now = c.heardAtMs;
  const { instance } = c;
  const register = (by: string, replaces: string | undefined): AnyEvent => ({
    type: 'REGISTER',
    instance: by,
    replaces,
    name: c.name,
    capabilities: c.capabilities,
    tags: c.tags,
    heartbeatIntervalSecs: c.heartbeatIntervalSecs,
    holding: [],
    now,
  });
  const missing = runnerDeadline(value, c);
  const silentMs = now + offlineAfterMs(c.heartbeatIntervalSecs);
  const leaseEndMs = now + leaseMs(c.heartbeatIntervalSecs);
  return [
    ['REGISTER by the same process', register(instance, undefined)],
    ['REGISTER by a process that replaces it', register('another', instance)],
    ['REGISTER by a stranger', register('another', undefined)],
    ['HEARTBEAT', { type: 'HEARTBEAT', instance, holding: undefined, now }],
    ['JOBS_CHANGED', { type: 'JOBS_CHANGED', changes: [], now }],
    ['DRAIN', { type: 'DRAIN', reason: undefined, now }],
    ['QUARANTINE', { type: 'QUARANTINE', reason: 'its attempts fail', untilMs: now + 3_600_000, now }],
    [`DRAIN_ENDED${at(c.drainedUntilMs)}`, { type: 'DRAIN_ENDED', now: c.drainedUntilMs ?? now }],
    ['RESUME', { type: 'RESUME', now }],
    [`SILENCE${at(silentMs)}`, { type: 'SILENCE', now: silentMs }],
    [`LEASE_ENDED${at(leaseEndMs)}`, { type: 'LEASE_ENDED', now: leaseEndMs }],
    [`MISSING${at(missing?.atMs)}`, { type: 'MISSING', now: leaseEndMs }],
    ['ALLOCATION_ENDED: preempted', { type: 'ALLOCATION_ENDED', kind: 'preempted', reason: '', now }],
    ['SIGN_OFF', { type: 'SIGN_OFF', instance, now }],
  ];
}

const at = (ms: number | undefined): string => (ms === undefined ? '' : ` at ${new Date(ms).toISOString()}`);

/** Runners in every state, and every event of a runner, for the tests of its machine. */
import type { SnapshotFrom } from 'xstate';
import type { JobChange, RunnerEvent } from '../../machines/protocol.ts';
import type { HeldAttempt, RunnerContext } from '../../machines/runner-context.ts';
import { runnerMachine } from '../../machines/runner.ts';
import { ALLOCATION_ENDS } from '../../src/contract/enums.ts';
import type { RunnerStatus } from '../../src/contract/types.ts';

export const NOW = 1_000_000;
export const CAPABILITIES = {
  max_concurrent_jobs: 2,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
};

export const HELD: HeldAttempt = { jobId: 'j1', attempt: 1, cpuMilli: 0, memoryBytes: 0 };

const BLANK: RunnerContext = {
  runnerId: 'r1',
  name: 'r1',
  instance: 'i1',
  capabilities: CAPABILITIES,
  tags: [],
  heartbeatIntervalSecs: 5,
  registeredAtMs: NOW - 100_000,
  lastHeartbeatMs: NOW,
  heardAtMs: NOW,
  held: [],
  signedOffAtMs: undefined,
  drained: false,
  drainReason: undefined,
  drainedUntilMs: undefined,
  quarantined: undefined,
  countedSinceMs: undefined,
  completed: 0,
  failed: 0,
  slotsLost: undefined,
  machine: undefined,
  allocation: undefined,
  endsAtMs: undefined,
  ephemeral: undefined,
  hostname: undefined,
  engines: undefined,
  leaving: undefined,
  lost: undefined,
};

/** A runner with its last heartbeat at NOW, with changes. */
export function runnerIn(
  value: RunnerStatus,
  changes: Partial<RunnerContext> = {},
): SnapshotFrom<typeof runnerMachine> {
  return runnerMachine.resolveState({ value, context: { ...BLANK, ...changes } });
}

const about = { jobId: 'j1', batchId: 'b', runId: 0, runnerId: 'r1', attempt: 1, now: NOW };
export const CHANGES = {
  claimed: { ...about, jobId: 'j2', type: 'job.claimed', requeued: false, cpuMilli: 500, memoryBytes: 10 },
  started: { ...about, type: 'job.started' },
  failed: { ...about, type: 'job.requeued', from: 'Running', outcome: 'failed', why: 'exit' },
  released: { ...about, type: 'job.requeued', from: 'Claimed', outcome: 'released', why: 'claim-expired' },
  completed: ended('Completed'),
  timedOut: ended('Timeout'),
  cancelled: ended('Cancelled'),
} as const satisfies Record<string, JobChange>;

function ended(to: 'Completed' | 'Timeout' | 'Cancelled') {
  return { ...about, type: 'job.ended', from: 'Running', to, touched: true, error: undefined, startedAtMs: 1 } as const;
}

const changed = (...changes: JobChange[]): RunnerEvent => ({ type: 'JOBS_CHANGED', changes, now: NOW });
const register = (instance: string, replaces?: string, holding: { job_id: string; attempt: number }[] = []) =>
  ({
    type: 'REGISTER',
    instance,
    replaces,
    name: 'r1',
    capabilities: CAPABILITIES,
    tags: [],
    heartbeatIntervalSecs: 5,
    holding,
    now: NOW + 1000,
  }) as const;

export const RUNNER_EVENTS: Readonly<Record<string, RunnerEvent>> = {
  'REGISTER [same]': register('i1'),
  'REGISTER [new]': register('i2'),
  'REGISTER [new, replaces]': register('i2', 'i1'),
  'REGISTER [new, replaces, holding]': register('i2', 'i1', [{ job_id: 'j1', attempt: 1 }]),
  'REGISTER [new, replaces a stranger]': register('i2', 'i0'),
  HEARTBEAT: { type: 'HEARTBEAT', instance: 'i1', holding: [{ job_id: 'j1', attempt: 1 }], now: NOW + 1000 },
  'HEARTBEAT [holds nothing]': { type: 'HEARTBEAT', instance: 'i1', holding: [], now: NOW + 1000 },
  'HEARTBEAT [2 slots lost]': {
    type: 'HEARTBEAT',
    instance: 'i1',
    holding: [{ job_id: 'j1', attempt: 1 }],
    slotsLost: 2,
    now: NOW + 1000,
  },
  'HEARTBEAT [other]': { type: 'HEARTBEAT', instance: 'i2', holding: [], now: NOW + 1000 },
  'JOBS_CHANGED [claimed]': changed(CHANGES.claimed),
  'JOBS_CHANGED [started]': changed(CHANGES.started),
  'JOBS_CHANGED [failed]': changed(CHANGES.failed),
  'JOBS_CHANGED [released]': changed(CHANGES.released),
  'JOBS_CHANGED [completed]': changed(CHANGES.completed),
  'JOBS_CHANGED [timed out]': changed(CHANGES.timedOut),
  'JOBS_CHANGED [cancelled]': changed(CHANGES.cancelled),
  DRAIN: { type: 'DRAIN', reason: 'a new disk', now: NOW },
  RESUME: { type: 'RESUME', now: NOW },
  'RESUME [silent]': { type: 'RESUME', now: NOW + 15_000 },
  'SILENCE [1 ms early]': { type: 'SILENCE', now: NOW + 14_999 },
  'SILENCE [in time]': { type: 'SILENCE', now: NOW + 15_000 },
  'LEASE_ENDED [1 ms early]': { type: 'LEASE_ENDED', now: NOW + 59_999 },
  'LEASE_ENDED [in time]': { type: 'LEASE_ENDED', now: NOW + 60_000 },
  'MISSING [1 ms early]': { type: 'MISSING', now: NOW + 59_999 },
  'MISSING [in time]': { type: 'MISSING', now: NOW + 60_000 },
  ...Object.fromEntries(
    ALLOCATION_ENDS.map((kind) => [
      `ALLOCATION_ENDED [${kind}]`,
      { type: 'ALLOCATION_ENDED', kind, reason: kind, now: NOW + 7_499 },
    ]),
  ),
  ...Object.fromEntries(
    (['preempted', 'out-of-memory', 'gone'] as const).map((kind) => [
      `ALLOCATION_ENDED [${kind}, missed]`,
      { type: 'ALLOCATION_ENDED', kind, reason: kind, now: NOW + 7_500 },
    ]),
  ),
  SIGN_OFF: { type: 'SIGN_OFF', instance: 'i1', now: NOW },
  'SIGN_OFF [other]': { type: 'SIGN_OFF', instance: 'i2', now: NOW },
};

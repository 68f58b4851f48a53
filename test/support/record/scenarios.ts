/** Scenarios of single machines: rows of events. `record.ts` records their effects. */
import { NOTIFICATIONS } from './notifications.ts';
import type { AnyEvent, JobChange, JobEvent, RunnerEvent } from '../../../machines/protocol.ts';
import type { FailReason } from '../../../src/contract/types.ts';
import type { MachineName } from '../../../src/coordinator/snapshots/format.ts';

export interface ScenarioPlan {
  name: string;
  about: string;
  machine: MachineName;
  input: Record<string, unknown>;
  /** Events; a number is a restart of the coordinator at that time. */
  events: readonly (AnyEvent | number)[];
}

const T0 = Date.UTC(2026, 0, 1);
const SECOND = 1_000;
const BATCH = '019b76da-a800-8a1b-8c2d-3e4f00000000';
const JOB = '019b76da-a800-8a1b-8c2d-3e4f00000001';
const at = (seconds: number): number => T0 + seconds * SECOND;

const BLOCKING = { code: 'no-runner', message: 'no runner has registered', remedy: 'start one' };

const jobInput = {
  jobId: JOB,
  batchId: BATCH,
  runId: 0,
  maxRetries: 1,
  timeLimitMs: 30_000,
  cpuMilli: 500,
  memoryBytes: 1_048_576,
};

// Events of a job: by runner (r1, r2, ...), attempt and second.
const claim = (runner: number, second: number): JobEvent => ({
  type: 'CLAIM',
  runnerId: `r${runner}`,
  now: at(second),
});
const by = (runner: number, attempt: number, second: number) => ({ runnerId: `r${runner}`, attempt, now: at(second) });
const start = (runner: number, attempt: number, second: number): JobEvent => ({
  type: 'START',
  ...by(runner, attempt, second),
});
const complete = (runner: number, attempt: number, second: number): JobEvent => ({
  type: 'COMPLETE',
  ...by(runner, attempt, second),
});
const fail = (runner: number, attempt: number, second: number, reason: FailReason): JobEvent => ({
  type: 'FAIL',
  ...by(runner, attempt, second),
  reason,
  message: `the simulation ended: ${reason}`,
});
const handBack = (runner: number, attempt: number, second: number): JobEvent => ({
  type: 'HAND_BACK',
  ...by(runner, attempt, second),
});
const lost = (runner: number, attempt: number, second: number): JobEvent => ({
  type: 'RUNNER_LOST',
  ...by(runner, attempt, second),
  cause: 'sent no heartbeat for 60 s',
});
const cancel = (second: number): { type: 'CANCEL'; reason: string | undefined; now: number } => ({
  type: 'CANCEL',
  reason: 'wrong mass',
  now: at(second),
});

const job = (name: string, about: string, ...events: (JobEvent | number)[]): ScenarioPlan => ({
  name: `job-${name}`,
  about,
  machine: 'job',
  input: jobInput,
  events,
});

const JOBS: readonly ScenarioPlan[] = [
  job('completed', 'One attempt, one success.', claim(1, 1), start(1, 1, 2), complete(1, 1, 9)),
  job(
    'retried-then-completed',
    'It fails once and succeeds on another runner.',
    claim(1, 1),
    start(1, 1, 2),
    fail(1, 1, 5, 'exit'),
    claim(2, 6),
    start(2, 2, 7),
    complete(2, 2, 12),
  ),
  job(
    'retries-exhausted',
    'It fails as often as it may, and once more.',
    claim(1, 1),
    start(1, 1, 2),
    fail(1, 1, 5, 'exit'),
    claim(2, 6),
    start(2, 2, 7),
    fail(2, 2, 9, 'signal'),
  ),
  job(
    'early-termination',
    'The watchdog killed it: the same inputs would end the same way, so it is not retried.',
    claim(1, 1),
    start(1, 1, 2),
    fail(1, 1, 4, 'early_termination'),
  ),
  job('invalid', 'The run cannot be done at all.', claim(1, 1), start(1, 1, 2), fail(1, 1, 3, 'invalid')),
  job(
    'timeout-by-coordinator',
    'The coordinator ends it at its limit, not a moment before.',
    claim(1, 1),
    start(1, 1, 2),
    {
      type: 'TIME_LIMIT',
      now: at(32) - 1,
    },
    { type: 'TIME_LIMIT', now: at(32) },
    complete(1, 1, 33),
  ),
  job(
    'timeout-by-runner',
    'The runner says that the limit has passed.',
    claim(1, 1),
    start(1, 1, 2),
    fail(1, 1, 32, 'timeout'),
  ),
  job('cancelled-pending', 'Cancelled before anybody claimed it.', cancel(3)),
  job('cancelled-claimed', 'Cancelled between claim and start.', claim(1, 1), cancel(3), start(1, 1, 4)),
  job('cancelled-running', 'Cancelled while it runs.', claim(1, 1), start(1, 1, 2), cancel(3), complete(1, 1, 4)),
  job(
    'cancelled-requeued',
    'Cancelled between two attempts.',
    claim(1, 1),
    start(1, 1, 2),
    fail(1, 1, 5, 'infrastructure'),
    cancel(6),
    claim(2, 7),
  ),
  job(
    'claim-expired',
    'Never started: given to another runner after a minute.',
    claim(1, 0),
    { type: 'CLAIM_EXPIRED', now: at(60) - 1 } as const,
    { type: 'CLAIM_EXPIRED', now: at(60) } as const,
    start(1, 1, 61),
    claim(2, 62),
    start(2, 2, 63),
    complete(2, 2, 64),
  ),
  job(
    'claim-restarted',
    'The coordinator restarts: the time of a claim begins anew.',
    claim(1, 0),
    at(50),
    { type: 'CLAIM_EXPIRED', now: at(60) } as const,
    { type: 'CLAIM_EXPIRED', now: at(110) } as const,
  ),
  job(
    'running-restarted',
    'The coordinator restarts after the limit: the runner has a minute to say how it ended.',
    claim(1, 0),
    start(1, 1, 1),
    at(40),
    { type: 'TIME_LIMIT', now: at(41) } as const,
    complete(1, 1, 42),
  ),
  job(
    'lost-to-the-bound',
    'It outlives none of five runners and ends Failed.',
    ...[1, 2, 3, 4, 5].flatMap((n) => [claim(n, 100 * n), start(n, n, 100 * n + 1), lost(n, n, 100 * n + 90)]),
  ),
  job(
    'faults-to-the-bound',
    'It meets five infrastructure faults, which use up no retry, and ends Failed.',
    ...[1, 2, 3, 4, 5].flatMap((n) => [
      claim(n, 100 * n),
      start(n, n, 100 * n + 1),
      fail(n, n, 100 * n + 2, 'infrastructure'),
    ]),
  ),
  job('lost-unstarted', 'Its runner is gone before it started: nothing is counted.', claim(1, 1), lost(1, 1, 61)),
  job('handed-back-claimed', 'Its runner signs off before it started.', claim(1, 1), handBack(1, 1, 2)),
  job('handed-back-running', 'Its runner signs off and hands it back.', claim(1, 1), start(1, 1, 2), handBack(1, 1, 3)),
  job(
    'stale-reports',
    'Reports of attempts that are not current change nothing.',
    claim(1, 0),
    { type: 'CLAIM_EXPIRED', now: at(60) } as const,
    claim(2, 61),
    start(1, 1, 62),
    complete(1, 1, 63),
    start(2, 2, 64),
    complete(1, 2, 65),
    fail(2, 1, 66, 'exit'),
    complete(2, 2, 67),
  ),
];

const batchInput = {
  batchId: BATCH,
  name: 'a study',
  configHash: 'c0ffee',
  createdAtMs: T0,
  simulationName: 'rocket',
  totalJobs: 3,
  maxParallelJobs: 0,
  maxRetries: 1,
  timeLimitMs: 30_000,
  cpuMilli: 500,
  memoryBytes: 1_048_576,
  samplingScheme: 'v1',
};

const about = (run: number, second: number) => ({
  jobId: `${JOB.slice(0, 35)}${run + 1}`,
  batchId: BATCH,
  runId: run,
  runnerId: 'r1',
  attempt: 1,
  now: at(second),
});
const claimed = (run: number, second: number, requeued = false): JobChange => ({
  type: 'job.claimed',
  ...about(run, second),
  requeued,
  cpuMilli: 500,
  memoryBytes: 1_048_576,
});
const started = (run: number, second: number): JobChange => ({ type: 'job.started', ...about(run, second) });
const requeued = (run: number, second: number): JobChange => ({
  type: 'job.requeued',
  ...about(run, second),
  from: 'Running',
  outcome: 'failed',
  why: 'exit',
});
const ended = (
  run: number,
  second: number,
  to: 'Completed' | 'Failed' | 'Timeout' | 'Cancelled',
  from: 'Pending' | 'Claimed' | 'Running' = 'Running',
): JobChange => ({
  type: 'job.ended',
  ...about(run, second),
  runnerId: from === 'Pending' ? undefined : 'r1',
  from,
  to,
  touched: from !== 'Pending',
  error: undefined,
  startedAtMs: from === 'Running' ? at(second - 1) : undefined,
});
const jobsChanged = (...changes: JobChange[]) => ({
  type: 'JOBS_CHANGED' as const,
  changes,
  now: changes.at(-1)?.now ?? T0,
});

const pause = (second: number): AnyEvent => ({ type: 'PAUSE', reason: 'a look', now: at(second) });

const batch = (name: string, sentence: string, totalJobs: number, ...events: AnyEvent[]): ScenarioPlan => ({
  name: `batch-${name}`,
  about: sentence,
  machine: 'batch',
  input: { ...batchInput, totalJobs },
  events,
});

const append = (second: number, count: number): AnyEvent => ({ type: 'APPEND', count, now: at(second) });
const close = (second: number): AnyEvent => ({ type: 'CLOSE', now: at(second) });

const BATCHES: readonly ScenarioPlan[] = [
  {
    ...batch(
      'rounds',
      'Begins without runs, grows by two rounds within its budget of four, waits for rows between them, and ends when it is closed.',
      0,
      append(1, 2),
      append(2, 3),
      jobsChanged(claimed(0, 3), claimed(1, 3), started(0, 4), started(1, 4)),
      jobsChanged(ended(0, 5, 'Completed'), ended(1, 5, 'Failed')),
      append(6, 0),
      append(7, 2),
      jobsChanged(claimed(2, 8), started(2, 9), ended(2, 10, 'Completed')),
      close(11),
      close(12),
      append(13, 1),
      jobsChanged(claimed(3, 14), started(3, 15), ended(3, 16, 'Completed')),
    ),
    input: { ...batchInput, totalJobs: 0, budget: 4 },
  },
  batch('empty', 'No runs: Completed at once.', 0, cancel(1)),
  batch(
    'completed',
    'Three runs, of which one is tried twice and one fails for good.',
    3,
    jobsChanged(claimed(0, 1), claimed(1, 1)),
    jobsChanged(started(0, 2), started(1, 2)),
    jobsChanged(requeued(0, 3), ended(1, 3, 'Completed')),
    jobsChanged(claimed(0, 4, true), claimed(2, 4)),
    jobsChanged(started(0, 5), started(2, 5)),
    jobsChanged(ended(0, 6, 'Completed')),
    jobsChanged(ended(2, 7, 'Failed')),
    cancel(8),
  ),
  batch(
    'failed',
    'No run succeeded.',
    2,
    jobsChanged(claimed(0, 1), claimed(1, 1), started(0, 2), started(1, 2)),
    jobsChanged(ended(0, 3, 'Failed'), ended(1, 4, 'Timeout')),
  ),
  batch(
    'paused-and-resumed',
    'Paused twice and resumed twice; the repeats change nothing.',
    3,
    jobsChanged(claimed(0, 1)),
    pause(2),
    pause(3),
    { type: 'RESUME', now: at(4) },
    { type: 'RESUME', now: at(5) },
  ),
  batch(
    'blocked-and-unblocked',
    'A finding blocks it, then none does; the repeats change nothing.',
    3,
    jobsChanged(claimed(0, 1)),
    { type: 'BLOCK', finding: BLOCKING, now: at(2) },
    { type: 'BLOCK', finding: BLOCKING, now: at(3) },
    { type: 'UNBLOCK', now: at(4) },
    { type: 'UNBLOCK', now: at(5) },
  ),
  {
    ...batch(
      'canary-failed',
      'A canary run fails: the others wait for a release, and the third failure cancels them.',
      6,
      jobsChanged(claimed(0, 1), claimed(1, 1), started(0, 2), started(1, 2)),
      jobsChanged(ended(0, 3, 'Completed'), { ...ended(1, 4, 'Failed'), terminated: true } as JobChange),
      { type: 'RELEASE', now: at(5) },
      { type: 'RELEASE', now: at(6) },
      jobsChanged(claimed(2, 7), claimed(3, 7), started(2, 8), started(3, 8)),
      jobsChanged(ended(2, 9, 'Failed')),
      jobsChanged(ended(3, 10, 'Timeout')),
    ),
    input: { ...batchInput, totalJobs: 6, canaryRuns: 2, maxFailures: 2, priority: 1 },
  },
  batch('cancelled-pending', 'Cancelled before its first claim.', 3, cancel(1)),
  batch(
    'cancelled-running',
    'Cancelled while a run runs: it is over when that run is.',
    3,
    jobsChanged(claimed(0, 1)),
    jobsChanged(started(0, 2)),
    cancel(3),
    jobsChanged(ended(0, 3, 'Cancelled')),
  ),
  batch(
    'single-runs-cancelled',
    'Runs are cancelled one by one, ahead of the cursor; the others complete.',
    3,
    jobsChanged(ended(1, 1, 'Cancelled', 'Pending')),
    jobsChanged(claimed(0, 2), started(0, 3), ended(0, 4, 'Completed')),
    jobsChanged(claimed(2, 5), started(2, 6), ended(2, 7, 'Completed')),
  ),
  batch(
    'all-runs-cancelled',
    'Each run is cancelled by itself: so is the study.',
    2,
    jobsChanged(ended(0, 1, 'Cancelled', 'Pending')),
    jobsChanged(ended(1, 2, 'Cancelled', 'Pending')),
  ),
];

const register = (instance: string, second: number, replaces?: string, holding: number[] = []): RunnerEvent => ({
  type: 'REGISTER',
  instance,
  replaces,
  name: 'bench 1',
  capabilities: {
    max_concurrent_jobs: 2,
    cpu_cores: 8,
    memory_gb: 16,
    gpu_available: false,
    supported_simulation_types: ['rocket'],
  },
  tags: ['lab'],
  heartbeatIntervalSecs: 5,
  holding: holding.map((run) => ({ job_id: about(run, 0).jobId, attempt: 1 })),
  now: at(second),
});
const heartbeat = (second: number, holding: number[] = [], instance = 'i1'): RunnerEvent => ({
  type: 'HEARTBEAT',
  instance,
  holding: holding.map((run) => ({ job_id: about(run, 0).jobId, attempt: 1 })),
  now: at(second),
});
const drain = (second: number): RunnerEvent => ({ type: 'DRAIN', reason: 'a new disk', now: at(second) });
const resume = (second: number): RunnerEvent => ({ type: 'RESUME', now: at(second) });
const silence = (second: number): RunnerEvent => ({ type: 'SILENCE', now: at(second) });
const leaseEnded = (second: number): RunnerEvent => ({ type: 'LEASE_ENDED', now: at(second) });
const signOff = (second: number, instance = 'i1'): RunnerEvent => ({ type: 'SIGN_OFF', instance, now: at(second) });

const runner = (name: string, sentence: string, ...events: (RunnerEvent | number)[]): ScenarioPlan => ({
  name: `runner-${name}`,
  about: sentence,
  machine: 'runner',
  input: { runnerId: 'r1', now: T0 },
  events,
});

const RUNNERS: readonly ScenarioPlan[] = [
  runner(
    'works',
    'It registers, takes two runs, ends them and is idle again.',
    register('i1', 1),
    jobsChanged(claimed(0, 2), claimed(1, 2)),
    heartbeat(5, [0, 1]),
    jobsChanged(started(0, 6)),
    jobsChanged(ended(0, 8, 'Completed')),
    jobsChanged(requeued(1, 9)),
    heartbeat(10),
  ),
  runner(
    'drained-and-resumed',
    'Drained with a run in hand, it finishes that and takes no other until it is resumed.',
    register('i1', 1),
    jobsChanged(claimed(0, 2)),
    drain(3),
    heartbeat(5, [0]),
    jobsChanged(ended(0, 8, 'Completed')),
    resume(9),
    resume(10),
  ),
  runner(
    'drained-across-offline',
    'Drain outlives silence, a restart of the coordinator and a new registration.',
    register('i1', 1),
    drain(2),
    silence(16),
    at(30),
    heartbeat(31),
    silence(46),
    register('i2', 50),
    resume(51),
  ),
  runner(
    'lease-ended',
    'Silent for fifteen seconds it is Offline; after a minute what it held is given away.',
    register('i1', 0),
    jobsChanged(claimed(0, 1), started(0, 2)),
    { type: 'SILENCE', now: at(15) - 1 },
    silence(15),
    { type: 'LEASE_ENDED', now: at(60) - 1 },
    leaseEnded(60),
    jobsChanged({ ...requeued(0, 60), outcome: 'lost', why: 'runner-lost' } as JobChange),
    heartbeat(70),
  ),
  runner(
    'back-in-time',
    'It comes back before its lease ends and keeps what it holds.',
    register('i1', 0),
    jobsChanged(claimed(0, 1)),
    silence(15),
    heartbeat(40, [0]),
    jobsChanged(ended(0, 41, 'Completed')),
  ),
  runner(
    'no-longer-names-a-run',
    'A run it no longer names is given away after a lease; one it names again is kept.',
    register('i1', 0),
    jobsChanged(claimed(0, 1), claimed(1, 1)),
    heartbeat(5, [0]),
    heartbeat(10, [0, 1]),
    heartbeat(15, [1]),
    heartbeat(74, [1]),
    { type: 'MISSING', now: at(75) - 1 },
    { type: 'MISSING', now: at(75) },
  ),
  runner(
    'replaced',
    'A new process takes over: what it does not name is lost with the old one. A stranger may not.',
    register('i1', 0),
    jobsChanged(claimed(0, 1), claimed(1, 1)),
    register('i3', 2),
    register('i2', 3, 'i1', [0]),
    heartbeat(4, [], 'i1'),
  ),
  runner(
    'signed-off',
    'It leaves, what it holds goes back, and only a registration brings it back.',
    register('i1', 0),
    jobsChanged(claimed(0, 1)),
    signOff(2, 'i9'),
    signOff(3),
    jobsChanged({ ...requeued(0, 3), from: 'Claimed', outcome: 'released', why: 'signed-off' } as JobChange),
    heartbeat(4),
    register('i1', 5),
    heartbeat(6),
  ),
];

const supervisor = (name: string, sentence: string, ...events: AnyEvent[]): ScenarioPlan => ({
  name: `supervisor-${name}`,
  about: sentence,
  machine: 'supervisor',
  input: { now: T0 },
  events,
});
const due = { address: `job/${JOB}`, kind: 'claim' } as const;

const SUPERVISORS: readonly ScenarioPlan[] = [
  supervisor(
    'serves-and-stops',
    'It opens, tells which deadlines have passed, counts a fault and stops in order.',
    { type: 'TICK', now: at(0), due: [] },
    { type: 'OPENED', now: at(1) },
    { type: 'TICK', now: at(2), due: [] },
    { type: 'TICK', now: at(3), due: [due] },
    { type: 'FAULT', now: at(4), operation: 'claim', message: 'out of range' },
    { type: 'STOP', now: at(5) },
    { type: 'CLOSED', now: at(6) },
  ),
  supervisor(
    'clock-steps-back',
    'A clock that is set back is seen as standing still.',
    { type: 'OPENED', now: at(10) },
    { type: 'TICK', now: at(5), due: [] },
    { type: 'TICK', now: at(11), due: [] },
  ),
  supervisor(
    'write-failed',
    'The disk does not take a change: the system ends at once.',
    { type: 'OPENED', now: at(1) },
    { type: 'WRITE_FAILED', now: at(2), message: 'no space is left on the device' },
    { type: 'TICK', now: at(3), due: [due] },
  ),
];

export const SCENARIOS: readonly ScenarioPlan[] = [...JOBS, ...BATCHES, ...RUNNERS, ...NOTIFICATIONS, ...SUPERVISORS];

/**
 * What the actors hear (events, verbs in capitals) and what they tell (facts, past and dotted). Which fact becomes which
 * event of whom is in `src/coordinator/turn/wiring.ts`. Times are milliseconds since the epoch, and always come in with the event.
 */
import type {
  AttemptOutcome,
  AttemptRef,
  FailReason,
  JobStatus,
  RunnerCapabilities,
  Uuid,
} from '../src/contract/types.ts';

/** `batch/<id>`, `job/<id>`, `runner/<id>` or `supervisor`. */
export type Address = `batch/${string}` | `job/${string}` | `runner/${string}` | 'supervisor';

/** What a deadline is about; the actor that owns it decides whether it has really passed. */
export type DeadlineKind = 'claim' | 'time-limit' | 'silence' | 'lease' | 'missing';

export interface Deadline {
  kind: DeadlineKind;
  atMs: number;
}

export interface DueDeadline {
  address: Address;
  kind: DeadlineKind;
}

/** Why an attempt was given back without counting against the run. */
export type ReleaseCause = 'claim-expired' | 'signed-off' | 'runner-lost' | 'not-held';

export type JobEvent =
  | { type: 'CLAIM'; runnerId: string; now: number }
  | { type: 'START'; runnerId: string; attempt: number; now: number }
  | { type: 'COMPLETE'; runnerId: string; attempt: number; now: number }
  | { type: 'FAIL'; runnerId: string; attempt: number; reason: FailReason; message: string; now: number }
  | { type: 'CANCEL'; reason: string | undefined; now: number }
  | { type: 'HAND_BACK'; runnerId: string; attempt: number; now: number }
  | { type: 'RUNNER_LOST'; runnerId: string; attempt: number; cause: string; now: number }
  | { type: 'CLAIM_EXPIRED'; now: number }
  | { type: 'TIME_LIMIT'; now: number };

/** One change of a job as its batch and its runner are told of it; several travel in one JOBS_CHANGED, in order. */
export type JobChange = JobClaimed | JobStarted | JobRequeued | JobEnded;

interface AboutJob {
  jobId: Uuid;
  batchId: Uuid;
  runId: number;
  /** The runner of the attempt; absent when a job is cancelled while Pending. */
  runnerId: string | undefined;
  attempt: number;
  now: number;
}
export interface JobClaimed extends AboutJob {
  type: 'job.claimed';
  runnerId: string;
  /** True when the run came from the requeued ones, false when it was untouched. */
  requeued: boolean;
  cpuMilli: number;
  memoryBytes: number;
}
export interface JobStarted extends AboutJob {
  type: 'job.started';
}
export interface JobRequeued extends AboutJob {
  type: 'job.requeued';
  runnerId: string;
  from: 'Claimed' | 'Running';
  outcome: AttemptOutcome;
  why: ReleaseCause | FailReason;
}
export interface JobEnded extends AboutJob {
  type: 'job.ended';
  from: 'Pending' | 'Claimed' | 'Running';
  to: Extract<JobStatus, 'Completed' | 'Failed' | 'Timeout' | 'Cancelled'>;
  /** Was it ever claimed? An untouched run has no place among the requeued ones. */
  touched: boolean;
  error: string | undefined;
  startedAtMs: number | undefined;
}

export type BatchEvent =
  | { type: 'JOBS_CHANGED'; changes: readonly JobChange[]; now: number }
  | { type: 'CANCEL'; reason: string | undefined; now: number };

export interface BatchOpened {
  type: 'batch.opened';
  batchId: Uuid;
  totalJobs: number;
  now: number;
}
/** The batch is being cancelled: its touched jobs that are not terminal have yet to hear of it. */
export interface BatchCancelling {
  type: 'batch.cancelling';
  batchId: Uuid;
  reason: string | undefined;
  now: number;
}
export interface BatchEnded {
  type: 'batch.ended';
  batchId: Uuid;
  status: 'Completed' | 'Failed' | 'Cancelled';
  now: number;
}

/** The operator deleted an ended batch: nobody can read it or its jobs any more. */
export interface BatchDeleted {
  type: 'batch.deleted';
  batchId: Uuid;
  now: number;
}

export interface RegisterEvent {
  type: 'REGISTER';
  instance: string;
  /** The instance that the new process knows to be dead. */
  replaces: string | undefined;
  name: string;
  capabilities: RunnerCapabilities;
  tags: readonly string[];
  heartbeatIntervalSecs: number;
  holding: readonly AttemptRef[];
  now: number;
}

export type RunnerEvent =
  | RegisterEvent
  | { type: 'HEARTBEAT'; instance: string; holding: readonly AttemptRef[] | undefined; now: number }
  | { type: 'JOBS_CHANGED'; changes: readonly JobChange[]; now: number }
  | { type: 'DRAIN'; reason: string | undefined; now: number }
  | { type: 'RESUME'; now: number }
  | { type: 'SILENCE'; now: number }
  | { type: 'LEASE_ENDED'; now: number }
  | { type: 'MISSING'; now: number }
  | { type: 'SIGN_OFF'; instance: string; now: number };

export interface RunnerFact {
  type: 'runner.registered' | 'runner.online' | 'runner.silent' | 'runner.drained' | 'runner.resumed';
  runnerId: string;
  now: number;
}
/** These attempts are over because their runner is gone, or says that it no longer has them. */
export interface RunnerLost {
  type: 'runner.lost';
  runnerId: string;
  held: readonly AttemptRef[];
  /** Half a sentence for people: "sent no heartbeat for 60 s". */
  cause: string;
  now: number;
}
export interface RunnerSignedOff {
  type: 'runner.signed-off';
  runnerId: string;
  held: readonly AttemptRef[];
  now: number;
}

/** The operator deleted a runner that was gone. */
export interface RunnerForgotten {
  type: 'runner.forgotten';
  runnerId: string;
  now: number;
}

export type SupervisorEvent =
  | { type: 'OPENED'; now: number }
  | { type: 'TICK'; now: number; due: readonly DueDeadline[] }
  | { type: 'FAULT'; now: number; operation: string; message: string }
  | { type: 'STOP'; now: number }
  | { type: 'CLOSED'; now: number }
  | { type: 'WRITE_FAILED'; now: number; message: string };

export interface DeadlinePassed {
  type: 'deadline.passed';
  address: Address;
  kind: DeadlineKind;
  now: number;
}
export interface SupervisorFact {
  type: 'system.serving' | 'system.stopping' | 'system.stopped' | 'system.failed' | 'system.faulted';
  now: number;
}

export type JobFact = JobChange;
export type BatchFact = BatchOpened | BatchCancelling | BatchEnded;
/** Facts about what has gone, told by the turn that took it away: nobody is left to tell them. */
export type DeletionFact = BatchDeleted | RunnerForgotten;
export type Fact =
  JobFact | BatchFact | RunnerFact | RunnerLost | RunnerSignedOff | DeadlinePassed | SupervisorFact | DeletionFact;
export type FactType = Fact['type'];
export type AnyEvent = JobEvent | BatchEvent | RunnerEvent | SupervisorEvent;

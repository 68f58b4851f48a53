/**
 * The events that actors take (verbs in capitals) and the facts that they emit (past tense, dotted). The table in
 * `src/coordinator/kernel/turn/wiring.ts` routes facts to actors as events. Times are milliseconds since the epoch; every event carries its own.
 */
import type { DeadlineKind } from './deadline.ts';
import type { NotificationEvent, NotificationFact } from './notification/events.ts';
import type { RunTelemetry } from './telemetry-tally.ts';
import type {
  AttemptOutcome,
  AttemptRef,
  FailReason,
  JobStatus,
  RunnerCapabilities,
  RunnerContext,
  Uuid,
} from '../src/contract/types.ts';

/** `batch/<id>`, `job/<id>`, `runner/<id>`, `notification/<id>` or `supervisor`. */
export type Address =
  `batch/${string}` | `job/${string}` | `runner/${string}` | `notification/${string}` | 'supervisor';
/** The measure of the supervisor for an actor that throws, by `supervisor/policy.ts`. */
export type Measure = 'restart' | 'forget';

export interface DueDeadline {
  address: Address;
  kind: DeadlineKind;
}

/** Why an attempt was released without counting against the run. */
export type ReleaseCause = 'claim-expired' | 'signed-off' | 'runner-lost' | 'not-held' | 'handed-back';

export type JobEvent =
  | {
      type: 'CLAIM';
      runnerId: string;
      /** The index of the run among those of its batch, for a batch that holds a selection of its design. */
      index?: number;
      now: number;
    }
  | { type: 'START'; runnerId: string; attempt: number; now: number }
  | {
      type: 'COMPLETE';
      runnerId: string;
      attempt: number;
      telemetry?: RunTelemetry;
      outcomes?: string;
      now: number;
    }
  | {
      type: 'FAIL';
      runnerId: string;
      attempt: number;
      reason: FailReason;
      message: string;
      /** The error of the simulation itself, without the parts that vary; absent where another attempt may end otherwise. */
      ownError?: string;
      telemetry?: RunTelemetry;
      now: number;
    }
  | { type: 'CANCEL'; reason: string | undefined; now: number }
  | { type: 'HAND_BACK'; runnerId: string; attempt: number; now: number }
  /** The run waits on its runner, which has not started it. */
  | { type: 'UNCLAIM'; runnerId: string; attempt: number; now: number }
  | { type: 'RUNNER_LOST'; runnerId: string; attempt: number; cause: string; now: number }
  | { type: 'CLAIM_EXPIRED'; now: number }
  | { type: 'TIME_LIMIT'; now: number };

/** One change of a job, for its batch and its runner; one JOBS_CHANGED carries several, in order. */
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
  /** The index of the run among those of its batch; absent where that is the run id. */
  index?: number;
  /** True when the run was requeued before, false when it was untouched. */
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
  /** True when the job was claimed at least once. An untouched run is not in the requeue index. */
  touched: boolean;
  /** True when an early-termination condition ended the run: an answer, not a fault. */
  terminated?: true;
  error: string | undefined;
  startedAtMs: number | undefined;
  /** Absent when its runner did not report it. */
  telemetry?: RunTelemetry;
  /** The outcome of a Completed run under each requirement of its study, a letter each; absent without requirements. */
  outcomes?: string;
}

export type BatchEvent =
  | { type: 'JOBS_CHANGED'; changes: readonly JobChange[]; now: number }
  | { type: 'CANCEL'; reason: string | undefined; now: number }
  /** Every requirement is settled, the last one by this run of the complete prefix. */
  | { type: 'SETTLE'; runId: number; now: number }
  | { type: 'PAUSE'; reason: string | undefined; now: number }
  | { type: 'RESUME'; now: number }
  /** A finding has kept every pending run from starting for the dwell time. */
  | { type: 'BLOCK'; finding: BlockingFinding; now: number }
  /** None has for the dwell time. */
  | { type: 'UNBLOCK'; now: number }
  /** The canary runs have taken long. */
  | { type: 'CANARY_LATE'; now: number }
  | { type: 'RELEASE'; reason?: string; now: number };

export interface BatchOpened {
  type: 'batch.opened';
  batchId: Uuid;
  totalJobs: number;
  now: number;
}
/** The batch is being cancelled: each of its touched jobs that is not terminal has yet to take CANCEL. */
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

/** The assignment of runs was paused, resumed, or extended beyond the canary runs; or these have ended. */
export interface BatchFlow {
  type:
    | 'batch.paused'
    | 'batch.resumed'
    | 'batch.released'
    | 'batch.canary-passed'
    | 'batch.canary-failed'
    | 'batch.canary-late';
  batchId: Uuid;
  now: number;
}

/** The finding that blocks a batch, as it is announced. */
export interface BlockingFinding {
  code: string;
  message: string;
  remedy: string;
}
/** A finding keeps the pending runs of a batch from starting, beyond the dwell time. */
export interface BatchBlocked {
  type: 'batch.blocked';
  batchId: Uuid;
  finding: BlockingFinding;
  now: number;
}
export interface BatchUnblocked {
  type: 'batch.unblocked';
  batchId: Uuid;
  now: number;
}

/** More runs of a batch were judged under its requirements; the record of its verdicts has changed. */
export interface BatchJudged {
  type: 'batch.judged';
  batchId: Uuid;
  /** The requirements that these runs settled, and how many are settled now; absent: none. */
  settled?: { names: readonly string[]; total: number };
  now: number;
}

/** An operator deleted an ended batch, with its jobs. */
export interface BatchDeleted {
  type: 'batch.deleted';
  batchId: Uuid;
  now: number;
}

export interface RegisterEvent {
  type: 'REGISTER';
  instance: string;
  /** The instance that the new process has found to be dead. */
  replaces: string | undefined;
  name: string;
  capabilities: RunnerCapabilities;
  tags: readonly string[];
  heartbeatIntervalSecs: number;
  holding: readonly AttemptRef[];
  /** Absent: none. */
  slotsLost?: number | undefined;
  /** The allocation of a cluster that the runner runs in. */
  allocation?: string | undefined;
  /** When its machine is taken from it. */
  endsAtMs?: number | undefined;
  /** It is forgotten when it is gone. */
  ephemeral?: true | undefined;
  now: number;
}

/** A contact of the registered process: a heartbeat or a claim. */
export interface HeartbeatEvent {
  type: 'HEARTBEAT';
  instance: string;
  /** Undefined when the contact does not state it. */
  holding: readonly AttemptRef[] | undefined;
  /** Absent: none. */
  slotsLost?: number | undefined;
  /** The latest measurement; undefined when the contact has none. */
  machine?: RunnerContext['machine'];
  now: number;
}

export type RunnerEvent =
  | RegisterEvent
  | HeartbeatEvent
  | { type: 'JOBS_CHANGED'; changes: readonly JobChange[]; now: number }
  | { type: 'DRAIN'; reason: string | undefined; untilMs?: number | undefined; now: number }
  | { type: 'QUARANTINE'; reason: string; untilMs: number; now: number }
  | { type: 'DRAIN_ENDED'; now: number }
  | { type: 'RESUME'; now: number }
  | { type: 'SILENCE'; now: number }
  | { type: 'LEASE_ENDED'; now: number }
  | { type: 'MISSING'; now: number }
  | { type: 'SIGN_OFF'; instance: string; now: number };

export interface RunnerFact {
  type:
    | 'runner.registered'
    | 'runner.online'
    | 'runner.silent'
    | 'runner.drained'
    | 'runner.quarantined'
    | 'runner.resumed';
  runnerId: string;
  now: number;
}
/** These attempts are over because their runner is gone or no longer names them. */
export interface RunnerLost {
  type: 'runner.lost';
  runnerId: string;
  held: readonly AttemptRef[];
  /** A predicate for messages to people: "sent no heartbeat for 60 s". */
  cause: string;
  now: number;
}
export interface RunnerSignedOff {
  type: 'runner.signed-off';
  runnerId: string;
  held: readonly AttemptRef[];
  now: number;
}

/** An event was not announced, because as many notifications as are kept wait already. */
export interface NotificationDropped {
  type: 'notification.dropped';
  notificationId: string;
  now: number;
}

/** An operator deleted an Offline runner. */
export interface RunnerForgotten {
  type: 'runner.forgotten';
  runnerId: string;
  now: number;
}

export type SupervisorEvent =
  | { type: 'OPENED'; now: number }
  | { type: 'TICK'; now: number; due: readonly DueDeadline[] }
  | { type: 'FAULT'; now: number; operation: string; message: string }
  /** An actor threw, and the supervisor has taken this measure. */
  | { type: 'ACTOR_FAILED'; now: number; address: Address; measure: Measure; message: string }
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
/** An actor threw, and this became of it. */
export interface ActorFailed extends Omit<Extract<SupervisorEvent, { type: 'ACTOR_FAILED' }>, 'type'> {
  type: 'actor.failed';
}

export type JobFact = JobChange;
export type BatchFact = BatchOpened | BatchCancelling | BatchEnded | BatchFlow | BatchBlocked | BatchUnblocked;
/** Facts about deleted actors and about records that belong to no actor, emitted by the turn that changes them. */
export type RecordFact = BatchDeleted | RunnerForgotten | BatchJudged | NotificationDropped;
export type Fact =
  | JobFact
  | BatchFact
  | RunnerFact
  | RunnerLost
  | RunnerSignedOff
  | NotificationFact
  | DeadlinePassed
  | SupervisorFact
  | ActorFailed
  | RecordFact;
export type FactType = Fact['type'];
export type AnyEvent = JobEvent | BatchEvent | RunnerEvent | NotificationEvent | SupervisorEvent;

/**
 * The events that actors take (verbs in capitals) and the facts that they emit (past tense, dotted). The table in
 * `src/coordinator/kernel/turn/wiring.ts` routes facts to actors as events. Times are milliseconds since the epoch; every event carries its own.
 */
import type { BatchDeleted, BatchEvent, BatchFact, BatchJudged } from './messages/batch.ts';
import type { DeadlineKind } from './deadline.ts';
import type { JobChange, JobEvent, JobExcused } from './messages/job.ts';
import type { NotificationEvent, NotificationFact } from './notification/events.ts';
import type {
  AllocationEndKind,
  AttemptRef,
  RunnerCapabilities,
  RunnerContext,
  RunnerEngine,
} from '../src/contract/types.ts';

export type * from './messages/batch.ts';
export type * from './messages/job.ts';

/** `batch/<id>`, `job/<id>`, `runner/<id>`, `notification/<id>` or `supervisor`. */
export type Address =
  `batch/${string}` | `job/${string}` | `runner/${string}` | `notification/${string}` | 'supervisor';
/** The measure of the supervisor for an actor that throws, by `supervisor/policy.ts`. */
export type Measure = 'restart' | 'forget';

export interface DueDeadline {
  address: Address;
  kind: DeadlineKind;
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
  /** Time at which the machine is taken from the runner. */
  endsAtMs?: number | undefined;
  /** True for a runner that is removed from the pool when it has left. */
  ephemeral?: true | undefined;
  /** The name of its machine. */
  hostname?: string | undefined;
  /** Its engines with their code; absent: it does not state them. */
  engines?: readonly RunnerEngine[] | undefined;
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
  /** Why the runner takes no more runs: it leaves. Absent: it does not. */
  leaving?: string | undefined;
  /** Its engines with their code, where they differ from those before. */
  engines?: readonly RunnerEngine[];
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
  /** Its launcher reports that its allocation has ended, and how; `reason`: as a clause. */
  | { type: 'ALLOCATION_ENDED'; kind: AllocationEndKind; reason: string; now: number }
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
  /** A launcher may still report that the machine was taken away, so that nothing counts. */
  mayBeExcused?: boolean;
  now: number;
}
/** The attempts that counted as losses of this runner ended with its machine, as a late report of its launcher says. */
export interface RunnerExcused {
  type: 'runner.excused';
  runnerId: string;
  lost: readonly AttemptRef[];
  /** A clause for messages to people. */
  cause: string;
  now: number;
}
/** These attempts are over because the machine of their runner is gone, which says nothing about the runs. */
export interface RunnerInterrupted {
  type: 'runner.interrupted';
  runnerId: string;
  held: readonly AttemptRef[];
  /** A clause for messages to people: "its allocation slurm/main/a1 has ended: the engine preempted it". */
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

export type JobFact = JobChange | JobExcused;
/** Facts about deleted actors and about records that belong to no actor, emitted by the turn that changes them. */
export type RecordFact = BatchDeleted | RunnerForgotten | BatchJudged | NotificationDropped;
export type Fact =
  | JobFact
  | BatchFact
  | RunnerFact
  | RunnerLost
  | RunnerInterrupted
  | RunnerExcused
  | RunnerSignedOff
  | NotificationFact
  | DeadlinePassed
  | SupervisorFact
  | ActorFailed
  | RecordFact;
export type FactType = Fact['type'];
export type AnyEvent = JobEvent | BatchEvent | RunnerEvent | NotificationEvent | SupervisorEvent;

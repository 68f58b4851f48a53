/** The events that a job takes, and the changes that it emits. Times are milliseconds since the epoch. */
import type { AttemptOutcome, CodeIdentity, FailReason, JobStatus, Uuid } from '../../src/contract/types.ts';
import type { Counts } from '../../src/domain/counted/counts.ts';
import type { LookUps } from '../../src/domain/runs/look-ups.ts';
import type { RunTelemetry } from '../telemetry-tally.ts';

/** Why an attempt was released without counting against the run. */
export type ReleaseCause = 'claim-expired' | 'signed-off' | 'runner-lost' | 'not-held' | 'handed-back' | InterruptCause;
/** Why an attempt was interrupted: its runner was stopped, the machine was taken from it, or the code changed before the process was created. */
export type InterruptCause = 'runner-stopped' | 'machine-gone' | 'code-changed';

export type JobEvent =
  | {
      type: 'CLAIM';
      runnerId: string;
      /** The index of the run among those of its batch, for a batch that holds a selection of its design. */
      index?: number;
      now: number;
    }
  | { type: 'START'; runnerId: string; attempt: number; code?: CodeIdentity; now: number }
  | {
      type: 'COMPLETE';
      runnerId: string;
      attempt: number;
      telemetry?: RunTelemetry;
      outcomes?: string;
      lookUps?: LookUps;
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
  /** The code changed while the attempt loaded it: which version it executes is not known. */
  | { type: 'DOUBT_CODE'; runnerId: string; attempt: number; now: number }
  /** A finished run has the same key: its result is that of the job, which is not executed. */
  | {
      type: 'REUSE';
      /** The job that was executed, and when it ended. */
      from: Uuid;
      endedAtMs: number;
      /** The code that executed it, as attempts name it. */
      code: string;
      /** The whole identity of that code; a past that is derived from a record does not have it. */
      identity?: CodeIdentity;
      /** The error of a run that an early-termination condition ended; absent: it completed. */
      error?: string;
      index?: number;
      telemetry?: RunTelemetry;
      outcomes?: string;
      lookUps?: LookUps;
      now: number;
    }
  | { type: 'CANCEL'; reason: string | undefined; now: number }
  | { type: 'HAND_BACK'; runnerId: string; attempt: number; now: number }
  /** The run waits on its runner, which has not started it. */
  | { type: 'UNCLAIM'; runnerId: string; attempt: number; now: number }
  /** No process of the attempt is left, and neither the run nor its runner is at fault. */
  | { type: 'INTERRUPT'; runnerId: string; attempt: number; why: InterruptCause; message: string; now: number }
  | {
      type: 'RUNNER_LOST';
      runnerId: string;
      attempt: number;
      cause: string;
      /** A launcher may still report that the machine of the runner was taken away. */
      mayBeExcused?: boolean;
      now: number;
    }
  /** The loss of a runner in an earlier attempt was the end of its machine: it counts no more. */
  | { type: 'EXCUSE'; runnerId: string; attempt: number; message: string; now: number }
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
  /** Counted resources of the run; absent: none. */
  resources?: Counts;
}
export interface JobStarted extends AboutJob {
  type: 'job.started';
  /** Absent: its runner does not know its code. */
  code?: CodeIdentity;
}
export interface JobRequeued extends AboutJob {
  type: 'job.requeued';
  runnerId: string;
  from: 'Claimed' | 'Running';
  outcome: AttemptOutcome;
  why: ReleaseCause | FailReason;
}
/** An attempt that counted as the loss of its runner counts no more. */
export interface JobExcused extends AboutJob {
  type: 'job.excused';
  runnerId: string;
}
export interface JobEnded extends AboutJob {
  type: 'job.ended';
  from: 'Pending' | 'Claimed' | 'Running';
  to: Extract<JobStatus, 'Completed' | 'Failed' | 'Timeout' | 'Cancelled'>;
  /** True when the job was claimed at least once. An untouched run is not in the requeue index. */
  touched: boolean;
  /** The code of the last attempt, as attempts name it; absent: not known, or none has started. */
  code?: string;
  /** True when an early-termination condition ended the run: an answer, not a fault. */
  terminated?: true;
  /** True when the job has the result of another one and was not executed. */
  reused?: true;
  /** The identity of the code that executed that one. */
  identity?: CodeIdentity;
  /** Of a reused result: the index of the run among those of its batch; absent where that is the run id. */
  index?: number;
  error: string | undefined;
  startedAtMs: number | undefined;
  /** Absent when its runner did not report it. */
  telemetry?: RunTelemetry;
  /** The outcome of a Completed run under each requirement of its study, a letter each; absent without requirements. */
  outcomes?: string;
  /** The parameters that a Completed run looked up; absent: not known. */
  lookUps?: LookUps;
}

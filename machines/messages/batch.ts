/** The events that a batch takes, and the facts that it emits. Times are milliseconds since the epoch. */
import type { JudgementMembers, StoredJudgement, Uuid } from '../../src/contract/types.ts';
import type { JobChange } from './job.ts';

/** `by` is the name of the client that asked for it; absent: none is known, or a rule of the study did. */
export type BatchEvent =
  | { type: 'JOBS_CHANGED'; changes: readonly JobChange[]; now: number }
  | { type: 'CANCEL'; reason: string | undefined; by?: string; now: number }
  /** Every requirement is settled, the last one by this run of the complete prefix. */
  | { type: 'SETTLE'; runId: number; now: number }
  | { type: 'PAUSE'; reason: string | undefined; by?: string; now: number }
  | { type: 'RESUME'; by?: string; now: number }
  /** A finding has kept every pending run from starting for the dwell time. */
  | { type: 'BLOCK'; finding: BlockingFinding; now: number }
  /** No finding has kept the pending runs from starting for the dwell time. */
  | { type: 'UNBLOCK'; now: number }
  /** The canary runs have taken long. */
  | { type: 'CANARY_LATE'; now: number }
  | { type: 'RELEASE'; reason?: string; by?: string; now: number }
  /** The canary study has ended; `passed`: with every run Completed. */
  | { type: 'CANARY_ENDED'; passed: boolean; now: number }
  /** A round of so many runs. */
  | { type: 'APPEND'; count: number; now: number }
  /** No further round follows. */
  | { type: 'CLOSE'; by?: string; now: number }
  /** Its algorithm may append so many more runs. */
  | { type: 'EXTEND'; runs: number; by?: string; now: number }
  | AmendEvent;

/** The requirements, outputs and labels of the study are replaced. */
export interface AmendEvent {
  type: 'AMEND';
  judgement: StoredJudgement;
  labels: Readonly<Record<string, string>> | undefined;
  /** The number of requirements under which its runs are judged; undefined: none. */
  judged: number | undefined;
  /** The members that change. */
  before: JudgementMembers;
  after: JudgementMembers;
  by?: string;
  now: number;
}

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
  /** Its canary study, which is cancelled when this one ends Cancelled; absent: it has none. */
  canaryBatch?: Uuid;
  /** The study that waits for this canary study, and whether its runs may start; absent: it is not a canary study. */
  canaryOf?: { batchId: Uuid; passed: boolean };
  now: number;
}

/** The assignment of runs was paused, resumed, or released beyond the canary runs; these have ended; no round follows, or further ones may. */
export interface BatchFlow {
  type:
    | 'batch.paused'
    | 'batch.resumed'
    | 'batch.released'
    | 'batch.canary-passed'
    | 'batch.canary-failed'
    | 'batch.canary-late'
    | 'batch.closed'
    | 'batch.extended';
  batchId: Uuid;
  now: number;
}

/** The judgement of a batch was amended: this revision is the current one. */
export interface BatchAmended {
  type: 'batch.amended';
  batchId: Uuid;
  revision: number;
  now: number;
}

/** A batch has grown by the runs `firstRunId` to `firstRunId + count - 1`. */
export interface BatchAppended {
  type: 'batch.appended';
  batchId: Uuid;
  round: number;
  firstRunId: number;
  count: number;
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

/** The facts of the batch's own transitions. */
export type BatchFact =
  BatchOpened | BatchAppended | BatchAmended | BatchCancelling | BatchEnded | BatchFlow | BatchBlocked | BatchUnblocked;

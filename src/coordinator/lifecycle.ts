/** The interface of a coordinator for its owner: the settings, with hooks for the log and the metrics, and the running coordinator. */
import type { SupervisorSnapshot } from '../../machines/supervisor/supervisor.ts';
import type { ActorFailed } from '../../machines/protocol.ts';
import type { SubmissionWarning, Uuid } from '../contract/types.ts';
import type { SimbatchError } from '../domain/errors.ts';
import type { ClockLeap } from '../domain/retention/sweep-times.ts';
import type { CoordinatorApi, OperationParts } from './api.ts';
import type { BucketLook } from './files/object-store/probe.ts';
import type { ActorJournal } from './kernel/turn/actor-journal.ts';
import type { ActorSystem } from './kernel/actors/actor-system.ts';
import type { Commit } from './kernel/turn/actor-transition.ts';
import type { CommittedGroup } from './kernel/turn/group-commit.ts';
import type { TransitionLog } from './kernel/turn/transition-log.ts';
import type { TurnObserver } from './kernel/turn/measured-turns.ts';
import type { Notifications } from './notifications/notifications.ts';
import type { CoordinatorOptions } from './options.ts';
import type { Part } from './parts.ts';

/** Callbacks for the log and the metrics. */
export interface CoordinatorHooks {
  /** A turn threw and was rolled back. */
  fault?(operation: string, error: unknown): void;
  /** An actor threw: it was restarted, or forgotten. The turn is rolled back. */
  actorFailed?(failure: ActorFailed): void;
  /** A study was accepted with warnings. */
  warned?(batchId: Uuid, warnings: readonly SubmissionWarning[]): void;
  /** The checkpoint of an ended run could not be removed from the object store; it is tried again. */
  checkpointKept?(jobId: Uuid, error: unknown): void;
  /** Uploads of a bucket that no runner continues were aborted; with an error the bucket could not be swept to its end, and is tried again in an hour. */
  uploadsSwept?(bucket: string, aborted: number, error?: unknown): void;
  /** A bucket of the object store has a fault, another one than before, or none any more. */
  bucketChanged?(bucket: string, look: BucketLook): void;
  /** The clock is far ahead of the store, so that nothing is deleted for a while; undefined: that time is over. */
  clockLeapt?(leap: ClockLeap | undefined): void;
  /** A write to the store failed: the process must end. */
  failed?(error: SimbatchError): void;
  /** A group of changes reached the disk. */
  committed?(group: CommittedGroup): void;
  /** A turn ended. Called before its changes are written. */
  turn?: TurnObserver;
}

/** The settings of a coordinator; each has a default. */
export interface CoordinatorSettings extends Partial<CoordinatorOptions> {
  hooks?: CoordinatorHooks;
  /** Makes further parts, which come last in the list. */
  further?: (parts: CoordinatorParts) => readonly Part[];
}

/** The parts that the operations of a coordinator take, and its own. */
export interface CoordinatorParts extends OperationParts {
  notifications: Notifications;
  journal: ActorJournal;
  /** See `CoordinatorOptions`. */
  quarantine: boolean | number;
  retainMs: number | undefined;
}

/** The members of a running coordinator that its owner uses: the server, tests, the recorder of snapshots. */
export interface Lifecycle {
  /** The parts, for the metrics, the live feed and tests. */
  readonly parts: CoordinatorParts;
  /** The supervisor and the actors that it has started, for XState's tools and tests. */
  readonly system: ActorSystem;
  supervisor(): SupervisorSnapshot;
  readonly transitionLog: TransitionLog;
  /** Calls the listener after each committed group, until the returned function is called. Costs nothing without a listener. */
  watch(listener: (commit: Commit) => void): () => void;
  /** Handles expired deadlines now. Its own timer calls it; tests with a simulated clock call it directly. */
  tick(): Promise<void>;
  /** Answers all long polls with no work, now and from now on, so that their connections can be closed. */
  releaseWaiting(): void;
  /** Completes running turns, writes their changes and closes the store. */
  close(): Promise<void>;
}

/** A running coordinator: its operations, and what its owner does with it. */
export type Coordinator = CoordinatorApi & Lifecycle;

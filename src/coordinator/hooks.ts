/** The reports of a coordinator: callbacks for the log and the metrics, and committed groups for watchers. */
import type { Fact } from '../../machines/protocol.ts';
import type { SimbatchError } from '../domain/errors.ts';
import type { SubmissionWarning, Uuid } from '../contract/types.ts';
import type { ActorTransition } from './kernel/turn/actor-transition.ts';
import type { CommittedGroup } from './kernel/turn/group-commit.ts';
import type { TurnObserver } from './kernel/turn/measured-turns.ts';

/** Callbacks for the log and the metrics. */
export interface CoordinatorHooks {
  /** A turn threw and was rolled back. */
  fault?(operation: string, error: unknown): void;
  /** A study was accepted with warnings. */
  warned?(batchId: Uuid, warnings: readonly SubmissionWarning[]): void;
  /** The checkpoint of an ended run could not be removed from the object store; it is tried again. */
  checkpointKept?(jobId: Uuid, error: unknown): void;
  /** A write to the store failed: the process must end. */
  failed?(error: SimbatchError): void;
  /** A group of changes reached the disk. */
  committed?(group: CommittedGroup): void;
  /** A turn ended. Called before its changes are written. */
  turn?: TurnObserver;
}

/** A group of changes that is on disk, for watchers. */
export interface Commit {
  facts: readonly Fact[];
  /** Every event that an actor took, in order. Empty for turns that ran before the first watcher subscribed. */
  transitions: readonly ActorTransition[];
}

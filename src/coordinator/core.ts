/** The parts of a running coordinator, as the operations use them. `coordinator.ts` builds them. */
import { DEFAULT_MAX_RETRIES } from '../domain/rules.ts';
import type { Answers } from './answers/answers.ts';
import type { Judgements } from './judgement/judgements.ts';
import type { ClaimResponse, SubmissionWarning, Uuid } from '../contract/types.ts';
import type { Interpreter } from '../base/interpreters/interpreters.ts';
import type { BatchIdGenerator } from './kernel/storage/batch-id-generator.ts';
import type { GroupCommit } from './kernel/turn/group-commit.ts';
import type { Directory } from './kernel/actors/directory.ts';
import type { CrowdedRunners } from './scheduling/crowded-runners.ts';
import type { Scheduler } from './scheduling/scheduler.ts';
import type { Notifications } from './notifications/notifications.ts';
import type { NotificationSettings } from './notifications/receivers.ts';
import type { Purges } from './studies/purges.ts';
import type { Store } from './kernel/storage/store.ts';
import type { StudyCache } from './kernel/records/study-cache.ts';
import type { Turns } from './kernel/turn/turn.ts';
import type { Statistics } from './scheduling/statistics.ts';
import type { LauncherReports } from './pool/launcher-reports.ts';
import type { PoolHistory } from './pool/pool-history.ts';
import type { StudyHealth } from './runs/study-health.ts';
import type { CheckpointRemovals } from './files/checkpoints/checkpoint-removals.ts';
import type { ObjectStore } from './files/object-store/object-store.ts';
import type { FileRequests } from './files/runner/file-requests.ts';
import type { LiveReadings } from './files/runner/live-readings.ts';
import type { LongPolls } from './scheduling/long-polls.ts';
import type { Clock } from '../base/clock.ts';
import type { EventLoopShare } from '../base/event-loop-share.ts';

/** The options that an operator can set. */
export interface CoordinatorOptions {
  /** Retries of a failed job when the study sets none. */
  defaultMaxRetries: number;
  /** How long an idempotency key is kept, in ms. */
  idempotencyMs: number;
  /**
   * The level of the test by which a runner on which attempts fail more than on others gets no new work for a while; true: the
   * level of the finding, false: never.
   */
  quarantine: boolean | number;
  /** Returns the free bytes on the disk of the store; absent where they are not known. */
  freeBytes?: () => Promise<number | undefined>;
  /** The interpreter of the machines; see docs/decisions/flat-machine.md. */
  interpreter: Interpreter;
  /** Where files of runs are uploaded to, for studies that name one of its buckets. */
  objectStore?: ObjectStore;
  /** The receivers of events of studies; absent: none. */
  notifications?: NotificationSettings;
  /** How long an ended batch and an Offline runner are kept, in ms; undefined: until an operator deletes them. */
  retainMs?: number;
}

export const DEFAULT_OPTIONS: CoordinatorOptions = {
  defaultMaxRetries: DEFAULT_MAX_RETRIES,
  idempotencyMs: 24 * 3_600_000,
  interpreter: 'flat',
  quarantine: false,
};

export interface Core {
  readonly clock: Clock;
  /** Every stream, export and sweep runs in its slices. */
  readonly share: EventLoopShare;
  readonly store: Store;
  readonly turns: Turns;
  readonly directory: Directory;
  readonly groupCommit: GroupCommit;
  readonly scheduler: Scheduler;
  readonly crowded: CrowdedRunners;
  readonly longPolls: LongPolls<ClaimResponse>;
  readonly studyCache: StudyCache;
  readonly batchIds: BatchIdGenerator;
  readonly statistics: Statistics;
  readonly health: StudyHealth;
  readonly launcherReports: LauncherReports;
  readonly poolHistory: PoolHistory;
  readonly answers: Answers;
  readonly judgements: Judgements;
  readonly notifications: Notifications;
  readonly options: CoordinatorOptions;
  readonly purges: Purges;
  readonly fileRequests: FileRequests;
  readonly liveReadings: LiveReadings;
  readonly checkpointRemovals: CheckpointRemovals;
  /** Called for a study that was accepted with warnings. */
  readonly warned: (batchId: Uuid, warnings: readonly SubmissionWarning[]) => void;
}

/** The parts of a running coordinator, as the operations use them. Put together in `coordinator.ts`. */
import { DEFAULT_MAX_RETRIES } from '../domain/rules.ts';
import type { ClaimResponse } from '../domain/types.ts';
import type { BatchIds } from './storage/batch-id-generator.ts';
import type { Commits } from './turn/group-commit.ts';
import type { Directory } from './actors/directory.ts';
import type { Dispatch } from './scheduling/scheduler.ts';
import type { Store } from './storage/store.ts';
import type { Studies } from './resources/study-cache.ts';
import type { Turns } from './turn/turn.ts';
import type { Views } from './resources/statistics.ts';
import type { Waiting } from './scheduling/long-polls.ts';
import type { World } from '../base/clock.ts';

/** What the operator may set. */
export interface CoordinatorOptions {
  /** Retries of a failed job when the study does not say. */
  defaultMaxRetries: number;
  /** How long an idempotency key is remembered, in ms. */
  idempotencyMs: number;
  /** How long an ended batch and a runner that is gone are kept, in ms; undefined: until they are deleted. */
  retainMs?: number;
}

export const DEFAULT_OPTIONS: CoordinatorOptions = {
  defaultMaxRetries: DEFAULT_MAX_RETRIES,
  idempotencyMs: 24 * 3_600_000,
};

export interface Core {
  readonly world: World;
  readonly store: Store;
  readonly turns: Turns;
  readonly directory: Directory;
  readonly commits: Commits;
  readonly dispatch: Dispatch;
  readonly waiting: Waiting<ClaimResponse>;
  readonly studies: Studies;
  readonly batchIds: BatchIds;
  readonly views: Views;
  readonly options: CoordinatorOptions;
}

/** The parts of a running coordinator, as the operations use them. Put together in `coordinator.ts`. */
import { DEFAULT_MAX_RETRIES } from '../domain/rules.ts';
import type { ClaimResponse } from '../domain/types.ts';
import type { BatchIds } from './batch-ids.ts';
import type { Commits } from './commits.ts';
import type { Directory } from './directory.ts';
import type { Dispatch } from './dispatch.ts';
import type { Store } from './store.ts';
import type { Studies } from './studies.ts';
import type { Turns } from './turn.ts';
import type { Views } from './views.ts';
import type { Waiting } from './waiting.ts';
import type { World } from './world.ts';

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

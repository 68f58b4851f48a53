/** The options of a coordinator, and their defaults. */
import { DEFAULT_MAX_RETRIES } from '../domain/rules.ts';
import type { Counts } from '../domain/counted/counts.ts';
import type { Interpreter } from '../base/interpreters/interpreters.ts';
import type { ObjectStore } from './files/object-store/object-store.ts';
import type { NotificationSettings } from './notifications/receivers.ts';

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
  /** Rounds of studies of rare events are computed in the analysis worker; false: on the thread of requests, in a simulated world. */
  computesInWorker: boolean;
  /** The logic of the actors; see docs/decisions/compiled-machines.md. */
  interpreter: Interpreter;
  /** Where files of runs are uploaded to, for studies that name one of its buckets. */
  objectStore?: ObjectStore;
  /** Whether the object store is tried at the start and from time to time. */
  watchesStore: boolean;
  /** The receivers of events of studies; absent: none. */
  notifications?: NotificationSettings;
  /** The pools of resources that it holds for all runners, such as floating licences: name -> amount; absent: none. */
  resources?: Counts;
  /** Core hours per UTC day by owner, `*` for each other one; absent: no budgets. */
  budgets?: ReadonlyMap<string, number>;
  /** How long an ended batch and an Offline runner are kept, in ms; undefined: until an operator deletes them. */
  retainMs?: number;
}

export const DEFAULT_OPTIONS: CoordinatorOptions = {
  defaultMaxRetries: DEFAULT_MAX_RETRIES,
  idempotencyMs: 24 * 3_600_000,
  interpreter: 'compiled',
  quarantine: false,
  computesInWorker: true,
  watchesStore: false,
};

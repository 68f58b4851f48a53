/** The outside of the launcher's loop: the coordinator's public API, commands of an operator, and the log. */
import type { DemandResponse, Runner } from '../../contract/types.ts';
import type { LauncherStatus } from './status.ts';

/** An allocation whose runner needs a token. */
export interface TokenRequest {
  /** Name of the allocation in the API, e.g. `slurm/main/a1b2c3d4e5f6`. */
  allocation: string;
  runnerId: string;
  /** Seconds from now until the token expires by itself. */
  lifetimeSecs: number;
}

/** The requests of a round. Each throws for an answer that did not arrive or was a refusal. */
export interface CoordinatorPort {
  demand(): Promise<DemandResponse>;
  runners(): Promise<readonly Runner[]>;
  /** The longest time limit of the runs that each of these runners holds, in ms, by its id; 0: a run has none. */
  timeLimits(runnerIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** A token for each, by its allocation; a former token of the same allocation is revoked. Undefined where none is needed. */
  makeTokens(requests: readonly TokenRequest[]): Promise<ReadonlyMap<string, string | undefined>>;
  /** Revokes the tokens of these allocations; an allocation without a token is not an error. */
  revokeTokens(allocations: readonly string[]): Promise<void>;
}

/** A wish of an operator. `queue` undefined: all queues. */
export type OperatorCommand =
  | { type: 'pause'; queue?: string; reason: string }
  | { type: 'resume'; queue?: string }
  /** Allocations by id, or all of a queue. */
  | { type: 'stop'; queue?: string; allocation?: string; immediately: boolean; reason: string };

export interface Inbox {
  /** The commands that have arrived. `done` is called when their effect is on disk. */
  take(): Promise<{ commands: readonly OperatorCommand[]; done: () => Promise<void> }>;
}

export type LauncherLog = (level: 'info' | 'warn', message: string) => void;

/** Called after each round. */
export type StatusSink = (status: LauncherStatus) => Promise<void>;

/** The parsed launcher.yaml: types only. Times are milliseconds, memory is bytes, and every default is filled in. */

import type { Counts } from '../domain/counted/counts.ts';

/** The resources of one allocation. */
export interface AllocationSize {
  /** Cores, at least 1. */
  cores: number;
  /** 0: not stated. The engine's default applies, the runner declares its machine's memory, and it is taken to be enough. */
  memoryBytes: number;
  gpus: number;
  /** Other counted resources of an allocation; undefined: none. */
  resources?: Counts | undefined;
}

/** How long no allocation is submitted after failures. The delay doubles with each failure in a row. */
export interface BackoffConfig {
  firstMs: number;
  maxMs: number;
  /** Failures in a row after which the queue is paused until an operator resumes it. */
  pauseAfter: number;
}

/** The runner of each allocation. */
export interface QueueRunnerConfig {
  /** The command that starts a runner, e.g. `['simbatch', 'runner']`; undefined: the engine's own way to a runner. */
  program: readonly string[] | undefined;
  /** Further arguments of `simbatch runner`, such as `--entrypoint`. */
  args: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** Runs at once; undefined: the cores of the size. */
  slots: number | undefined;
}

/** One queue: allocations of equal size on one engine. `Section` is the engine's own part. */
export interface QueueConfig<Section = unknown> {
  /** `[a-z0-9]([a-z0-9-]*[a-z0-9])?`, at most 40 characters. */
  name: string;
  engine: string;
  /** The simulations that its runners execute; `*` for all. */
  serves: readonly string[];
  size: AllocationSize;
  lifetimeMs: number;
  /** Allocations kept whether or not runs wait, and the most at once. */
  min: number;
  max: number;
  /** The most allocations that wait in the engine's queue at once. */
  maxQueued: number;
  /** The runner has left so long before the end of the lifetime; no run is counted that needs the rest. */
  lifetimeMarginMs: number;
  /** A runner without a run leaves after this time (`--idle-exit`). */
  idleTimeoutMs: number;
  /** Longest time from the start of an allocation until its runner has registered. */
  startTimeoutMs: number;
  /** An allocation that waits longer in the engine's queue is stopped; undefined: never. */
  queueTimeoutMs: number | undefined;
  /** A drained runner that holds runs for longer is stopped; undefined: by the time limits of these runs. */
  drainTimeoutMs: number | undefined;
  /** Runs must have waited so long before an allocation is submitted for them. */
  scaleUpAfterMs: number;
  backoff: BackoffConfig;
  runner: QueueRunnerConfig;
  /** The section of the engine, as its schema describes it. */
  section: Section;
}

/** Limits of all queues together; undefined: none. */
export interface LauncherLimits {
  maxAllocations: number | undefined;
  /** Core hours, each allocation counted with its whole lifetime while it lives and with its real time when it has ended. */
  maxCoreHours: number | undefined;
  /** Most core hours over the last 24 hours. */
  maxCoreHoursPerDay: number | undefined;
}

export interface LauncherConfig {
  /** The label that marks the launcher's allocations in the engines. */
  launcher: string;
  endpoint: string;
  /** The address under which the runners reach the coordinator. */
  runnerEndpoint: string;
  /** Time from the end of one round to the start of the next. */
  pollMs: number;
  limits: LauncherLimits;
  queues: readonly QueueConfig[];
}

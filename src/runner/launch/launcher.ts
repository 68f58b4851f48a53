/** How the process of a run is created: the interface of cold starts, forks of a warm Python and waiting Node processes. */
import type { Readable } from 'node:stream';
import type { ProcessScope } from '../processes/process-scope.ts';

/** The process that is wanted. */
export interface Launch {
  /** The simulation's file. */
  entrypoint: string;
  /** The command of a cold start. */
  command: string;
  args: readonly string[];
  /** Variables that are the same for all runs of a study on this runner. */
  env: Readonly<Record<string, string>>;
  /** The variables of the run contract. */
  contract: Readonly<Record<string, string>>;
  cwd: string;
  /** The seed for a run's own random numbers, below 2**48. */
  randomSeed: number;
  /** The digest of the code that must be executed; undefined: not known. */
  code?: string | undefined;
  /** The digest of the image that must be started; undefined: none, or not known. */
  image?: string | undefined;
  /** Resolves to false when the code differs from `code` now. */
  isCurrent?: () => Promise<boolean>;
}

/**
 * How it ended. `code-changed`: no process was created, since the code differs from that which the start has reported. `failed-to-start` has spawn's error code, or the whole reason as `detail`; `survived`: SIGKILL did not end it in time; `lost`: unknown,
 * because the process that was its parent ended first, of this signal if of one; the detail is a sentence.
 * `displaced`: it was not executed, or not to its end, for no reason of its own.
 */
export type Ending =
  | { type: 'exit'; code: number }
  | { type: 'signal'; signal: NodeJS.Signals }
  | { type: 'failed-to-start'; code: string | undefined; detail?: string }
  | { type: 'survived' }
  | { type: 'code-changed' }
  | { type: 'displaced'; detail: string }
  | { type: 'lost'; detail: string; signal?: NodeJS.Signals };

export interface LaunchContext {
  scope: ProcessScope;
  /** Called as soon as the process exists, before it can end; `sinceMs`: when its creation began, if not with the launch. */
  onProcess: (pid: number, sinceMs?: number) => void;
  /** Called when it has ended and before its pid can be another's: no signal may be sent to it or its group afterwards. */
  onExit: () => void;
  /** Aborted when the process is no longer wanted; a process that exists is ended by its scope. */
  cancelled: AbortSignal;
}

export interface LaunchedProcess {
  stdout: Readable;
  stderr: Readable;
  /** The end of the process. Never rejects. */
  ended: Promise<Ending>;
  /** Why this process was started cold although its engine is to be warm, for the result. */
  note?: string;
  /** The container in which it runs, for the result. */
  container?: StartedContainer;
}

export interface StartedContainer {
  /** Name and version, e.g. `podman version 4.3.1`. */
  runtime: string;
  /** The image as the study names it. */
  image: string;
  /** `sha256:...` of the image that was started; absent where the runtime has none. */
  digest?: string;
}

/** A launcher with processes of its own. */
export interface WarmLauncher extends Launcher {
  /** Ends the warm processes when their runs have ended; no launch follows. */
  retire(): void;
  /** Ends the warm processes at once. */
  kill(): void;
}

export interface Launcher {
  /** Resolves when a launch of the code with this digest needs no further preparation. Never rejects. */
  prepare?(code?: string): Promise<void>;
  /**
   * Creates the process: the leader of a session and a process group of its own.
   * @returns its ending when it could not be started, or was cancelled before.
   */
  launch(launch: Launch, context: LaunchContext): Promise<LaunchedProcess | Ending>;
}

/** A run as the workers of a warm Python take it, and its end. */
import type { Readable } from 'node:stream';
import type { ProcessScope } from '../../processes/process-scope.ts';
import type { Ending, LaunchContext, LaunchedProcess } from '../launcher.ts';
import type { WorkerAddress } from './rendezvous.ts';
import type { RunEnd, RunFault } from './worker-message.ts';
import type { WorkerOrder } from './worker.ts';

/** The forkserver of the workers. */
export interface WorkerSource {
  /** Creates the process of a worker. Undefined: the engine is cold. */
  worker(
    address: WorkerAddress & { memory: number | null },
    marker: string,
    code: string | undefined,
    context: LaunchContext,
  ): Promise<LaunchedProcess | Ending | undefined>;
  retire(): void;
}

/** A run as the pool takes it. */
export interface SharedRun {
  order: WorkerOrder;
  /** The lane of its slot. */
  lane: number;
  scope: ProcessScope;
  /** A run that has waited this long is given back to the coordinator: those before it take long. In milliseconds. */
  patienceMs: number;
  /** The run is executed from now on. */
  begun: (pid: number, sinceMs: number) => void;
  /** The run has printed its first byte on the stream. */
  output: (stream: 'stdout' | 'stderr', output: Readable) => void;
}

/** The end of a run; `alone`: there is no worker, so that it must have a process of its own. */
export type SharedEnding =
  (Ending & { note?: string }) | (RunEnd & { type: 'ended' }) | (RunFault & { type: 'fault' }) | { type: 'alone' };

/** A run from its arrival to its end. */
export interface PooledRun extends SharedRun {
  sinceMs: number;
  isOver?: boolean;
  end: (ending: SharedEnding) => void;
}

/** The end of a run whose worker has ended: its own, unless the worker was ended for another run that had just ended. */
export function lossOf<E extends Ending>(run: SharedRun, ending: E, killer: SharedRun | undefined): E | Ending {
  if (killer === undefined || killer === run) return ending;
  return { type: 'displaced', detail: 'its process was ended for the run before it' };
}

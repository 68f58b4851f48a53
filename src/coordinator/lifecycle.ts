/** The members of a running coordinator that its owner uses: the server, tests, the recorder of snapshots. */
import type { SupervisorSnapshot } from '../../machines/supervisor.ts';
import type { Core } from './core.ts';
import type { Commit } from './hooks.ts';

export interface Lifecycle {
  /** The parts; for tests and the recorder of snapshots. */
  readonly core: Core;
  supervisor(): SupervisorSnapshot;
  /** Calls the listener after each committed group, until the returned function is called. Costs nothing without a listener. */
  watch(listener: (commit: Commit) => void): () => void;
  /** Handles expired deadlines now. Its own timer calls it; tests with a simulated clock call it directly. */
  tick(): Promise<void>;
  /** Answers all long polls with no work, now and from now on, so that their connections can be closed. */
  releaseWaiting(): void;
  /** Completes running turns, writes their changes and closes the store. */
  close(): Promise<void>;
}

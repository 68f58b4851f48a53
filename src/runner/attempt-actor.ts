/**
 * The attempt machine of `machines/attempt.ts` as the runner uses it: sends events, logs each transition. It is the machine's compiled
 * transitions alone, without XState's actor around them: the attempt has no children, timers or listeners, and a short run would pay for them.
 */
import type { AnyActorScope, SnapshotFrom } from 'xstate';
import { compiledMachine } from '../base/interpreters/compiled-machine.ts';
import { attemptMachine } from '../../machines/attempt.ts';
import type { AttemptContext, AttemptEvent, AttemptState, KillCause } from '../../machines/attempt.ts';
import type { AttemptRef } from '../contract/types.ts';
import type { Log } from './log.ts';

const ATTEMPT_LOGIC = compiledMachine(attemptMachine);
/** The machine emits no facts. */
const SCOPE = { emit: () => {} } as unknown as AnyActorScope;

type Snapshot = SnapshotFrom<typeof attemptMachine>;

export class AttemptActor {
  readonly ref: AttemptRef;
  #snapshot: Snapshot;
  readonly #log: Log;

  constructor({ job_id, attempt }: AttemptRef, log: Log) {
    this.ref = { job_id, attempt };
    this.#log = log;
    this.#snapshot = ATTEMPT_LOGIC.getInitialSnapshot(SCOPE, { jobId: job_id, attempt });
  }

  get state(): AttemptState {
    return this.#snapshot.value;
  }

  get context(): AttemptContext {
    return this.#snapshot.context;
  }

  get killedFor(): KillCause | undefined {
    return this.context.killedFor;
  }

  /** Starting or Running: it has, or may get, processes. */
  get isExecuting(): boolean {
    return this.state === 'Starting' || this.state === 'Running';
  }

  /** Returns false when the state does not take the event; then nothing changed. */
  send(event: AttemptEvent): boolean {
    const before = this.#snapshot;
    const after = ATTEMPT_LOGIC.transition(before, event, SCOPE);
    if (after === before) return false;
    this.#snapshot = after;
    this.#log.debug(`attempt ${before.value} -> ${after.value}`, { ...this.ref, event: event.type });
    return true;
  }
}

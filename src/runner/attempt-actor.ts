/** The attempt machine of `machines/attempt.ts` as the runner uses it: sends events, logs each transition. */
import { createActor, type Actor } from 'xstate';
import { compiledMachine } from '../base/interpreters/compiled-machine.ts';
import { attemptMachine } from '../../machines/attempt.ts';
import type { AttemptContext, AttemptEvent, AttemptState, KillCause } from '../../machines/attempt.ts';
import type { AttemptRef } from '../contract/types.ts';
import type { Log } from './log.ts';

const ATTEMPT_LOGIC = compiledMachine(attemptMachine);

export class AttemptActor {
  readonly ref: AttemptRef;
  readonly #actor: Actor<typeof attemptMachine>;
  readonly #log: Log;

  constructor({ job_id, attempt }: AttemptRef, log: Log) {
    this.ref = { job_id, attempt };
    this.#log = log;
    this.#actor = createActor(ATTEMPT_LOGIC, { input: { jobId: job_id, attempt } });
    // An error is thrown by `send`; without an observer XState would throw it from a timer too.
    this.#actor.subscribe({ error: () => {} });
    this.#actor.start();
  }

  get state(): AttemptState {
    return this.#actor.getSnapshot().value;
  }

  get context(): AttemptContext {
    return this.#actor.getSnapshot().context;
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
    const before = this.#actor.getSnapshot();
    this.#actor.send(event);
    const after = this.#actor.getSnapshot();
    if (after === before) return false;
    if (after.status === 'error') throw after.error;
    this.#log.debug(`attempt ${before.value} -> ${after.value}`, { ...this.ref, event: event.type });
    return true;
  }
}

/** The attempt machine of `machines/attempt.ts` as the runner uses it: sends events, logs each transition. */
import { flatMachine } from '../base/interpreters/flat-machine.ts';
import { SharedScope } from '../base/interpreters/shared-scope.ts';
import { attemptMachine } from '../../machines/attempt.ts';
import type { AttemptContext, AttemptEvent, AttemptSnapshot, AttemptState, KillCause } from '../../machines/attempt.ts';
import type { AttemptRef } from '../contract/types.ts';
import type { Log } from './log.ts';

/** XState's own interpreter and an actor for each attempt take 2 million instructions more, of 16 million for a run that does nothing. */
const ATTEMPT_LOGIC = flatMachine(attemptMachine, {
  emit() {},
  fail(error) {
    throw error;
  },
}) as typeof attemptMachine;
const SCOPE = new SharedScope();

export class AttemptActor {
  readonly ref: AttemptRef;
  #snapshot: AttemptSnapshot;
  readonly #log: Log;

  constructor({ job_id, attempt }: AttemptRef, log: Log) {
    this.ref = { job_id, attempt };
    this.#log = log;
    this.#snapshot = SCOPE.initial(ATTEMPT_LOGIC, { jobId: job_id, attempt }) as AttemptSnapshot;
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
    const after = SCOPE.next(ATTEMPT_LOGIC, before, event) as AttemptSnapshot;
    if (after === before) return false;
    this.#snapshot = after;
    this.#log.debug(`attempt ${before.value} -> ${after.value}`, { ...this.ref, event: event.type });
    return true;
  }
}

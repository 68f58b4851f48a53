/**
 * Plays one machine: starts or restores it, sends events one at a time and returns the effect of each as a snapshot has it.
 * The recorder and the replay both use it. It knows no other actor.
 */
import { createActor, type Actor, type AnyActorLogic } from 'xstate';
import { batchMachine } from '../../../machines/batch.ts';
import { reviveJob, type JobContext } from '../../../machines/job-context.ts';
import { jobMachine } from '../../../machines/job.ts';
import type { AnyEvent, Fact } from '../../../machines/protocol.ts';
import { reviveRunner, runnerMachine, type RunnerContext } from '../../../machines/runner.ts';
import { supervisorMachine } from '../../../machines/supervisor.ts';
import type { Consequence, MachineName, StoredState } from './format.ts';

export const MACHINES = {
  job: jobMachine,
  batch: batchMachine,
  runner: runnerMachine,
  supervisor: supervisorMachine,
} as const satisfies Record<MachineName, AnyActorLogic>;

interface PlayedSnapshot {
  value: string;
  context: Record<string, unknown>;
  status: string;
  error?: unknown;
  can(event: AnyEvent): boolean;
}

/** The value after a round trip through JSON: undefined members are gone. */
export const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

export class ActorPlayer {
  readonly machine: MachineName;
  #actor: Actor<AnyActorLogic>;
  #facts: Fact[] = [];

  private constructor(machine: MachineName, options: object) {
    this.machine = machine;
    this.#actor = this.#start(options);
  }

  /** A new actor with this input. */
  static begin(machine: MachineName, input: unknown): ActorPlayer {
    return new ActorPlayer(machine, { input });
  }

  /** The actor in a stored state. */
  static restore(machine: MachineName, { value, ...context }: StoredState): ActorPlayer {
    return new ActorPlayer(machine, { snapshot: resolved(machine, value, context) });
  }

  #start(options: object): Actor<AnyActorLogic> {
    const actor = createActor(MACHINES[this.machine] as AnyActorLogic, options as Record<string, never>);
    actor.on('*', (fact) => this.#facts.push(fact as unknown as Fact));
    // The snapshot shows an error of the machine; without a listener it would end the process.
    actor.subscribe({ error: () => {} });
    actor.start();
    return actor;
  }

  get #snapshot(): PlayedSnapshot {
    return this.#actor.getSnapshot() as PlayedSnapshot;
  }

  get state(): string {
    return this.#snapshot.value;
  }

  /** State and context in their stored form. */
  get stored(): StoredState {
    const { value, context } = this.#snapshot;
    return plain({ value, ...context });
  }

  /** The facts emitted since the last call. */
  takeFacts(): Fact[] {
    return plain(this.#facts.splice(0));
  }

  accepts(event: AnyEvent): boolean {
    return this.#snapshot.can(event);
  }

  /** Sends an event that the machine takes; 'refused' for one it does not. */
  send(event: AnyEvent): Consequence | 'refused' {
    if (!this.accepts(event)) return 'refused';
    const before = this.stored;
    this.#actor.send(event);
    const { status, error } = this.#snapshot;
    if (status === 'error') throw new Error(`the machine "${this.machine}" broke on ${event.type}`, { cause: error });
    const changed = difference(before, this.stored);
    const facts = this.takeFacts();
    return {
      state: this.state,
      ...(changed === undefined ? {} : { changed }),
      ...(facts.length === 0 ? {} : { facts }),
    };
  }

  /** Applies a restart of the coordinator to the actor's clocks. */
  restart(now: number): { changed?: Record<string, unknown> } {
    const before = this.stored;
    const { value, context } = this.#snapshot;
    const revived =
      this.machine === 'job'
        ? { ...context, ...reviveJob(value, context as unknown as JobContext, now) }
        : this.machine === 'runner'
          ? reviveRunner(context as unknown as RunnerContext, now)
          : context;
    this.#actor.stop();
    this.#actor = this.#start({ snapshot: resolved(this.machine, value, revived) });
    const changed = difference(before, this.stored);
    return changed === undefined ? {} : { changed };
  }
}

function resolved(machine: MachineName, value: string, context: object): unknown {
  // Every machine resolves a state of its own kind; one type serves for all of them.
  const resolver = MACHINES[machine] as unknown as { resolveState(state: object): unknown };
  return resolver.resolveState({ value, context });
}

/** The members that differ afterwards; null for a removed one. Undefined when none differs. */
function difference(before: StoredState, after: StoredState): Record<string, unknown> | undefined {
  const changed: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (name !== 'value' && !same(before[name], after[name])) changed[name] = after[name] ?? null;
  }
  return Object.keys(changed).length === 0 ? undefined : changed;
}

/** Equality of JSON values; the order of members does not count. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(b, name) && same((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
  );
}

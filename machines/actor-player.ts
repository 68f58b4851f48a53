/**
 * Plays one machine: starts or restores it, sends events one at a time and returns the effect of each as a snapshot has it.
 * The recorder and the replay both use it. It knows no other actor.
 */
import { createActor, type Actor, type AnyActorLogic } from 'xstate';
import { KINDS, type ActorState, type MachineName } from './kinds.ts';
import type { AnyEvent, Fact } from './protocol.ts';

/** A stored state: the state's name (`value`) and the members of its context. */
export type StoredState = { value: string } & Record<string, unknown>;

/** The effect of one event. `changed` has the changed members of the context; `null` for a member that is no longer set. */
export interface Consequence {
  state: string;
  changed?: Record<string, unknown>;
  facts?: Fact[];
}

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
    const actor = createActor(KINDS[this.machine].machine as AnyActorLogic, options as Record<string, never>);
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
    const kind = KINDS[this.machine] as { revive(state: ActorState, now: number): ActorState };
    const { value, context } = kind.revive(this.#snapshot, now);
    this.#actor.stop();
    this.#actor = this.#start({ snapshot: resolved(this.machine, value, context) });
    const changed = difference(before, this.stored);
    return changed === undefined ? {} : { changed };
  }
}

function resolved(machine: MachineName, value: string, context: object): unknown {
  // Every machine resolves a state of its own kind; one type serves for all of them.
  const resolver = KINDS[machine].machine as unknown as { resolveState(state: object): unknown };
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

/**
 * The events of the actors in the Stately inspection format (`@xstate.actor`, `@xstate.event`, `@xstate.snapshot`), so that viewers
 * made for it can attach. The session id of an actor is its address, since an address outlives its activations.
 */
import { KINDS, type ActorState, type MachineName } from '../../../machines/kinds.ts';
import type { Commit } from '../../coordinator/kernel/turn/actor-transition.ts';
import type { ActorTransition } from '../../coordinator/kernel/turn/actor-transition.ts';

/** The version of the format: that of `@statelyai/inspect`. */
const VERSION = '0.7.2';
/** Actors that a viewer knows; beyond this number they are announced again. */
const MAX_KNOWN = 10_000;
const ROOT = 'supervisor';

/** The messages of one viewer: the supervisor first, and each other actor before its first event. */
export class InspectionStream {
  readonly #known = new Set<string>();
  #count = 0;

  /** Returns the announcement of the supervisor, the parent of all other actors. */
  opening({ value, context }: ActorState, now: number): string[] {
    return [JSON.stringify(this.#announcement(ROOT, 'supervisor', { to: value, context, now }))];
  }

  messages({ transitions }: Commit): string[] {
    return transitions.flatMap((it) => this.#of(it)).map((it) => JSON.stringify(it));
  }

  #of(transition: ActorTransition): object[] {
    const { kind, id, event } = transition;
    const sessionId = kind === 'supervisor' ? ROOT : `${kind}/${id}`;
    const common = { event, ...this.#common(sessionId, transition.now) };
    const messages: object[] = [];
    if (!this.#known.has(sessionId)) messages.push(this.#announcement(sessionId, kind, transition));
    if (event !== undefined) {
      messages.push({ type: '@xstate.event', sourceId: null, ...common, ...this.#id() });
      messages.push({ type: '@xstate.snapshot', snapshot: snapshotOf(kind, transition), ...common, ...this.#id() });
    }
    return messages;
  }

  #announcement(sessionId: string, kind: MachineName, state: Pick<ActorTransition, 'to' | 'context' | 'now'>): object {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.add(sessionId);
    return {
      type: '@xstate.actor',
      name: sessionId,
      ...(sessionId === ROOT ? {} : { parentId: ROOT }),
      ...this.#common(sessionId, state.now),
      definition: definitionOf(kind),
      snapshot: snapshotOf(kind, state),
      ...this.#id(),
    };
  }

  #common(sessionId: string, now: number): object {
    return { sessionId, rootId: ROOT, createdAt: String(now), _version: VERSION };
  }

  #id(): { id: string } {
    return { id: String((this.#count += 1)) };
  }
}

const snapshotOf = (kind: MachineName, { to, context }: Pick<ActorTransition, 'to' | 'context'>): object => ({
  status: KINDS[kind].terminal.has(to) ? 'done' : 'active',
  value: to,
  context,
});

const definitions = new Map<MachineName, string>();

/** Returns the configuration of a machine, which `createMachine` takes after `JSON.parse`. A function is shown by its name. */
function definitionOf(kind: MachineName): string {
  let definition = definitions.get(kind);
  if (definition === undefined) {
    const named = (_: string, value: unknown): unknown => (typeof value === 'function' ? { type: value.name } : value);
    definition = JSON.stringify(KINDS[kind].machine.config, named);
    definitions.set(kind, definition);
  }
  return definition;
}

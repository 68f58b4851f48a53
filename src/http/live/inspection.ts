/**
 * The machines' events in the Stately inspection format (`@xstate.actor`, `@xstate.event`, `@xstate.snapshot`), so that
 * viewers made for it can attach. An actor's session id is its address.
 */
import { KINDS } from '../../../machines/kinds.ts';
import type { Commit } from '../../coordinator/kernel/turn/actor-transition.ts';
import type { ActorTransition } from '../../coordinator/kernel/turn/actor-transition.ts';

/** The version of the format. */
const VERSION = '0.4.0';
/** Actors that a viewer knows; beyond this number they are announced again. */
const MAX_KNOWN = 10_000;

/** The messages of one viewer: each actor is announced before its first event. */
export class InspectionStream {
  readonly #known = new Set<string>();
  #count = 0;

  messages({ transitions: steps }: Commit): string[] {
    return steps.flatMap((step) => this.#of(step));
  }

  #of(step: ActorTransition): string[] {
    const sessionId = `${step.kind}/${step.id}`;
    const createdAt = String(step.now);
    const common = { sessionId, rootId: sessionId, createdAt, _version: VERSION };
    const snapshot = { status: 'active', value: step.to, context: step.context };
    const messages: object[] = [];
    if (!this.#known.has(sessionId)) {
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      this.#known.add(sessionId);
      const definition = JSON.stringify(KINDS[step.kind].machine.definition);
      messages.push({ type: '@xstate.actor', name: sessionId, ...this.#id(), ...common, definition, snapshot });
    }
    if (step.event !== undefined) {
      messages.push({ type: '@xstate.event', event: step.event, sourceId: null, ...this.#id(), ...common });
      messages.push({ type: '@xstate.snapshot', event: step.event, snapshot, ...this.#id(), ...common });
    }
    return messages.map((it) => JSON.stringify(it));
  }

  #id(): { id: string } {
    return { id: String((this.#count += 1)) };
  }
}

/** An event sent to a copy of an actor, in the page. The live actor never receives it. Pure. */
import type { AnyStateMachine } from 'xstate';
import { ActorPlayer, plain, type StoredState } from '../../../machines/actor-player.ts';
import { KINDS, type MachineName } from '../../../machines/kinds.ts';
import type { AnyEvent } from '../../../machines/protocol.ts';
import { SAMPLE_EVENTS } from '../../../machines/sample-events.ts';
import { differenceOf, type Change } from './difference.ts';
import { refusalOf, type Refusal } from './refusal.ts';

export interface Trial {
  from: string;
  to: string;
  changes: Change[];
  /** The facts that it would emit, by type: other actors would get events from them. */
  facts: string[];
  /** Why it is refused; undefined: it is taken. */
  refusal: Refusal | undefined;
  /** The copy after the event. */
  after: StoredState;
}

/** An event that can be tried: a representative one, which may be edited. */
export interface Candidate {
  label: string;
  event: AnyEvent;
}

/** Every event of the machine: its representative ones, and the others without members beside their time. */
export function candidatesOf(kind: MachineName, stored: StoredState, now: number): Candidate[] {
  const samples = SAMPLE_EVENTS[kind](stored).map(([label, event]) => ({ label, event }));
  const known = new Set(samples.map((it) => it.event.type as string));
  const others = ((KINDS[kind].machine as AnyStateMachine).root.events as readonly string[])
    .filter((it) => !known.has(it) && it !== '')
    .map((type) => ({ label: type, event: { type, now } as unknown as AnyEvent }));
  return [...samples, ...others];
}

/** Sends an event to a copy of the actor. */
export function tried(kind: MachineName, stored: StoredState, event: AnyEvent): Trial {
  const { value: from, ...context } = plain(stored);
  const player = ActorPlayer.restore(kind, { value: from, ...context });
  const consequence = player.send(event);
  const after = player.stored;
  const { value: to, ...contextAfter } = after;
  if (consequence === 'refused')
    return { from, to, changes: [], facts: [], refusal: refusalOf(kind, from, context, event), after };
  return {
    from,
    to,
    changes: differenceOf(context, contextAfter),
    facts: (consequence.facts ?? []).map((it) => it.type),
    refusal: undefined,
    after,
  };
}

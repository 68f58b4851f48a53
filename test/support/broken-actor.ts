/** An injected fault: the machine of one actor throws. */
import type { AnyActorLogic, EventObject } from 'xstate';
import type { Activation } from '../../src/coordinator/kernel/actors/directory.ts';

/** Makes an actor throw on every event, also after it is restarted, until the returned function is called. */
export function brokenActor({ table, address }: Activation): () => void {
  const logic = table.logic as AnyActorLogic;
  const { transition } = logic;
  logic.transition = (snapshot, event: EventObject, scope) => {
    if (scope.id === address && !event.type.startsWith('xstate.')) throw new Error('an injected fault');
    return transition(snapshot, event, scope);
  };
  return () => void (logic.transition = transition);
}

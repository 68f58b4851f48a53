/**
 * A scope in which the logic of any number of actors runs, without an XState actor for each. An `Actor` is a mailbox, a system,
 * observers and timers, 2.4 kB; machines that only assign and emit use none of these, and their actor is its snapshot.
 */
import { createActor, fromTransition, type AnyActorScope, type AnyMachineSnapshot, type AnyStateMachine } from 'xstate';
import type { EventObject } from 'xstate';

export class SharedScope {
  readonly #deferred: (() => void)[] = [];
  readonly #scope: AnyActorScope;

  constructor() {
    // The `self` and the system of all actions; it takes no event.
    const self = createActor(fromTransition((state: null) => state, null));
    this.#scope = {
      self,
      id: self.id,
      sessionId: self.sessionId,
      system: self.system,
      logger: () => {},
      // The observer of the logic receives the facts.
      emit: () => {},
      defer: (act) => this.#deferred.push(act),
      stopChild: () => {
        throw new Error('an actor without an XState actor has no children');
      },
      actionExecutor: (action) => action.exec?.(action.info, action.params),
    };
  }

  /**
   * Returns the snapshot after an event: the same object when the actor does not take it, or has ended.
   * @throws the error of the machine, where the logic does not report it to its observer
   */
  next(logic: AnyStateMachine, snapshot: AnyMachineSnapshot, event: EventObject): AnyMachineSnapshot {
    // XState stops an actor in a final state: no event reaches its machine.
    if (snapshot.status !== 'active') return snapshot;
    const after = logic.transition(snapshot, event, this.#scope) as AnyMachineSnapshot;
    if (this.#deferred.length > 0) this.#settle();
    return faultless(after);
  }

  /**
   * Returns the snapshot of a new actor.
   * @throws the error of a machine that cannot compute its initial context
   */
  initial(logic: AnyStateMachine, input: object): AnyMachineSnapshot {
    try {
      return faultless(logic.getInitialSnapshot(this.#scope, input) as AnyMachineSnapshot);
    } finally {
      this.#settle();
    }
  }

  /** Runs the actions that XState postpones until the snapshot is known. */
  #settle(): void {
    for (const act of this.#deferred.splice(0)) act();
  }
}

/** XState puts the error of an action into the snapshot. */
function faultless(snapshot: AnyMachineSnapshot): AnyMachineSnapshot {
  if (snapshot.status === 'error') throw snapshot.error;
  return snapshot;
}

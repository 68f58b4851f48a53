/** The interpreters of the machines: the flat one, and XState's own, which the simulation compares with it. */
import type { AnyActorScope, AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import { flatMachine, type TransitionObserver } from './flat-machine.ts';

/** `flat` is the default; `xstate` runs every transition in XState's interpreter, at about five times the cost. */
export type Interpreter = 'flat' | 'xstate';

/** Returns the logic of a machine, which reports facts and errors to the observer. */
export function interpret(
  machine: AnyStateMachine,
  interpreter: Interpreter,
  observer: TransitionObserver,
): AnyStateMachine {
  return interpreter === 'flat' ? flatMachine(machine, observer) : observedMachine(machine, observer);
}

/** XState's interpreter with the observer in place of listeners on each actor. */
function observedMachine(machine: AnyStateMachine, observer: TransitionObserver): AnyStateMachine {
  const observed = (scope: AnyActorScope): AnyActorScope => ({
    ...scope,
    emit: (fact: EventObject) => observer.emit(fact),
  });
  return Object.assign(Object.create(machine) as AnyStateMachine, {
    transition(snapshot: AnyMachineSnapshot, event: EventObject, scope: AnyActorScope): AnyMachineSnapshot {
      try {
        return machine.transition(snapshot, event, observed(scope));
      } catch (error) {
        observer.fail(error);
        return snapshot;
      }
    },
    getInitialSnapshot: (scope: AnyActorScope, input: unknown) => machine.getInitialSnapshot(observed(scope), input),
  });
}

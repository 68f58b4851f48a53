/** The logic of an actor: the machine compiled to straight-line transitions, or the machine itself, which the simulation compares with it. */
import type { AnyActorScope, AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import { compiledMachine, emittingTo, type FactSink } from './compiled-machine.ts';

export const INTERPRETERS = ['compiled', 'xstate'] as const;

/** `compiled` is the default; `xstate` runs every transition in XState's interpreter, at about five times the cost. */
export type Interpreter = (typeof INTERPRETERS)[number];

/** Returns the logic of a machine for `createActor`. Facts go to `onFact` and to the listeners of the actor. */
export function logicOf<M extends AnyStateMachine>(machine: M, interpreter: Interpreter, onFact: FactSink): M {
  return interpreter === 'compiled' ? compiledMachine(machine, onFact) : emittingMachine(machine, onFact);
}

/** The machine itself, with one function for the facts of all its actors. */
function emittingMachine<M extends AnyStateMachine>(machine: M, onFact: FactSink): M {
  const logic = {
    transition: (snapshot: AnyMachineSnapshot, event: EventObject, scope: AnyActorScope) =>
      machine.transition(snapshot, event, emittingTo(onFact, scope)),
    getInitialSnapshot: (scope: AnyActorScope, input: unknown) =>
      machine.getInitialSnapshot(emittingTo(onFact, scope), input),
  };
  return Object.assign(Object.create(machine) as M, logic);
}

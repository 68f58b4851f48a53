/**
 * A machine's own transitions without the interpreter's sets. XState's interpreter is made for nested and parallel states: it
 * allocates 14 kB and takes 8 us for one event of a flat machine, which was two thirds of what a job cost the coordinator.
 * Which transition an event takes is still decided by XState from the machine; carrying it out, and going on along the
 * transitions that need no event, is done here. Every state and every event of every machine is tested against both.
 */
import type { ActorScope, AnyActorScope, AnyMachineSnapshot, AnyStateMachine, AnyStateNode, EventObject } from 'xstate';

/** What a transition does, once resolved: a change of the context, or a fact to tell. */
type Effect =
  { type: 'assign'; change: (args: EffectArgs) => object } | { type: 'emit'; fact: (args: EffectArgs) => EventObject };

interface EffectArgs {
  context: object;
  event: EventObject;
  self: unknown;
  system: unknown;
}

/** Actions as `assign` and `emit` make them. */
interface MadeAction {
  type?: string;
  assignment?: unknown;
  event?: unknown;
}

type Transition = ReturnType<AnyStateMachine['getTransitionData']>[number];

/** A transition that is taken as soon as its guard holds. */
interface Always {
  holds: (args: { context: object; event: EventObject }, params: undefined) => boolean;
  transition: Transition;
}

/**
 * The logic of a flat machine for `createActor`: the machine itself, but for how a transition is carried out.
 * @throws Error when the machine has anything but atomic and final states, and transitions with `assign` and `emit`
 */
export function flatLogic<M extends AnyStateMachine>(machine: M): M {
  const nodes = Object.values(machine.root.states);
  for (const node of nodes) flatOrThrow(machine, node);
  const shapes = new Map(nodes.map((node) => [node.key, shapeOf(machine, node)]));
  const always = new Map(nodes.map((node) => [node.key, alwaysOf(machine, node)]));
  const effects = effectsOf(machine);

  function transition(snapshot: AnyMachineSnapshot, event: EventObject, scope: AnyActorScope): AnyMachineSnapshot {
    // XState's own events (a stop) are its own business.
    if (event.type.startsWith('xstate.')) return machine.transition(snapshot, event, scope);
    let value = snapshot.value as string;
    let context = snapshot.context as object;
    let taken = machine.getTransitionData(snapshot, event)[0] ?? onward(value, context, event);
    for (let steps = 0; taken !== undefined; steps += 1) {
      if (steps > shapes.size) throw new Error(`the ${machine.id} does not come to rest in ${value}`);
      context = carryOut(effects.get(taken) ?? [], context, event, scope);
      value = taken.target?.[0]?.key ?? value;
      taken = onward(value, context, event);
    }
    if (value === snapshot.value && context === snapshot.context) return snapshot;
    return inState(value, context);
  }

  /** The transition that leads on from a state by itself, if one does now. */
  function onward(value: string, context: object, event: EventObject): Transition | undefined {
    return always.get(value)?.find(({ holds }) => holds({ context, event }, undefined))?.transition;
  }

  /** No history, no children: a state is its value and its context, whether it is new or comes from somewhere. */
  function resolveState({ value, context }: { value: unknown; context?: object }): AnyMachineSnapshot {
    return inState(value as string, context ?? {});
  }
  function inState(value: string, context: object): AnyMachineSnapshot {
    const shape = shapes.get(value);
    if (shape === undefined) throw new Error(`the ${machine.id} has no state ${value}`);
    return { ...shape, context };
  }
  function restoreSnapshot(snapshot: AnyMachineSnapshot): AnyMachineSnapshot {
    return snapshot;
  }
  return Object.assign(Object.create(machine) as M, { transition, resolveState, restoreSnapshot });
}

function carryOut(
  effects: readonly Effect[],
  before: object,
  event: EventObject,
  scope: ActorScope<AnyMachineSnapshot, EventObject>,
): object {
  let context = before;
  for (const effect of effects) {
    const args = { context, event, self: scope.self, system: scope.system };
    if (effect.type === 'assign') {
      // A copy, and then the change laid over it: both in one literal would grow an object member by member.
      context = Object.assign({ ...context }, effect.change(args));
    } else {
      const fact = effect.fact(args);
      // Told when the actor has its new snapshot, as XState does.
      scope.defer(() => scope.emit(fact));
    }
  }
  return context;
}

/** What a state does on its way in counts only where the machine begins, and that is XState's: no transition may lead there. */
function flatOrThrow(machine: AnyStateMachine, node: AnyStateNode): void {
  const isFlat = node.type === 'atomic' || node.type === 'final';
  const extras = [node.exit, node.invoke, node.after];
  const isEntered = transitionsOf(machine).some((it) => it.target?.includes(node));
  if (!isFlat || extras.some((it) => it.length > 0) || (node.entry.length > 0 && isEntered)) {
    throw new Error(`state ${node.id} is not flat or does more than its transitions say`);
  }
}

/** The snapshot in a state, to be completed with a context. */
function shapeOf(machine: AnyStateMachine, node: AnyStateNode): AnyMachineSnapshot {
  return machine.resolveState({ value: node.key, context: {} }) as AnyMachineSnapshot;
}

function alwaysOf(machine: AnyStateMachine, node: AnyStateNode): readonly Always[] | undefined {
  if (node.always === undefined || node.always.length === 0) return undefined;
  const named = machine.implementations.guards as Record<string, unknown>;
  return node.always.map((transition) => {
    const guard: unknown = typeof transition.guard === 'string' ? named[transition.guard] : transition.guard;
    // A combination of guards has a `check` of its own.
    if (guard === undefined) return { holds: () => true, transition };
    if (typeof guard === 'function' && !('check' in guard)) return { holds: guard as Always['holds'], transition };
    throw new Error(`state ${node.id} has a guard that is not a plain function`);
  });
}

function transitionsOf(machine: AnyStateMachine): Transition[] {
  const nodes = [machine.root, ...Object.values(machine.root.states)];
  return nodes.flatMap((node) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])]);
}

/** What each transition of the machine does. */
function effectsOf(machine: AnyStateMachine): Map<Transition, readonly Effect[]> {
  const effects = (it: Transition): Effect[] =>
    (it.actions as readonly unknown[]).map((action) => effectOf(machine, it.source, action));
  return new Map(transitionsOf(machine).map((it) => [it, effects(it)]));
}

function effectOf(machine: AnyStateMachine, node: AnyStateNode, action: unknown): Effect {
  const named = machine.implementations.actions as Record<string, unknown>;
  const made = (typeof action === 'string' ? named[action] : action) as MadeAction | undefined;
  if (made?.type === 'xstate.assign') {
    const { assignment } = made;
    if (typeof assignment === 'function') return { type: 'assign', change: assignment as (args: EffectArgs) => object };
    const values = Object.entries(assignment as object);
    if (values.every(([, value]) => typeof value !== 'function')) {
      return { type: 'assign', change: () => assignment as object };
    }
  }
  if (made?.type === 'xstate.emit') {
    const { event } = made;
    const fact = typeof event === 'function' ? event : () => event;
    return { type: 'emit', fact: fact as (args: EffectArgs) => EventObject };
  }
  throw new Error(`state ${node.id} has an action that is neither assign nor emit`);
}

/**
 * A machine's own transitions without the interpreter's sets. XState's interpreter is made for nested and parallel states: it
 * allocates 14 kB and takes 8 us for one event of a flat machine, which was two thirds of what a job cost the coordinator.
 * Which transition an event takes is still decided by XState from the machine; only carrying it out is done here. The
 * transition tables are tested against both.
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

/**
 * The logic of a flat machine for `createActor`: the machine itself, but for how a transition is carried out.
 * @throws Error when the machine has anything but atomic and final states and transitions with `assign` and `emit`
 */
export function flatLogic<M extends AnyStateMachine>(machine: M): M {
  const shapes = new Map(Object.values(machine.root.states).map((node) => [node.key, shapeOf(machine, node)]));
  const effects = effectsOf(machine);

  function transition(snapshot: AnyMachineSnapshot, event: EventObject, scope: AnyActorScope): AnyMachineSnapshot {
    // XState's own events (a stop) are its own business.
    if (event.type.startsWith('xstate.')) return machine.transition(snapshot, event, scope);
    const [taken] = machine.getTransitionData(snapshot, event);
    if (taken === undefined) return snapshot;
    const context = carryOut(effects.get(taken) ?? [], snapshot, event, scope);
    const value = taken.target?.[0]?.key ?? (snapshot.value as string);
    if (value === snapshot.value && context === snapshot.context) return snapshot;
    return { ...(shapes.get(value) as AnyMachineSnapshot), context };
  }
  return Object.assign(Object.create(machine) as M, { transition });
}

function carryOut(
  effects: readonly Effect[],
  { context: before }: AnyMachineSnapshot,
  event: EventObject,
  scope: ActorScope<AnyMachineSnapshot, EventObject>,
): object {
  let context = before as object;
  for (const effect of effects) {
    const args = { context, event, self: scope.self, system: scope.system };
    if (effect.type === 'assign') {
      context = { ...context, ...effect.change(args) };
    } else {
      const fact = effect.fact(args);
      // Told when the actor has its new snapshot, as XState does.
      scope.defer(() => scope.emit(fact));
    }
  }
  return context;
}

/** The snapshot in a state, to be completed with a context. */
function shapeOf(machine: AnyStateMachine, node: AnyStateNode): AnyMachineSnapshot {
  const isFlat = node.type === 'atomic' || node.type === 'final';
  const extras = [node.entry, node.exit, node.invoke, node.always ?? [], node.after];
  if (!isFlat || extras.some((it) => it.length > 0)) {
    throw new Error(`state ${node.id} is not flat or does more than its transitions say`);
  }
  return machine.resolveState({ value: node.key, context: {} }) as AnyMachineSnapshot;
}

/** What each transition of the machine does. */
function effectsOf(machine: AnyStateMachine): Map<Transition, readonly Effect[]> {
  const all = new Map<Transition, readonly Effect[]>();
  for (const node of [machine.root, ...Object.values(machine.root.states)]) {
    for (const transitions of node.transitions.values()) {
      for (const it of transitions) {
        const actions = it.actions as readonly unknown[];
        all.set(
          it,
          actions.map((action) => effectOf(machine, node, action)),
        );
      }
    }
  }
  return all;
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

/**
 * A machine's own transitions without the interpreter's sets. XState's interpreter is made for nested and parallel states: it
 * allocates 14 kB and takes 8 us for one event of a flat machine, which was two thirds of what a job cost the coordinator.
 * The transitions are those that XState has made of the machine, in its order and with its guards; choosing among them,
 * carrying one out and going on along those that need no event is done here. Every state and every event of every machine
 * is tested against both.
 */
import type { AnyActorScope, AnyMachineSnapshot, AnyStateMachine, AnyStateNode, EventObject } from 'xstate';

/** Hears what actors do. One for all of them: listeners of its own make an actor larger, and each fact dearer. */
export interface TransitionObserver {
  /** A fact that a transition emits, as soon as it is made. */
  tell(fact: EventObject): void;
  /** A machine threw: its actor is as it was before the event. */
  broke(error: unknown): void;
}

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

type TransitionData = ReturnType<AnyStateMachine['getTransitionData']>[number];

/** What a transition does, and where it leads. */
interface Transition {
  effects: readonly Effect[];
  target: string | undefined;
}

/** A transition that is taken if its guard holds. */
interface GuardedTransition {
  holds: (args: { context: object; event: EventObject }, params: undefined) => boolean;
  deed: Transition;
}

/** A state of the machine. */
interface CompiledState {
  /** The snapshot in this state, to be completed with a context. */
  shape: AnyMachineSnapshot;
  /** By event, in the order in which they are tried; without the events of which a guard is not a plain function. */
  on: ReadonlyMap<string, readonly GuardedTransition[]>;
  always: readonly GuardedTransition[];
}

/**
 * The logic of a flat machine for `createActor`: the machine itself, but for how a transition is chosen and carried out.
 * @throws Error when the machine has anything but atomic and final states, and transitions with `assign` and `emit`
 */
export function flatMachine(machine: AnyStateMachine, witness: TransitionObserver): AnyStateMachine {
  const nodes = Object.values(machine.root.states);
  for (const node of nodes) flatOrThrow(machine, node);
  const deeds = new Map(transitionsOf(machine).map((it) => [it, compileTransition(machine, it)]));
  const places = new Map(nodes.map((node) => [node.key, compileState(machine, node, deeds)]));

  function transition(snapshot: AnyMachineSnapshot, event: EventObject, scope: AnyActorScope): AnyMachineSnapshot {
    // XState's own events (a stop) are its own business.
    if (event.type.startsWith('xstate.')) return machine.transition(snapshot, event, scope);
    try {
      return next(snapshot, event, scope);
    } catch (error) {
      witness.broke(error);
      return snapshot;
    }
  }

  function next(snapshot: AnyMachineSnapshot, event: EventObject, scope: AnyActorScope): AnyMachineSnapshot {
    let value = snapshot.value as string;
    let place = placeAt(value);
    const args: EffectArgs = { context: snapshot.context as object, event, self: scope.self, system: scope.system };
    let taken = chosen(place, snapshot, args) ?? first(place.always, args);
    for (let steps = 0; taken !== undefined; steps += 1) {
      if (steps > places.size) throw new Error(`the ${machine.id} does not come to rest in ${value}`);
      const { effects, target = value } = taken;
      for (const effect of effects) {
        // A copy, and then the change laid over it: both in one literal would grow an object member by member.
        if (effect.type === 'assign') args.context = Object.assign({ ...args.context }, effect.change(args));
        else witness.tell(effect.fact(args));
      }
      if (target !== value) place = placeAt((value = target));
      taken = first(place.always, args);
    }
    if (value === snapshot.value && args.context === snapshot.context) return snapshot;
    return { ...place.shape, context: args.context };
  }

  /** The transition that the event takes. Where guards are put together of others, XState itself is asked. */
  function chosen({ on }: CompiledState, snapshot: AnyMachineSnapshot, args: EffectArgs): Transition | undefined {
    const choices = on.get(args.event.type);
    if (choices !== undefined) return first(choices, args);
    const [taken] = machine.getTransitionData(snapshot, args.event);
    return taken && deeds.get(taken);
  }

  function placeAt(value: string): CompiledState {
    const place = places.get(value);
    if (place === undefined) throw new Error(`the ${machine.id} has no state ${value}`);
    return place;
  }

  /** No history, no children: a state is its value and its context, whether it is new or comes from somewhere. */
  function resolveState({ value, context }: { value: unknown; context?: object }): AnyMachineSnapshot {
    return { ...placeAt(value as string).shape, context: context ?? {} };
  }
  function restoreSnapshot(snapshot: AnyMachineSnapshot): AnyMachineSnapshot {
    return snapshot;
  }
  function getInitialSnapshot(scope: AnyActorScope, input: unknown): AnyMachineSnapshot {
    const witnessed = { ...scope, emit: (fact: EventObject) => witness.tell(fact) };
    return machine.getInitialSnapshot(witnessed as typeof scope, input) as AnyMachineSnapshot;
  }
  const logic = { transition, resolveState, restoreSnapshot, getInitialSnapshot };
  return Object.assign(Object.create(machine) as AnyStateMachine, logic);
}

function first(choices: readonly GuardedTransition[], args: EffectArgs): Transition | undefined {
  for (const { holds, deed } of choices) if (holds(args, undefined)) return deed;
  return undefined;
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

function compileState(
  machine: AnyStateMachine,
  node: AnyStateNode,
  deeds: ReadonlyMap<TransitionData, Transition>,
): CompiledState {
  const choices = (of: readonly TransitionData[]): GuardedTransition[] | undefined => {
    const guards = of.map((it) => guardOf(machine, it));
    return guards.every((it) => it !== undefined)
      ? of.map((it, at) => ({ holds: guards[at] as GuardedTransition['holds'], deed: deeds.get(it) as Transition }))
      : undefined;
  };
  const always = choices(node.always ?? []);
  if (always === undefined) throw new Error(`state ${node.id} has a guard that is not a plain function`);
  const on = new Map<string, readonly GuardedTransition[]>();
  for (const type of machine.root.events as readonly string[]) {
    if (type.includes('*')) throw new Error(`state ${node.id} takes events of many names: ${type}`);
    // What the state itself does not take may be taken wherever the machine is.
    const shared = machine.root.transitions.get(type) ?? [];
    const tried = choices([...(node.transitions.get(type) ?? []), ...shared]);
    if (tried !== undefined) on.set(type, tried);
  }
  return { shape: machine.resolveState({ value: node.key, context: {} }) as AnyMachineSnapshot, on, always };
}

/** Undefined when the guard is put together of others: such a one has a `check` of its own. */
function guardOf(machine: AnyStateMachine, { guard: given }: TransitionData): GuardedTransition['holds'] | undefined {
  const named = machine.implementations.guards as Record<string, unknown>;
  const guard: unknown = typeof given === 'string' ? named[given] : given;
  if (guard === undefined) return () => true;
  return typeof guard === 'function' && !('check' in guard) ? (guard as GuardedTransition['holds']) : undefined;
}

function transitionsOf(machine: AnyStateMachine): TransitionData[] {
  const nodes = [machine.root, ...Object.values(machine.root.states)];
  return nodes.flatMap((node) => [...[...node.transitions.values()].flat(), ...(node.always ?? [])]);
}

function compileTransition(machine: AnyStateMachine, it: TransitionData): Transition {
  const effects = (it.actions as readonly unknown[]).map((action) => compileEffect(machine, it.source, action));
  return { effects, target: it.target?.[0]?.key };
}

function compileEffect(machine: AnyStateMachine, node: AnyStateNode, action: unknown): Effect {
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

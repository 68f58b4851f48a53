/**
 * Compiles a flat XState machine to straight-line transitions: an `ActorLogic` of the same definition, for `createActor`. XState's own
 * logic supports nested and parallel states: it allocates 14 kB and takes 8 us for one event of a flat machine, which was two
 * thirds of the coordinator's time per job. This one uses the transitions that XState made of the definition, in the same order and
 * with the same guards. A test compares both in every state, for every event, of every machine.
 */
import type { AnyActorScope, AnyMachineSnapshot, AnyStateMachine, AnyStateNode, EventObject, Snapshot } from 'xstate';
import { contextMerge, inShape, type ContextMerge } from './context-merge.ts';

/** Receives the facts of all actors of a logic, in order, during the transition: one function costs less than a listener on each actor. */
export type FactSink = (fact: EventObject) => void;

/** A compiled action: a change of the context, or a fact to emit. */
type Effect =
  | { type: 'assign'; change: (args: EffectArgs) => object; merge: ContextMerge }
  | { type: 'emit'; fact: (args: EffectArgs) => EventObject };

interface EffectArgs {
  context: object;
  event: EventObject;
  self: unknown;
  system: unknown;
}

/** An action as `assign` or `emit` returns it. */
interface MadeAction {
  type?: string;
  assignment?: unknown;
  event?: unknown;
}

type TransitionData = ReturnType<AnyStateMachine['getTransitionData']>[number];

/** A compiled transition: its actions and its target. */
interface Transition {
  effects: readonly Effect[];
  target: string | undefined;
}

/** A transition with its guard. */
interface GuardedTransition {
  holds: (args: { context: object; event: EventObject }, params: undefined) => boolean;
  transition: Transition;
}

/** A compiled state. */
interface CompiledState {
  /** The snapshot of this state, without a context. */
  template: AnyMachineSnapshot;
  /** Transitions by event, in order of priority; events with a guard that is not a plain function are absent. */
  on: ReadonlyMap<string, readonly GuardedTransition[]>;
  always: readonly GuardedTransition[];
}

/**
 * Returns the logic of a flat machine: the machine, with compiled transitions. An error of a guard or an action is thrown; an `Actor` then
 * has the status `error`. Facts go to `onFact` and to the listeners of the actor.
 * @throws Error when the machine has more than atomic and final states, and transitions with `assign` and `emit`; when a guard
 * has no implementation
 */
export function compiledMachine<M extends AnyStateMachine>(machine: M, onFact: FactSink = () => {}): M {
  const nodes = Object.values(machine.root.states);
  rootOrThrow(machine);
  for (const node of nodes) flatOrThrow(machine, node);
  for (const it of transitionsOf(machine)) guardOrThrow(machine, it.source, it.guard);
  const transitions = new Map(transitionsOf(machine).map((it) => [it, compileTransition(machine, it)]));
  const states = new Map(nodes.map((node) => [node.key, compileState(machine, node, transitions)]));

  function transition(snapshot: AnyMachineSnapshot, event: EventObject, scope: AnyActorScope): AnyMachineSnapshot {
    // XState handles its own events, such as a stop.
    if (event.type.startsWith('xstate.')) return machine.transition(snapshot, event, scope);
    let value = snapshot.value as string;
    let state = stateAt(value);
    const args: EffectArgs = { context: snapshot.context as object, event, self: scope.self, system: scope.system };
    let taken = chosen(state, snapshot, args) ?? first(state.always, args);
    for (let steps = 0; taken !== undefined; steps += 1) {
      if (steps > states.size)
        throw new Error(`the ${machine.id} machine loops through transitions without event in ${value}`);
      const { effects, target = value } = taken;
      for (const effect of effects) {
        if (effect.type === 'assign') args.context = effect.merge(args.context, effect.change(args));
        else emit(effect.fact(args), scope);
      }
      if (target !== value) state = stateAt((value = target));
      taken = first(state.always, args);
    }
    if (value === snapshot.value && args.context === snapshot.context) return snapshot;
    return { ...state.template, context: args.context };
  }

  function emit(fact: EventObject, scope: AnyActorScope): void {
    onFact(fact);
    scope.emit(fact);
  }

  /** Returns the transition that the event takes. XState evaluates guards that combine other guards. */
  function chosen({ on }: CompiledState, snapshot: AnyMachineSnapshot, args: EffectArgs): Transition | undefined {
    const choices = on.get(args.event.type);
    if (choices !== undefined) return first(choices, args);
    const [taken] = machine.getTransitionData(snapshot, args.event);
    return taken && transitions.get(taken);
  }

  function stateAt(value: string): CompiledState {
    const state = states.get(value);
    if (state === undefined) throw new Error(`the ${machine.id} machine has no state ${value}`);
    return state;
  }

  /** Flat machines have no history and no children: a snapshot is a value and a context. */
  function resolveState({ value, context }: { value: unknown; context?: object }): AnyMachineSnapshot {
    return { ...stateAt(value as string).template, context: context ?? {} };
  }
  function restoreSnapshot(snapshot: AnyMachineSnapshot): AnyMachineSnapshot {
    return 'machine' in snapshot ? snapshot : resolveState(snapshot);
  }
  /** True where entry has no action and no transition: the first snapshot is the initial state with its context. */
  const isPlain = hasPlainStart(machine, states);
  function getInitialSnapshot(scope: AnyActorScope, input: unknown): AnyMachineSnapshot {
    const { context, initial } = machine.config;
    if (isPlain && typeof context === 'function') {
      return { ...stateAt(initial as string).template, context: inShape(context({ input, self: scope.self, spawn })) };
    }
    const snapshot = machine.getInitialSnapshot(emittingTo(onFact, scope), input) as AnyMachineSnapshot;
    return { ...snapshot, context: inShape(snapshot.context as object) };
  }
  /** XState's own searches the context for actors, which a flat machine has not. */
  function getPersistedSnapshot({ status, value, context, error, output }: AnyMachineSnapshot): Snapshot<unknown> {
    const persisted = { status, output, error, value, historyValue: NONE, context, children: NONE };
    return persisted as unknown as Snapshot<unknown>;
  }
  // No children to start.
  const start = undefined;
  const logic = { transition, resolveState, restoreSnapshot, getInitialSnapshot, getPersistedSnapshot, start };
  return Object.assign(Object.create(machine) as M, logic);
}

/** A flat machine has no history and no children. */
const NONE = Object.freeze({});

/** Returns a scope whose facts reach `onFact` too. */
export const emittingTo = (onFact: FactSink, scope: AnyActorScope): AnyActorScope => ({
  ...scope,
  emit(fact: EventObject) {
    onFact(fact);
    scope.emit(fact);
  },
});

/** True when nothing happens as the machine starts: XState need not execute it. */
function hasPlainStart({ root, config }: AnyStateMachine, states: ReadonlyMap<string, CompiledState>): boolean {
  const node = root.states[config.initial as string];
  if (node === undefined || node.type === 'final' || (root.initial.actions ?? []).length > 0) return false;
  return root.entry.length === 0 && node.entry.length === 0 && states.get(node.key)?.always.length === 0;
}

const spawn = (): never => {
  throw new Error('a flat machine has no children');
};

function first(choices: readonly GuardedTransition[], args: EffectArgs): Transition | undefined {
  for (const { holds, transition } of choices) if (holds(args, undefined)) return transition;
  return undefined;
}

/** Throws unless the root has states and transitions on events only: this interpreter evaluates nothing else of it. */
function rootOrThrow({ root }: AnyStateMachine): void {
  if (root.type !== 'compound')
    throw new Error(`the ${root.id} machine is ${root.type}: its root state must be compound`);
  const unsupported = { always: root.always, after: root.after, invoke: root.invoke, exit: root.exit };
  for (const [name, of] of Object.entries(unsupported)) {
    if (of !== undefined && of.length > 0) throw new Error(`the root state of the ${root.id} machine has \`${name}\``);
  }
  if (root.output !== undefined) throw new Error(`the root state of the ${root.id} machine has \`output\``);
}

/** Throws unless the state is flat. Only the initial state, which XState enters, may have entry actions. */
function flatOrThrow(machine: AnyStateMachine, node: AnyStateNode): void {
  const isFlat = node.type === 'atomic' || node.type === 'final';
  const extras = [node.exit, node.invoke, node.after];
  const isEntered = transitionsOf(machine).some((it) => it.target?.includes(node));
  if (!isFlat || extras.some((it) => it.length > 0) || (node.entry.length > 0 && isEntered)) {
    throw new Error(`state ${node.id} is not flat: it has children, or actions outside its transitions`);
  }
  if (node.output !== undefined) throw new Error(`the final state ${node.id} has \`output\``);
}

/** Throws when a named guard, alone or in a combined one, has no implementation: a missing guard must not hold. */
function guardOrThrow(machine: AnyStateMachine, { id }: AnyStateNode, guard: unknown): void {
  if (guard === undefined) return;
  const named = machine.implementations.guards as Record<string, unknown>;
  const name = typeof guard === 'object' && guard !== null && 'type' in guard ? guard.type : guard;
  if (typeof name === 'string' && named[name] === undefined) {
    throw new Error(`state ${id} has a transition with guard "${name}", which has no implementation`);
  }
  const implementation = typeof name === 'string' ? named[name] : guard;
  const { guards: combined = [] } = implementation as { guards?: readonly unknown[] };
  for (const it of combined) guardOrThrow(machine, machine.root, it);
}

function compileState(
  machine: AnyStateMachine,
  node: AnyStateNode,
  transitions: ReadonlyMap<TransitionData, Transition>,
): CompiledState {
  const choices = (of: readonly TransitionData[]): GuardedTransition[] | undefined => {
    const guards = of.map((it) => guardOf(machine, it));
    return guards.every((it) => it !== undefined)
      ? of.map((it, at) => ({
          holds: guards[at] as GuardedTransition['holds'],
          transition: transitions.get(it) as Transition,
        }))
      : undefined;
  };
  const always = choices(node.always ?? []);
  if (always === undefined) throw new Error(`state ${node.id} has a guard that is not a plain function`);
  const on = new Map<string, readonly GuardedTransition[]>();
  for (const type of machine.root.events as readonly string[]) {
    if (type.includes('*')) throw new Error(`state ${node.id} has a wildcard transition: ${type}`);
    // Transitions of the root apply in every state, after those of the state.
    const shared = machine.root.transitions.get(type) ?? [];
    const tried = choices([...(node.transitions.get(type) ?? []), ...shared]);
    if (tried !== undefined) on.set(type, tried);
  }
  return { template: machine.resolveState({ value: node.key, context: {} }) as AnyMachineSnapshot, on, always };
}

/** Returns undefined for a guard that combines others (`and`, `or`, `not`); such a guard has a `check` member. */
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
    const merge = contextMerge();
    if (typeof assignment === 'function') {
      return { type: 'assign', change: assignment as (args: EffectArgs) => object, merge };
    }
    const values = Object.entries(assignment as object);
    if (values.every(([, value]) => typeof value !== 'function')) {
      return { type: 'assign', change: () => assignment as object, merge };
    }
  }
  if (made?.type === 'xstate.emit') {
    const { event } = made;
    const fact = typeof event === 'function' ? event : () => event;
    return { type: 'emit', fact: fact as (args: EffectArgs) => EventObject };
  }
  throw new Error(`state ${node.id} has an action that is neither assign nor emit`);
}

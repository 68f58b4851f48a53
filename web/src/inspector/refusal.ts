/** Why a machine does not take an event: the guards of its transitions, evaluated on a copy, with the values that each has read. Pure. */
import type { AnyStateMachine } from 'xstate';
import { KINDS, type MachineName } from '../../../machines/kinds.ts';

/** A value that a guard has read: `context.attempt` is 2. */
export interface Reading {
  path: string;
  value: unknown;
}

export interface GuardResult {
  guard: string;
  holds: boolean;
  readings: Reading[];
  /** The state that the transition leads to; undefined where it does not leave the state. */
  to: string | undefined;
}

export interface Refusal {
  /** The transitions that the state has for the event, in the order in which they are tried. */
  guards: GuardResult[];
  /** The states that have a transition for the event. */
  takenIn: string[];
}

type GuardArgs = { context: object; event: object };
type Guard = (args: GuardArgs) => boolean;

/** Evaluates every guard of an event in a state. */
export function refusalOf(kind: MachineName, state: string, context: object, event: { type: string }): Refusal {
  const machine = KINDS[kind].machine as AnyStateMachine;
  const nodes = Object.values(machine.root.states);
  const ofRoot = machine.root.transitions.get(event.type) ?? [];
  const own = machine.root.states[state]?.transitions.get(event.type) ?? [];
  const isOver = machine.root.states[state]?.type === 'final';
  const takenIn = nodes
    .filter((it) => it.type !== 'final' && (it.transitions.has(event.type) || ofRoot.length > 0))
    .map((it) => it.key);
  const guards = (isOver ? [] : [...own, ...ofRoot]).map((it): GuardResult => {
    const readings = new Map<string, unknown>();
    const args = { context: watched(context, 'context', readings), event: watched(event, 'event', readings) };
    const parts = partsOf(machine, it.guard);
    const results = parts.map(({ check }) => check(args));
    const holds = results.every(Boolean);
    const failed = parts.filter((_, at) => !results[at]).map(({ name }) => name);
    const named = parts.length === 0 ? 'no guard' : (holds ? parts.map(({ name }) => name) : failed).join(' and ');
    return {
      guard: named,
      holds,
      readings: [...readings].map(([path, value]) => ({ path, value })),
      to: it.target?.[0]?.key,
    };
  });
  return { guards, takenIn };
}

/** A guard's parts: itself, or those that it combines. */
function partsOf(machine: AnyStateMachine, guard: unknown): { name: string; check: Guard }[] {
  if (guard === undefined) return [];
  const named = machine.implementations.guards as Record<string, unknown>;
  const name = typeof guard === 'string' ? guard : ((guard as { type?: string }).type ?? (guard as Guard).name);
  const found = typeof guard === 'string' ? named[guard] : guard;
  const { guards } = found as { guards?: readonly unknown[] };
  if (guards !== undefined) return guards.flatMap((it) => partsOf(machine, it));
  return [{ name, check: found as Guard }];
}

/** A view of an object that notes the values that are read through it: leaves, the lengths of lists. */
function watched(object: object, path: string, readings: Map<string, unknown>): object {
  return new Proxy(object, {
    get(target, name) {
      const value = (target as Record<PropertyKey, unknown>)[name];
      if (typeof name === 'symbol' || typeof value === 'function')
        return typeof value === 'function' ? value.bind(watchedList(target, path, readings)) : value;
      const member = Array.isArray(target) && /^\d+$/.test(name) ? `${path}[${name}]` : `${path}.${name}`;
      if (typeof value === 'object' && value !== null) return watched(value, member, readings);
      readings.set(member, value);
      return value;
    },
  });
}

/** A list whose methods are called: its length says what they went through. */
function watchedList(target: object, path: string, readings: Map<string, unknown>): object {
  if (Array.isArray(target)) readings.set(`${path}.length`, target.length);
  return target;
}

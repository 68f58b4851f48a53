/**
 * The statechart of a machine as a graph without places: its states, its compound states, and its transitions. The machine declares
 * the compound states in `meta`; a transition of all their members is drawn once, from the frame, and transitions to several members once, to the frame.
 */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import type { Trigger } from './types.ts';

export interface ChartState {
  key: string;
  description: string;
  final: boolean;
  inner: Trigger[];
  /** The compound states around it, outermost first. */
  within: readonly string[];
}

export interface ChartGroup {
  key: string;
  description: string;
  inner: Trigger[];
  members: string[];
  /** The compound state around it. */
  parent: string | undefined;
}

export interface ChartEdge {
  from: string;
  to: string;
  sources: string[];
  targets: string[];
  triggers: Trigger[];
}

export interface Chart {
  initial: string;
  states: ChartState[];
  groups: ChartGroup[];
  edges: ChartEdge[];
}

/** A transition; `to` is undefined where it does not leave the state. */
interface Move {
  event: string;
  guard: string | undefined;
  to: string | undefined;
}

/** @throws Error for a compound state that the machine does not describe */
export function chartOf(machine: AnyStateMachine): Chart {
  const nodes = Object.values(machine.root.states);
  const described = (machine.root.meta?.['groups'] ?? {}) as Record<string, string>;
  const states = nodes.map((it) => ({
    key: it.key,
    description: it.description ?? '',
    final: it.type === 'final',
    within: (it.meta?.['within'] ?? []) as readonly string[],
  }));
  const left = new Map(nodes.map((it) => [it.key, movesOf(machine, it)]));
  const edges: ChartEdge[] = [];
  const innerOf = (from: string, sources: string[], moves: readonly Move[]): Trigger[] => {
    const inner: Trigger[] = [];
    for (const { event, guard, to } of moves) {
      if (to === undefined || to === from) inner.push({ event, guard });
      else if (sources.includes(to)) inner.push({ event, guard, to });
      else addTo(edges, { from, to, sources, targets: [to], triggers: [{ event, guard }] });
    }
    return inner;
  };
  const groups = [...new Set(states.flatMap((it) => it.within))].map((key): ChartGroup => {
    const description = described[key];
    if (description === undefined)
      throw new Error(`the compound state ${key} has no description: add it to the machine`);
    const members = states.filter((it) => it.within.includes(key));
    const { within } = members[0]!;
    const sources = members.map((it) => it.key);
    const shared = takeShared(sources.map((it) => left.get(it)!));
    return {
      key,
      description,
      members: sources,
      parent: within[within.indexOf(key) - 1],
      inner: innerOf(key, sources, shared),
    };
  });
  return {
    initial: machine.root.initial?.target?.[0]?.key ?? '',
    states: states.map((it) => ({ ...it, inner: innerOf(it.key, [it.key], left.get(it.key)!) })),
    groups,
    edges: intoFrames(edges, groups),
  };
}

/** The transitions of a state, with those of the machine's root that none of its own takes the place of. */
function movesOf(machine: AnyStateMachine, state: AnyStateNode): Move[] {
  if (state.type === 'final') return [];
  const own = [...state.transitions.values()].flat();
  const always = new Set(own.filter((it) => it.guard === undefined).map((it) => it.eventType));
  const ofRoot = [...machine.root.transitions.values()].flat().filter((it) => !always.has(it.eventType));
  const moves = [...own, ...ofRoot, ...(state.always ?? [])].map((it) => moveOf(it));
  return [...new Map(moves.map((it) => [keyOf(it), it])).values()];
}

const moveOf = (it: AnyTransitionDefinition): Move => ({
  event: it.eventType === '' ? 'always' : it.eventType,
  guard: guardName(it.guard),
  to: it.target?.[0]?.key,
});

const keyOf = ({ event, guard, to }: Move): string => [event, guard ?? '', to ?? ''].join('|');

/** Removes the transitions that all lists have, and returns them. */
function takeShared(lists: Move[][]): Move[] {
  const [first = [], ...others] = lists;
  const keys = others.map((list) => new Set(list.map(keyOf)));
  const shared = first.filter((it) => keys.every((has) => has.has(keyOf(it))));
  const taken = new Set(shared.map(keyOf));
  for (const list of lists) list.splice(0, list.length, ...list.filter((it) => !taken.has(keyOf(it))));
  return shared;
}

function addTo(edges: ChartEdge[], added: ChartEdge): void {
  const known = edges.find((it) => it.from === added.from && it.to === added.to);
  if (known === undefined) edges.push(added);
  else known.triggers.push(...added.triggers);
}

/**
 * Joins the edges from one place to several members of a compound state: one edge to its frame, whose lines name the members. Outer
 * frames come first.
 */
function intoFrames(edges: readonly ChartEdge[], groups: readonly ChartGroup[]): ChartEdge[] {
  let all = [...edges];
  for (const { key, members } of groups) {
    const inside = (it: ChartEdge): boolean =>
      members.includes(it.to) && !it.sources.some((from) => members.includes(from));
    for (const from of new Set(all.filter(inside).map((it) => it.from))) {
      const joined = all.filter((it) => it.from === from && inside(it));
      if (joined.length < 2) continue;
      const triggers = joined.flatMap((it) => it.triggers.map((trigger) => ({ ...trigger, to: it.to })));
      const edge = { from, to: key, sources: joined[0]!.sources, targets: joined.map((it) => it.to), triggers };
      all = all.filter((it) => !joined.includes(it));
      all.push(edge);
    }
  }
  return all;
}

/** Returns a guard's name; for a combined guard the names of its parts. */
function guardName(guard: unknown): string | undefined {
  if (guard === undefined) return undefined;
  if (typeof guard === 'string') return guard;
  const { type, name, guards } = guard as { type?: string; name?: string; guards?: unknown[] };
  if (guards !== undefined) return guards.map((it) => guardName(it) ?? '').join(' & ');
  return type ?? name;
}

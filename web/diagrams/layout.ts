/**
 * Lays out the statecharts from the machine definitions, at build time in Node, so that the drawing always matches the code.
 * Returns plain data; the dashboard draws it.
 */
import ELK, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js';
import type { AnyStateMachine, AnyTransitionDefinition } from 'xstate';
import { allocationMachine } from '../../machines/allocation/allocation.ts';
import { KINDS, MACHINE_NAMES } from '../../machines/kinds.ts';
import type { Diagram, DiagramEdge, Trigger } from './types.ts';

/** Width of a character in the label fonts: 11 px monospace, and 13 px for names of states. */
const LABEL_CHARACTER = 6.7;
const NAME_CHARACTER = 8;
const LINE = 15;
/** The pseudo-state of transitions that are possible in every state. */
const ANYWHERE = '*';

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'RIGHT',
  'elk.edgeRouting': 'POLYLINE',
  'elk.spacing.nodeNode': '34',
  'elk.layered.spacing.nodeNodeBetweenLayers': '34',
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '14',
  'elk.layered.spacing.edgeNodeBetweenLayers': '16',
  'elk.edgeLabels.inline': 'true',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.padding': '[top=10,left=10,bottom=10,right=10]',
};

/** Returns the diagrams of all machines: those of the coordinator, and the launcher's. */
export async function layOutMachines(): Promise<Diagram[]> {
  const elk = new ELK();
  const ofCoordinator = MACHINE_NAMES.map(async (kind) => layOut(elk, kind, KINDS[kind].machine));
  return Promise.all([...ofCoordinator, layOut(elk, 'allocation', allocationMachine)]);
}

async function layOut(
  elk: InstanceType<typeof ELK>,
  kind: Diagram['kind'],
  machine: AnyStateMachine,
): Promise<Diagram> {
  const states = Object.values(machine.root.states);
  const inner = new Map<string, Trigger[]>(states.map((it) => [it.key, []]));
  const edges = new Map<string, { from: string; to: string; triggers: Trigger[] }>();
  const add = (from: string, transition: AnyTransitionDefinition): void => {
    const to = transition.target?.[0]?.key ?? from;
    const trigger: Trigger = { event: eventName(transition), guard: guardName(transition.guard) };
    if (to === from) {
      inner.get(from)?.push(trigger);
      return;
    }
    const edge = edges.get(`${from}|${to}`) ?? { from, to, triggers: [] };
    edge.triggers.push(trigger);
    edges.set(`${from}|${to}`, edge);
  };
  for (const state of states) {
    for (const transitions of state.transitions.values()) for (const it of transitions) add(state.key, it);
    for (const it of state.always ?? []) add(state.key, it);
  }
  for (const transitions of machine.root.transitions.values()) for (const it of transitions) add(ANYWHERE, it);

  const initial = machine.root.initial?.target?.[0]?.key ?? '';
  const nodes = states.map((it) => ({
    key: it.key,
    final: it.type === 'final',
    inner: distinct(inner.get(it.key) ?? []),
  }));
  if ([...edges.values()].some((it) => it.from === ANYWHERE)) nodes.unshift({ key: ANYWHERE, final: false, inner: [] });
  const graph: ElkNode = {
    id: kind,
    // The runner's states are all connected in both directions: side by side they would be too wide to read.
    layoutOptions: kind === 'runner' || kind === 'allocation' ? { ...OPTIONS, 'elk.direction': 'DOWN' } : OPTIONS,
    children: nodes.map((it) => ({
      id: it.key,
      ...sizeOf(it.key, it.inner),
      ...(it.key === initial ? { layoutOptions: { 'elk.layered.layering.layerConstraint': 'FIRST' } } : {}),
    })),
    edges: [...edges.values()].map((it, index) => ({
      id: `e${index}`,
      sources: [it.from],
      targets: [it.to],
      labels: [{ text: `${index}`, ...labelSize(it.triggers) }],
    })),
  };
  const laid = await elk.layout(graph);
  return {
    kind,
    width: Math.ceil(laid.width ?? 0),
    height: Math.ceil(laid.height ?? 0),
    initial,
    states: nodes.map((it) => {
      const { x = 0, y = 0, width = 0, height = 0 } = laid.children?.find((child) => child.id === it.key) ?? {};
      return { ...it, x, y, width, height };
    }),
    edges: (laid.edges ?? []).map((it, index) => drawn(it, [...edges.values()][index]!)),
  };
}

function drawn(laid: ElkExtendedEdge, edge: { from: string; to: string; triggers: Trigger[] }): DiagramEdge {
  const [section] = laid.sections ?? [];
  const points = section === undefined ? [] : [section.startPoint, ...(section.bendPoints ?? []), section.endPoint];
  const { x = 0, y = 0, width = 0, height = 0 } = laid.labels?.[0] ?? {};
  return { ...edge, points: points.map((it) => [round(it.x), round(it.y)]), label: { x, y, width, height } };
}

const round = (value: number): number => Math.round(value * 10) / 10;

function sizeOf(key: string, inner: readonly Trigger[]): { width: number; height: number } {
  const widest = Math.max(
    key.length * NAME_CHARACTER + 92,
    ...inner.map((it) => textOf(it).length * LABEL_CHARACTER + 34),
  );
  return { width: Math.ceil(widest), height: 34 + (inner.length === 0 ? 0 : inner.length * LINE + 8) };
}

function labelSize(triggers: readonly Trigger[]): { width: number; height: number } {
  const widest = Math.max(...triggers.map((it) => textOf(it).length));
  return { width: Math.ceil(widest * LABEL_CHARACTER + 12), height: triggers.length * LINE + 6 };
}

const textOf = ({ event, guard }: Trigger): string => (guard === undefined ? event : `${event} [${guard}]`);

/** Internal transitions of the same event share one line. */
function distinct(triggers: readonly Trigger[]): Trigger[] {
  return [...new Map(triggers.map((it) => [textOf(it), it])).values()];
}

const eventName = (transition: AnyTransitionDefinition): string =>
  transition.eventType === '' ? 'always' : transition.eventType;

/** Returns a guard's name; for a combined guard the names of its parts. */
function guardName(guard: unknown): string | undefined {
  if (guard === undefined) return undefined;
  if (typeof guard === 'string') return guard;
  const { type, name, guards } = guard as { type?: string; name?: string; guards?: unknown[] };
  if (guards !== undefined) return guards.map((it) => guardName(it) ?? '').join(' & ');
  return type ?? name;
}

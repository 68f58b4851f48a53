/**
 * Lays out the statecharts from the machine definitions, at build time in Node, so that the drawing always matches the code.
 * Returns plain data; the dashboard draws it.
 */
import ELK, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js';
import type { AnyStateMachine } from 'xstate';
import { allocationMachine } from '../../machines/allocation/allocation.ts';
import { attemptMachine } from '../../machines/attempt.ts';
import { KINDS, MACHINE_NAMES } from '../../machines/kinds.ts';
import { chartOf, type Chart, type ChartEdge, type ChartGroup, type ChartState } from './chart.ts';
import type { Box, Diagram, DiagramEdge, Trigger } from './types.ts';

/** Width of a character in the label fonts: 11 px monospace, and 13 px for names of states. */
const LABEL_CHARACTER = 6.7;
const NAME_CHARACTER = 8;
const LINE = 15;
/** The line of a rate or a total in a label: as wide as `12.3k in all`. */
const FIGURE = { width: 84, height: 16 };
const NO_FIGURE = { width: 0, height: 0 };

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'org.eclipse.elk.json.shapeCoords': 'ROOT',
  'org.eclipse.elk.json.edgeCoords': 'ROOT',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.edgeLabels.inline': 'true',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.padding': '[top=10,left=10,bottom=10,right=10]',
};

/** Options that the groups get too: the layout inherits none. */
const INHERITED = {
  'elk.direction': 'RIGHT',
  'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST',
  'elk.spacing.nodeNode': '34',
  'elk.layered.spacing.nodeNodeBetweenLayers': '12',
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '14',
  'elk.layered.spacing.edgeNodeBetweenLayers': '8',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '8',
};

/** The frames in frames of the allocation are side by side three times as wide as a window. */
const DOWN = { 'elk.direction': 'DOWN' };
/** Narrower than the other placement, which makes straighter edges. */
const NARROW = { 'elk.layered.nodePlacement.strategy': 'LINEAR_SEGMENTS' };

/** The diagrams of the coordinator's machines without labels: small enough to be beside each other in the inspector. */
export async function layOutCompact(): Promise<Diagram[]> {
  const elk = new ELK();
  return Promise.all(MACHINE_NAMES.map(async (kind) => layOut(elk, kind, KINDS[kind].machine, true)));
}

/** Returns the diagrams of all machines: those of the coordinator, the runner's and the launcher's. */
export async function layOutMachines(): Promise<Diagram[]> {
  const elk = new ELK();
  const ofCoordinator = MACHINE_NAMES.map(async (kind) => layOut(elk, kind, KINDS[kind].machine));
  return Promise.all([
    ...ofCoordinator,
    layOut(elk, 'attempt', attemptMachine),
    layOut(elk, 'allocation', allocationMachine),
  ]);
}

async function layOut(
  elk: InstanceType<typeof ELK>,
  kind: Diagram['kind'],
  machine: AnyStateMachine,
  isCompact = false,
): Promise<Diagram> {
  const chart = isCompact ? withoutInner(chartOf(machine)) : chartOf(machine);
  const { states, groups, edges, initial } = chart;
  const hasTimes = kind === 'job' && !isCompact;
  // The coordinator does not count the states and events of an attempt.
  const hasNumbers = kind !== 'attempt' && !isCompact;
  const figure = hasNumbers ? FIGURE : NO_FIGURE;
  const isDown = kind === 'allocation';
  const inherited = { ...INHERITED, ...(isDown ? DOWN : {}) };
  const stateNode = (it: ChartState): ElkNode => ({
    id: it.key,
    ...stateSize(it, hasTimes && !it.final, hasNumbers),
    ...(it.key === initial ? { layoutOptions: { 'elk.layered.layering.layerConstraint': 'FIRST' } } : {}),
  });
  // In the order of the machine, which is that of a life: edges back are the exception.
  const within = (parent: string | undefined): ElkNode[] => {
    const inside = states.filter((it) => parent === undefined || it.within.includes(parent));
    const depth = parent === undefined ? 0 : inside[0]!.within.indexOf(parent) + 1;
    const children = new Set(inside.map((it) => it.within[depth] ?? it.key));
    return Array.from(children, (key) => {
      const group = groups.find((it) => it.key === key);
      return group === undefined ? stateNode(states.find((it) => it.key === key)!) : groupNode(group);
    });
  };
  const groupNode = (it: ChartGroup): ElkNode => ({
    id: it.key,
    layoutOptions: {
      ...inherited,
      'elk.padding': `[top=${headHeight(it) + 14},left=16,bottom=18,right=16]`,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${headWidth(it)},${headHeight(it)})`,
    },
    children: within(it.key),
  });
  const graph: ElkNode = {
    id: kind,
    layoutOptions: { ...inherited, ...OPTIONS, ...(isDown ? NARROW : {}) },
    children: within(undefined),
    edges: edges.map((it, index) => ({
      id: `e${index}`,
      sources: [it.from],
      targets: [it.to],
      labels: isCompact ? [] : [{ text: `${index}`, ...labelSize(it.triggers, figure) }],
    })),
  };
  const laid = await elk.layout(graph);
  const boxes = boxesOf(laid);
  return {
    kind,
    width: Math.ceil(laid.width ?? 0),
    height: Math.ceil(laid.height ?? 0),
    initial,
    states: states.map(({ within: _, ...it }) => ({ ...it, ...boxes.get(it.key)! })),
    groups: groups.map(({ parent: _, ...it }) => ({ ...it, ...boxes.get(it.key)! })),
    edges: (laid.edges ?? []).map((it, index) => drawn(it, edges[index]!, figure)),
  };
}

/** The states and frames without the events that they handle inside. */
const withoutInner = (chart: Chart): Chart => ({
  ...chart,
  states: chart.states.map((it) => ({ ...it, inner: [] })),
  groups: chart.groups.map((it) => ({ ...it, inner: [] })),
});

/** The boxes of all nodes, at any depth. */
function boxesOf(node: ElkNode): Map<string, Box> {
  const boxes = new Map<string, Box>();
  for (const child of node.children ?? []) {
    const { x = 0, y = 0, width = 0, height = 0 } = child;
    boxes.set(child.id, { x, y, width, height });
    for (const [key, box] of boxesOf(child)) boxes.set(key, box);
  }
  return boxes;
}

function drawn(laid: ElkExtendedEdge, edge: ChartEdge, figure: typeof FIGURE): DiagramEdge {
  const [section] = laid.sections ?? [];
  const points = section === undefined ? [] : [section.startPoint, ...(section.bendPoints ?? []), section.endPoint];
  const { x: left = 0, y: top = 0, width = 0, height = 0 } = laid.labels?.[0] ?? {};
  const [x, y] = [Math.round(left), Math.round(top)];
  const text = textWidth(edge.triggers);
  const lines = height - figure.height;
  // The triggers are at the edge, and the figure on their other side.
  const places = [Math.floor((width - text) / 2), 0, width - text].flatMap((right) =>
    [0, figure.height].map((down) => ({ x: x + right, y: y + down, width: text, height: lines })),
  );
  const near = Math.min(...places.map((it) => distance(it, points)));
  const label = places.find((it) => distance(it, points) <= near + 1)!;
  return {
    ...edge,
    points: points.map((it) => [round(it.x), round(it.y)]),
    label,
    figure: { x, y: label.y === y ? y + lines : y, width, height: figure.height },
  };
}

/** The distance between a box and a path of horizontal and vertical lines. */
function distance(box: Box, points: readonly { x: number; y: number }[]): number {
  const beyond = (from: number, size: number, a: number, b: number): number =>
    Math.max(from - Math.max(a, b), 0, Math.min(a, b) - from - size);
  const distances = points
    .slice(1)
    .map((to, at) =>
      Math.hypot(beyond(box.x, box.width, points[at]!.x, to.x), beyond(box.y, box.height, points[at]!.y, to.y)),
    );
  return Math.min(...distances);
}

const round = (value: number): number => Math.round(value * 10) / 10;

const linesHeight = (inner: readonly Trigger[]): number => (inner.length === 0 ? 0 : inner.length * LINE + 8);
const linesWidth = (inner: readonly Trigger[]): number =>
  Math.max(0, ...inner.map((it) => textOf(it).length * LABEL_CHARACTER + 34));

const stateSize = (
  { key, inner }: ChartState,
  hasTime: boolean,
  hasCount: boolean,
): { width: number; height: number } => ({
  width: Math.ceil(Math.max(key.length * NAME_CHARACTER + (hasCount ? 92 : 44), linesWidth(inner))),
  height: 34 + (hasTime ? LINE : 0) + linesHeight(inner),
});

const headHeight = ({ inner }: ChartGroup): number => 30 + linesHeight(inner);
const headWidth = ({ key, inner }: ChartGroup): number =>
  Math.ceil(Math.max(key.length * NAME_CHARACTER + 92, linesWidth(inner)));

const textWidth = (triggers: readonly Trigger[]): number =>
  Math.ceil(Math.max(...triggers.map((it) => textOf(it).length)) * LABEL_CHARACTER + 12);

/** Size of a label, with room for its figure below the triggers. */
const labelSize = (triggers: readonly Trigger[], figure: typeof FIGURE): { width: number; height: number } => ({
  width: Math.max(textWidth(triggers), figure.width),
  height: triggers.length * LINE + 6 + figure.height,
});

const textOf = ({ event, guard, to }: Trigger): string =>
  `${event}${guard === undefined ? '' : ` [${guard}]`}${to === undefined ? '' : ` → ${to}`}`;

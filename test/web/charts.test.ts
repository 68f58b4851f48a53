/** The statecharts of the dashboard: each shows every transition of its machine once, and its boxes and labels do not overlap. */
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import type { AnyStateMachine } from 'xstate';
import { allocationMachine } from '../../machines/allocation/allocation.ts';
import { attemptMachine } from '../../machines/attempt.ts';
import { KINDS, MACHINE_NAMES } from '../../machines/kinds.ts';

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}
interface Trigger {
  event: string;
  guard?: string;
  to?: string;
}
type Inner = { key: string; description: string; inner: Trigger[] };
interface Edge {
  from: string;
  to: string;
  sources: string[];
  targets: string[];
  triggers: Trigger[];
}
interface Diagram {
  kind: string;
  width: number;
  height: number;
  states: (Inner & Box)[];
  groups: (Inner & Box & { members: string[] })[];
  edges: (Edge & { label: Box; figure: Box; points: [number, number][] })[];
}
type Chart = { states: Inner[]; groups: (Inner & { members: string[] })[]; edges: Edge[] };

const machines: Record<string, AnyStateMachine> = {
  ...Object.fromEntries(MACHINE_NAMES.map((it) => [it, KINDS[it].machine])),
  attempt: attemptMachine,
  allocation: allocationMachine,
};

const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
/** The distance between a box and a path of horizontal and vertical lines. */
const apart = (box: Box, points: [number, number][]): number =>
  Math.min(
    ...points.slice(1).map(([x, y], at) => {
      const [fromX, fromY] = points[at]!;
      const across = Math.max(box.x - Math.max(x, fromX), 0, Math.min(x, fromX) - box.x - box.width);
      const down = Math.max(box.y - Math.max(y, fromY), 0, Math.min(y, fromY) - box.y - box.height);
      return Math.hypot(across, down);
    }),
  );
const holds = (outer: Box, inner: Box): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;

describe('web/diagrams', () => {
  let chartOf: (machine: AnyStateMachine) => Chart;
  let diagrams: Diagram[];
  before(async () => {
    const load = async (path: string): Promise<unknown> =>
      tsImport(new URL(`../../../web/diagrams/${path}`, import.meta.url).href, import.meta.url);
    ({ chartOf } = (await load('chart.ts')) as { chartOf: typeof chartOf });
    const { layOutMachines } = (await load('layout.ts')) as { layOutMachines: () => Promise<Diagram[]> };
    diagrams = await layOutMachines();
  });

  /** `from event to`, one for each transition that the chart shows. */
  function shown({ states, groups, edges }: Chart): string[] {
    const lines = edges.flatMap(({ sources, targets, triggers }) =>
      triggers.flatMap(({ event, to }) => sources.map((from) => `${from} ${event} ${to ?? targets[0]!}`)),
    );
    for (const { key, inner } of states) lines.push(...inner.map((it) => `${key} ${it.event} ${it.to ?? key}`));
    for (const { members, inner } of groups)
      lines.push(...inner.flatMap((it) => members.map((from) => `${from} ${it.event} ${it.to ?? from}`)));
    return [...new Set(lines)].sort();
  }

  /** The same from the machine: a transition of the root is that of each state that has no unguarded one for its event. */
  function defined(machine: AnyStateMachine): string[] {
    const lines: string[] = [];
    for (const state of Object.values(machine.root.states)) {
      if (state.type === 'final') continue;
      const own = [...state.transitions.values()].flat();
      const settled = new Set(own.filter((it) => it.guard === undefined).map((it) => it.eventType));
      const root = [...machine.root.transitions.values()].flat().filter((it) => !settled.has(it.eventType));
      for (const it of [...own, ...root, ...(state.always ?? [])])
        lines.push(`${state.key} ${it.eventType === '' ? 'always' : it.eventType} ${it.target?.[0]?.key ?? state.key}`);
    }
    return [...new Set(lines)].sort();
  }

  for (const [kind, machine] of Object.entries(machines)) {
    it(`show every transition of the ${kind}, and no other`, () => {
      expect(shown(chartOf(machine))).to.deep.equal(defined(machine));
    });

    it(`keep the labels, figures and states of the ${kind} apart and inside the picture`, () => {
      const diagram = diagrams.find((it) => it.kind === kind)!;
      const picture = { x: 0, y: 0, width: diagram.width, height: diagram.height };
      const boxes: [string, Box][] = diagram.states.map((it) => [it.key, it]);
      for (const it of diagram.edges)
        boxes.push([`label of ${it.from} ${it.to}`, it.label], [`figure of ${it.from} ${it.to}`, it.figure]);
      for (const [name, box] of boxes) expect(holds(picture, box), `${name} is in the picture`).to.equal(true);
      for (const [at, [name, box]] of boxes.entries())
        for (const [other, it] of boxes.slice(at + 1)) expect(overlap(box, it), `${name} on ${other}`).to.equal(false);
    });

    it(`have each label of the ${kind} within 4 px of its edge, and no edge through a label or a figure`, () => {
      const { edges } = diagrams.find((it) => it.kind === kind)!;
      for (const { from, to, label, points } of edges) {
        expect(apart(label, points), `label of ${from} ${to}`).to.be.at.most(4);
        for (const other of edges) {
          const through = `${other.from} ${other.to} through the label of ${from} ${to}`;
          if (other.from !== from || other.to !== to) expect(apart(label, other.points), through).to.be.above(0);
        }
      }
      for (const { from, to, figure } of edges.filter((it) => it.figure.height > 0))
        for (const other of edges) {
          const through = `${other.from} ${other.to} through the figure of ${from} ${to}`;
          expect(apart(figure, other.points), through).to.be.above(0);
        }
    });
  }

  it('have left to right as their direction, except for the allocation, which has frames in frames', () => {
    for (const { kind, width, height } of diagrams)
      expect([kind, width > height]).to.deep.equal([kind, kind !== 'allocation']);
  });

  it('draw the states of a connected runner in one frame, and what they share once', () => {
    const { groups, states, edges } = diagrams.find((it) => it.kind === 'runner')!;
    const [connected] = groups;
    expect([connected!.key, connected!.members]).to.deep.equal(['Connected', ['Idle', 'Busy', 'Maintenance']]);
    for (const it of states)
      expect([it.key, holds(connected!, it)]).to.deep.equal([it.key, connected!.members.includes(it.key)]);
    const [lost] = edges.filter((it) => it.from === 'Connected');
    expect([lost!.to, lost!.sources, lost!.triggers.map((it) => it.event)]).to.deep.equal([
      'Offline',
      ['Idle', 'Busy', 'Maintenance'],
      ['SILENCE', 'SIGN_OFF', 'ALLOCATION_ENDED', 'ALLOCATION_ENDED'],
    ]);
    expect(connected!.inner.map((it) => it.event)).to.include('HEARTBEAT');
  });

  it('draw the states of an attempt that has a slot, and those after its end, in frames', () => {
    const { groups, edges } = diagrams.find((it) => it.kind === 'attempt')!;
    expect(groups.map((it) => [it.key, it.members])).to.deep.equal([
      ['Executing', ['Starting', 'Running']],
      ['Ended', ['Reporting', 'Uploading']],
    ]);
    const leaving = edges.filter((it) => groups.some(({ key }) => key === it.from));
    expect(leaving.map((it) => [it.from, it.to, it.triggers.map(({ event }) => event)])).to.deep.include.members([
      ['Executing', 'Done', ['ENDED']],
      ['Executing', 'Reporting', ['ENDED']],
      ['Ended', 'Done', ['REFUSED', 'KEPT']],
    ]);
  });

  it('describe every state of every machine, and every frame, in a sentence', () => {
    for (const machine of Object.values(machines)) {
      const { states, groups } = chartOf(machine);
      for (const { key, description } of [...states, ...groups])
        expect(description, `${machine.id} ${key}`).to.match(/^[A-Z].{10,160}\.$/);
    }
  });
});

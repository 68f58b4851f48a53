/** Draws a laid-out statechart as SVG, with counts, rates or totals, and highlights from its properties. */
import { shownStatus } from '../../../src/contract/enums.ts';
import type { Diagram, DiagramEdge, DiagramGroup, DiagramState, Trigger } from '../../diagrams/types.ts';
import { count, duration } from '../parts/time.tsx';

interface Props {
  diagram: Diagram;
  /** Number of actors in each state; absent where they are not known. */
  counts?: Readonly<Record<string, number>>;
  /** Events per second, or their totals, by `from|event|to`. */
  flow: Readonly<Record<string, number>>;
  /** The unit of the numbers of `flow`; rates where absent. */
  unit?: 'rate' | 'total';
  /** Mean time in each state, in seconds. */
  times?: Readonly<Record<string, number>> | undefined;
  /** The state of the chosen actor. */
  lit?: string | undefined;
  /** The last transition of the chosen actor. */
  taken?: { from: string; event: string; to: string } | undefined;
  /** Without labels: the events of an edge are its title. */
  isCompact?: boolean;
}

/** The kind with its article. */
const anActor = (kind: string): string => `${kind.startsWith('a') ? 'an' : 'a'} ${kind}`;

const LINE = 15;
/** A smaller window scrolls: the smallest text is then 9 px high. */
const LEAST_SCALE = 0.81;

export function DiagramView({ diagram, counts, flow, unit = 'rate', times, lit, taken, isCompact = false }: Props) {
  const flows = diagram.edges.map((it) => flowOf(it, flow));
  return (
    <svg
      className="diagram"
      style={{ minWidth: Math.round(diagram.width * (isCompact ? 0.7 : LEAST_SCALE)) }}
      width={diagram.width}
      height={diagram.height}
      viewBox={`0 0 ${diagram.width} ${diagram.height}`}
      role="img"
      aria-label={`State machine of ${anActor(diagram.kind)}: ${diagram.states
        .map(({ key }) => (counts === undefined ? shownStatus(key) : `${shownStatus(key)} ${counts[key] ?? 0}`))
        .join(', ')}`}
    >
      <defs>
        {(['plain', 'flowing', 'taken'] as const).map((it) => (
          <marker
            key={it}
            id={`arrow-${diagram.kind}-${it}`}
            className={`arrow ${it}`}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="9"
            markerHeight="9"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0,0.5L8,4L0,7.5z" />
          </marker>
        ))}
      </defs>
      {diagram.groups.map((group) => (
        <GroupFrame key={group.key} group={group} isLit={lit === group.key} />
      ))}
      {diagram.edges.map((edge, at) => (
        <EdgePath
          key={`${edge.from}|${edge.to}`}
          kind={diagram.kind}
          edge={edge}
          flow={flows[at]!}
          isTaken={isTaken(edge, taken)}
        />
      ))}
      {(isCompact ? [] : diagram.edges).map((edge, at) => (
        <EdgeLabel
          key={`${edge.from}|${edge.to}`}
          edge={edge}
          figure={flows[at]! > 0 ? figure(flows[at]!, unit) : undefined}
          isTaken={isTaken(edge, taken)}
        />
      ))}
      {diagram.states.map((state) => (
        <StateBox
          key={state.key}
          state={state}
          count={counts && (counts[state.key] ?? 0)}
          meanSecs={times?.[state.key]}
          isInitial={state.key === diagram.initial}
          isLit={lit === state.key}
        />
      ))}
    </svg>
  );
}

/** An automatic transition is reported as the event that caused it. */
function flowOf(edge: DiagramEdge, flow: Props['flow']): number {
  let sum = 0;
  for (const [transition, number] of Object.entries(flow)) {
    const [from = '', event = '', to = ''] = transition.split('|');
    if (isTaken(edge, { from, event, to })) sum += number;
  }
  return sum;
}

const isTaken = ({ sources, targets, triggers }: DiagramEdge, taken: Props['taken']): boolean =>
  taken !== undefined &&
  taken.from !== taken.to &&
  sources.includes(taken.from) &&
  targets.includes(taken.to) &&
  triggers.some((it) => it.event === taken.event || it.event === 'always');

const figure = (value: number, unit: 'rate' | 'total'): string => {
  if (unit === 'total') return `${short(value)} in all`;
  return `${value >= 10 ? Math.round(value) : value.toFixed(1)}/s`;
};

function EdgePath({
  kind,
  edge,
  flow,
  isTaken: taken,
}: {
  kind: string;
  edge: DiagramEdge;
  flow: number;
  isTaken: boolean;
}) {
  const look = taken ? 'taken' : flow > 0 ? 'flowing' : 'plain';
  const width = flow > 0 ? Math.min(1.4 + Math.log10(1 + flow), 4.5) : undefined;
  return (
    <path
      className={`edge flowing-path ${look}`}
      d={smooth(edge.points)}
      markerEnd={`url(#arrow-${kind}-${look})`}
      style={width === undefined || taken ? undefined : { strokeWidth: width }}
    >
      <title>{`${shownStatus(edge.from)} → ${shownStatus(edge.to)}: ${[...new Set(edge.triggers.map((it) => it.event))].join(', ')}`}</title>
    </path>
  );
}

/** Returns the path of straight lines with rounded corners. */
function smooth(points: number[][]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let path = `M${first[0]},${first[1]}`;
  for (let at = 0; at < rest.length - 1; at += 1) {
    const [before, corner, after] = [points[at]!, rest[at]!, rest[at + 1]!];
    const [inX, inY] = towards(corner, before);
    const [outX, outY] = towards(corner, after);
    path += `L${inX},${inY}Q${corner[0]},${corner[1]} ${outX},${outY}`;
  }
  const last = rest.at(-1);
  return last === undefined ? path : `${path}L${last[0]},${last[1]}`;
}

/** Returns a point up to 12 px from the corner towards another point. */
function towards(corner: number[], other: number[]): [number, number] {
  const [dx, dy] = [other[0]! - corner[0]!, other[1]! - corner[1]!];
  const share = Math.min(12 / Math.hypot(dx, dy), 0.5);
  return [corner[0]! + dx * share, corner[1]! + dy * share];
}

interface EdgeLabelProps {
  edge: DiagramEdge;
  figure: string | undefined;
  isTaken: boolean;
}

function EdgeLabel({ edge, figure: text, isTaken: taken }: EdgeLabelProps) {
  const { x, y, width, height } = edge.label;
  const place = edge.figure;
  return (
    <g className={taken ? 'edge-label taken' : 'edge-label'}>
      <rect x={x} y={y} width={width} height={height} rx="4" />
      {edge.triggers.map((it, line) => (
        <TriggerText key={line} trigger={it} x={x + 6} y={y + 14 + line * LINE} />
      ))}
      {text !== undefined && (
        <text className="rate" x={place.x + place.width / 2} y={place.y + 12} textAnchor="middle">
          {text}
        </text>
      )}
    </g>
  );
}

function TriggerText({ trigger, x, y }: { trigger: Trigger; x: number; y: number }) {
  return (
    <text x={x} y={y}>
      {trigger.event}
      {trigger.guard !== undefined && <tspan className="guard"> [{trigger.guard}]</tspan>}
      {trigger.to !== undefined && ` → ${shownStatus(trigger.to)}`}
    </text>
  );
}

/** The frame of a compound state; its members are drawn in it. */
function GroupFrame({ group, isLit }: { group: DiagramGroup; isLit: boolean }) {
  const { key, description, inner, x, y, width, height } = group;
  return (
    <g className={isLit ? 'group-frame lit' : 'group-frame'}>
      <title>{`${key}: ${description}`}</title>
      <rect x={x} y={y} width={width} height={height} rx="12" />
      <text className="name" x={x + 14} y={y + 21}>
        {key}
      </text>
      {inner.map((it, line) => (
        <TriggerText key={line} trigger={it} x={x + 14} y={y + 39 + line * LINE} />
      ))}
    </g>
  );
}

interface StateBoxProps {
  state: DiagramState;
  count: number | undefined;
  meanSecs: number | undefined;
  isInitial: boolean;
  isLit: boolean;
}

function StateBox({ state, count: actors, meanSecs, isInitial, isLit }: StateBoxProps) {
  const { key, description, x, y, width, height, final, inner } = state;
  const line = y + height - inner.length * LINE - 8;
  return (
    <g className={`state-box ${isLit ? 'lit' : ''}`}>
      <title>{`${shownStatus(key)}: ${description}`}</title>
      {isInitial && <circle className="initial" cx={x - 1} cy={y - 1} r="5" />}
      <rect x={x} y={y} width={width} height={height} rx="8" />
      {final && <rect className="inner-line" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx="5" />}
      <rect className={`mark s-fill-${key}`} x={x + 10} y={y + 12} width="10" height="10" rx="3" />
      <text className="name" x={x + 26} y={y + 22}>
        {shownStatus(key)}
      </text>
      {actors !== undefined && (
        <text className={actors > 0 ? 'count' : 'count none'} x={x + width - 10} y={y + 22} textAnchor="end">
          {short(actors)}
        </text>
      )}
      {meanSecs !== undefined && (
        <text className="mean" x={x + 26} y={y + 38}>
          mean {duration(meanSecs * 1_000)}
        </text>
      )}
      {inner.length > 0 && <line x1={x + 8} x2={x + width - 8} y1={line} y2={line} />}
      {inner.map((it, at) => (
        <TriggerText key={at} trigger={it} x={x + 12} y={line + 14 + at * LINE} />
      ))}
    </g>
  );
}

/** Formats a count in few characters: 9 999, 12.3k, 1.2M. */
function short(value: number): string {
  if (value < 10_000) return count(value);
  return value < 1e6 ? `${(value / 1e3).toPrecision(3)}k` : `${(value / 1e6).toPrecision(3)}M`;
}

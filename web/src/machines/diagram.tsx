/** Draws a laid-out statechart as SVG, with counts, rates and highlights from its properties. */
import type { Diagram, DiagramEdge, DiagramState, Trigger } from '../../diagrams/types.ts';
import { count } from '../parts/time.tsx';

interface Props {
  diagram: Diagram;
  /** Number of actors in each state. */
  counts: Readonly<Record<string, number>>;
  /** Events per second, by `from|event|to`. */
  flow: Readonly<Record<string, number>>;
  /** The state of the chosen actor. */
  lit?: string | undefined;
  /** The last transition of the chosen actor. */
  taken?: { from: string; event: string; to: string } | undefined;
}

const LINE = 15;

export function DiagramView({ diagram, counts, flow, lit, taken }: Props) {
  return (
    <svg
      className="diagram"
      width={diagram.width}
      height={diagram.height}
      viewBox={`0 0 ${diagram.width} ${diagram.height}`}
      role="img"
      aria-label={`State machine of a ${diagram.kind}: ${diagram.states
        .filter((it) => it.key !== '*')
        .map((it) => `${it.key} ${counts[it.key] ?? 0}`)
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
      {diagram.edges.map((edge) => (
        <EdgePath
          key={`${edge.from}|${edge.to}`}
          kind={diagram.kind}
          edge={edge}
          perSecond={flowOf(edge, flow)}
          isTaken={isTaken(edge, taken)}
        />
      ))}
      {diagram.edges.map((edge) => (
        <EdgeLabel
          key={`${edge.from}|${edge.to}`}
          edge={edge}
          perSecond={flowOf(edge, flow)}
          isTaken={isTaken(edge, taken)}
        />
      ))}
      {diagram.states.map((state) => (
        <StateBox
          key={state.key}
          state={state}
          count={counts[state.key] ?? 0}
          isInitial={state.key === diagram.initial}
          isLit={lit === state.key}
        />
      ))}
    </svg>
  );
}

/** An automatic transition is reported as the event that caused it. */
function flowOf({ from, to, triggers }: DiagramEdge, flow: Props['flow']): number {
  let sum = 0;
  const events = new Set(triggers.map((it) => it.event));
  for (const [transition, perSecond] of Object.entries(flow)) {
    const [source, event, target] = transition.split('|');
    if (
      target === to &&
      (source === from || (from === '*' && source !== to)) &&
      (events.has(event!) || events.has('always'))
    )
      sum += perSecond;
  }
  return sum;
}

const isTaken = ({ from, to, triggers }: DiagramEdge, taken: Props['taken']): boolean =>
  taken !== undefined &&
  taken.to === to &&
  taken.from === from &&
  triggers.some((it) => it.event === taken.event || it.event === 'always');

function EdgePath({
  kind,
  edge,
  perSecond,
  isTaken: taken,
}: {
  kind: string;
  edge: DiagramEdge;
  perSecond: number;
  isTaken: boolean;
}) {
  const look = taken ? 'taken' : perSecond > 0 ? 'flowing' : 'plain';
  const width = perSecond > 0 ? Math.min(1.4 + Math.log10(1 + perSecond), 4.5) : undefined;
  return (
    <path
      className={`edge flowing-path ${look}`}
      d={smooth(edge.points)}
      markerEnd={`url(#arrow-${kind}-${look})`}
      style={width === undefined || taken ? undefined : { strokeWidth: width }}
    />
  );
}

/** Straight lines with rounded corners. */
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

function EdgeLabel({ edge, perSecond, isTaken: taken }: { edge: DiagramEdge; perSecond: number; isTaken: boolean }) {
  const { x, y, width, height } = edge.label;
  return (
    <g className={taken ? 'edge-label taken' : 'edge-label'}>
      <rect x={x} y={y} width={width} height={height} rx="4" />
      {edge.triggers.map((it, line) => (
        <TriggerText key={line} trigger={it} x={x + 6} y={y + 14 + line * LINE} />
      ))}
      {perSecond > 0 && (
        <text className="rate" x={x + width / 2} y={y - 3} textAnchor="middle">
          {perSecond >= 10 ? Math.round(perSecond) : perSecond.toFixed(1)}/s
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
    </text>
  );
}

function StateBox({
  state,
  count: actors,
  isInitial,
  isLit,
}: {
  state: DiagramState;
  count: number;
  isInitial: boolean;
  isLit: boolean;
}) {
  const { key, x, y, width, height, final, inner } = state;
  if (key === '*') {
    return (
      <g className="state-box any">
        <rect x={x} y={y} width={width} height={height} rx="17" />
        <text className="name" x={x + width / 2} y={y + 22} textAnchor="middle">
          any state
        </text>
      </g>
    );
  }
  return (
    <g className={`state-box ${isLit ? 'lit' : ''}`}>
      {isInitial && <circle className="initial" cx={x - 1} cy={y - 1} r="5" />}
      <rect x={x} y={y} width={width} height={height} rx="8" />
      {final && <rect className="inner-line" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx="5" />}
      <rect className={`mark s-fill-${key}`} x={x + 10} y={y + 12} width="10" height="10" rx="3" />
      <text className="name" x={x + 26} y={y + 22}>
        {key}
      </text>
      <text className={actors > 0 ? 'count' : 'count none'} x={x + width - 10} y={y + 22} textAnchor="end">
        {short(actors)}
      </text>
      {inner.length > 0 && <line x1={x + 8} x2={x + width - 8} y1={y + 33} y2={y + 33} />}
      {inner.map((it, line) => (
        <TriggerText key={line} trigger={it} x={x + 12} y={y + 47 + line * LINE} />
      ))}
    </g>
  );
}

/** Formats a count in few characters: 9 999, 12.3k, 1.2M. */
function short(value: number): string {
  if (value < 10_000) return count(value);
  return value < 1e6 ? `${(value / 1e3).toPrecision(3)}k` : `${(value / 1e6).toPrecision(3)}M`;
}

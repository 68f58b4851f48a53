/** A small plot in a frame that keeps its proportions: two axes with round values, and places for what is drawn between them. */
import type { ReactNode } from 'react';
import type { Scale } from '../plots/scale.ts';
import { ticksOf } from '../plots/ticks.ts';

const [WIDTH, HEIGHT] = [440, 250];
const AREA = { left: 60, right: 12, top: 12, bottom: 40 };
const RIGHT = WIDTH - AREA.right;
const BOTTOM = HEIGHT - AREA.bottom;
/** The share of the range that is left free at both ends of an axis. */
const ROOM = 0.04;
/** A range wider than this factor is drawn logarithmically, where that is asked for. */
const DECADE = 10;

export interface Axis {
  name: string;
  scale: Scale;
  /** Names a value of it. */
  text: (value: number) => string;
}

/** An axis over these values. `mayBeLog`: logarithmic where all are positive and their range is wide. */
export function axisOf(
  values: readonly number[],
  name: string,
  text: (value: number) => string,
  mayBeLog = false,
): Axis {
  const finite = values.filter((it) => Number.isFinite(it));
  const least = Math.min(...finite);
  const most = Math.max(...finite);
  const isLog = mayBeLog && least > 0 && most / least > DECADE;
  const [low, high] = isLog ? [Math.log10(least), Math.log10(most)] : [least, most];
  const room = high > low ? (high - low) * ROOM : 0.5;
  const [from, to] = [low - room, high + room];
  const place = (value: number): number => ((isLog ? Math.log10(value) : value) - from) / (to - from);
  const value = (at: number): number => (isLog ? 10 ** (from + at * (to - from)) : from + at * (to - from));
  return { name, text, scale: { from, to, isLog, place, value } };
}

export interface Places {
  x: (value: number) => number;
  y: (value: number) => number;
  /** The ends of the area. */
  left: number;
  right: number;
  top: number;
  bottom: number;
}

interface Props {
  /** The plot in words. */
  label: string;
  across: Axis;
  up: Axis;
  children: (places: Places) => ReactNode;
}

export function Frame({ label, across, up, children }: Props) {
  const x = (value: number): number => AREA.left + across.scale.place(value) * (RIGHT - AREA.left);
  const y = (value: number): number => BOTTOM - up.scale.place(value) * (BOTTOM - AREA.top);
  return (
    <svg className="framed" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <title>{label}</title>
      {ticksOf(across.scale, 6).map((it) => (
        <g key={it}>
          <line className="grid-line" x1={x(it)} x2={x(it)} y1={AREA.top} y2={BOTTOM} />
          <text x={x(it)} y={BOTTOM + 15} textAnchor="middle">
            {across.text(it)}
          </text>
        </g>
      ))}
      {ticksOf(up.scale, 5).map((it) => (
        <g key={it}>
          <line className="grid-line" x1={AREA.left} x2={RIGHT} y1={y(it)} y2={y(it)} />
          <text x={AREA.left - 6} y={y(it) + 4} textAnchor="end">
            {up.text(it)}
          </text>
        </g>
      ))}
      {children({ x, y, left: AREA.left, right: RIGHT, top: AREA.top, bottom: BOTTOM })}
      <text className="axis-name" x={RIGHT} y={HEIGHT - 6} textAnchor="end">
        {across.name}
      </text>
      <text className="axis-name" x={14} y={AREA.top} textAnchor="end" transform={`rotate(-90 14 ${AREA.top})`}>
        {up.name}
      </text>
    </svg>
  );
}

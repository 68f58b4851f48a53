/** The sequence diagram of a story: a lane of bars for each actor, an arrow for each message, the axis in ms after the first event. */
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import { go } from '../router.ts';
import { arrowsOf, msTicks, placeLabels, wholeSpan, zoomed, type Bar, type RowName, type Span } from './lanes.ts';
import type { StoryEvent } from './story.ts';

export interface Row {
  name: RowName;
  title: string;
  note: string;
}

export interface LinkedBar extends Bar {
  href?: string;
}

interface Props {
  rows: readonly Row[];
  bars: readonly LinkedBar[];
  events: readonly StoryEvent[];
  at: number;
  onMove: (at: number) => void;
}

const LINES = 3;
const LINE = 15;
const TOP = LINES * LINE + 8;
const ROW = 40;
const BAR = 20;
const AXIS = 22;
const CHARACTER = 6.6;
const LEAST_WIDTH = 240;

export function Sequence({ rows, bars, events, at, onMove }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(LEAST_WIDTH);
  const [chosen, setChosen] = useState<Span>();
  const left = width < 600 ? 84 : 150;
  useLayoutEffect(() => {
    const element = frame.current!;
    // Before the first picture too, which the observer is too late for.
    const measure = (): void => setWidth(Math.max(LEAST_WIDTH, element.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const whole = useMemo(() => wholeSpan(events, bars), [events, bars]);
  const span = chosen ?? whole;
  const zero = events[0]?.now ?? whole.from;
  const now = events[at]?.now ?? zero;
  const size = width - left - 12;
  const x = (ms: number): number => left + ((ms - span.from) / (span.to - span.from)) * size;
  const y = (row: RowName): number =>
    TOP +
    Math.max(
      0,
      rows.findIndex((it) => it.name === row),
    ) *
      ROW +
    ROW / 2;
  const height = TOP + rows.length * ROW + AXIS;
  const arrows = useMemo(() => arrowsOf(events), [events]);
  const labels = placeLabels(
    arrows.map((it) => ({ at: it.at, x: x(it.now) - left, label: it.label })),
    { lines: LINES, width: size, chosen: at },
  );
  const isSeen = (ms: number): boolean => ms >= span.from && ms <= span.to;
  return (
    <section className="panel sequence" aria-label="Messages on one axis of time">
      <div
        ref={frame}
        className="sequence-frame"
        onWheel={(event) => event.ctrlKey && setChosen(zoomed(span, now, event.deltaY > 0 ? 1.25 : 0.8))}
      >
        <svg
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={`${arrows.length} messages of ${rows.map((it) => it.title).join(', ')}`}
        >
          <defs>
            <marker
              id="message-end"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path d="M0,0.5L8,4L0,7.5z" />
            </marker>
          </defs>
          {msTicks(span, zero, Math.max(2, Math.floor(size / 110))).map((it) => (
            <g key={it.at} className="tick">
              <line x1={x(it.at)} x2={x(it.at)} y1={TOP} y2={height - AXIS} />
              <text x={x(it.at)} y={height - 7} textAnchor="middle">
                {it.text}
              </text>
            </g>
          ))}
          {rows.map((it) => (
            <g key={it.name} className="lane">
              <line x1={left} x2={width - 12} y1={y(it.name)} y2={y(it.name)} />
              <text className="lane-name" x={0} y={y(it.name) - 1}>
                {it.title}
              </text>
              <text className="lane-note" x={0} y={y(it.name) + 13}>
                {it.note}
              </text>
            </g>
          ))}
          {bars.map((it, index) => {
            const [from, to] = [Math.max(left, x(it.from)), Math.min(width - 12, x(it.to))];
            if (to < left || from > width - 12) return null;
            const { href } = it;
            return (
              <g
                key={index}
                className={href === undefined ? 'bar-of-lane' : 'bar-of-lane linked'}
                onClick={() => href !== undefined && go(href)}
              >
                <title>{it.text}</title>
                <rect
                  className={`s-fill-${it.state ?? 'none'}`}
                  x={from}
                  y={y(it.row) - BAR / 2}
                  width={Math.max(2, to - from)}
                  height={BAR}
                  rx="3"
                />
                {to - from > it.text.length * CHARACTER + 8 && (
                  <text x={from + 5} y={y(it.row) + 4}>
                    {it.text}
                  </text>
                )}
              </g>
            );
          })}
          {arrows
            .filter((it) => isSeen(it.now))
            .map((it) => {
              const isSelf = it.from === it.to || y(it.from) === y(it.to);
              const look = `message${it.at === at ? ' chosen' : ''}${it.isRefused ? ' refused' : ''}`;
              return (
                <g key={it.at} className={look} onClick={() => onMove(it.at)}>
                  <title>{it.label}</title>
                  {isSelf ? (
                    <circle cx={x(it.now)} cy={y(it.to)} r="4" />
                  ) : (
                    <line x1={x(it.now)} x2={x(it.now)} y1={y(it.from)} y2={y(it.to)} markerEnd="url(#message-end)" />
                  )}
                  <rect className="hit" x={x(it.now) - 4} y={TOP} width="8" height={rows.length * ROW} />
                </g>
              );
            })}
          {labels.map((it) => (
            <g
              key={it.at}
              className={it.at === at ? 'message-label chosen' : 'message-label'}
              onClick={() => onMove(it.at)}
            >
              <text x={left + it.x + 4} y={it.line * LINE + 12}>
                {it.text}
              </text>
            </g>
          ))}
          {events.length > 0 && isSeen(now) && (
            <line className="instant" x1={x(now)} x2={x(now)} y1={TOP - 6} y2={height - AXIS + 4} />
          )}
        </svg>
      </div>
      <div className="row small soft sequence-note">
        <span className="grow">
          {labels.length < arrows.length &&
            `${labels.length} of ${arrows.length} messages are labelled: zoom in, or step. `}
          Time in ms after the first known event.
        </span>
        <button
          type="button"
          className="quiet small"
          onClick={() => setChosen(zoomed(span, now, 0.4))}
          aria-label="Zoom in around the step"
        >
          +
        </button>
        <button
          type="button"
          className="quiet small"
          onClick={() => setChosen(zoomed(span, now, 2.5))}
          aria-label="Zoom out"
        >
          −
        </button>
        <button
          type="button"
          className="quiet small"
          disabled={chosen === undefined}
          onClick={() => setChosen(undefined)}
        >
          Whole
        </button>
      </div>
    </section>
  );
}

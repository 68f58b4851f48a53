/** Parallel coordinates on a canvas: axes are dragged into another order, ranges along them select runs. */
import { useCallback, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react';
import { brief, count } from '../parts/time.tsx';
import { Canvas, colourBy, kindColours, type Drawing, type Scale } from '../plots/canvas.tsx';
import { BACKGROUND, FAILED, kindOf, sampleRuns, type Ranges, type Variable } from '../plots/variables.ts';
import { colour } from '../theme.ts';
import type { Plots } from './state.ts';

/** Lines drawn; the failed runs are never thinned out below half of them. */
const LINES = 600;
const HEIGHT = 300;
const PLOT = { top: 24, bottom: 22, side: 50 };

interface Props {
  plots: Plots;
  axes: readonly Variable[];
  ranges: Ranges;
  onOrder: (keys: readonly string[]) => void;
}

export function Parallel({ plots, axes, ranges, onOrder }: Props) {
  const scales = useMemo(() => axes.map((it) => plots.scale(it)), [axes, plots]);
  const runs = useMemo(() => sampleRuns(plots.status, LINES), [plots.status]);
  const draw = useCallback(
    (context: CanvasRenderingContext2D, width: number) => drawLines(context, width, { plots, axes, scales, runs }),
    [plots, axes, scales, runs],
  );
  return (
    <>
      <AxisNames axes={axes} plots={plots} onOrder={onOrder} />
      <div className="parallel">
        <Canvas label={`Parallel coordinates of ${axes.map((it) => it.name).join(', ')}`} height={HEIGHT} draw={draw} />
        {axes.map((it, at) => (
          <AxisBrush
            key={it.key}
            at={at}
            of={axes.length}
            scale={scales[at]!}
            range={ranges.get(it.key)}
            name={it.name}
            onRange={(range) => plots.select([[it.key, range]])}
          />
        ))}
      </div>
      <p className="small soft">
        {count(runs.length)} runs drawn, failed ones first. Drag along an axis to select, drag a name to move its axis.
      </p>
    </>
  );
}

/** Horizontal place of an axis, in percent of the plot. */
const leftOf = (at: number, of: number): string =>
  `calc(${PLOT.side}px + (100% - ${2 * PLOT.side}px) * ${of === 1 ? 0.5 : at / (of - 1)})`;

interface Drawn {
  plots: Plots;
  axes: readonly Variable[];
  scales: readonly Scale[];
  runs: Uint32Array;
}

/** Lines between which the drawing may be interrupted. */
const STEP = 20;

function* drawLines(context: CanvasRenderingContext2D, width: number, { plots, axes, scales, runs }: Drawn): Drawing {
  const height = HEIGHT - PLOT.top - PLOT.bottom;
  const x = axes.map((_, at) => PLOT.side + ((width - 2 * PLOT.side) * at) / Math.max(1, axes.length - 1));
  const y = (at: number, value: number): number => PLOT.top + (1 - scales[at]!.place(value)) * height;
  const { status, mask, colouring } = plots;
  const kinds = kindColours();
  const byValue = colouring === undefined ? undefined : colourBy(colouring, plots.scale(colouring));
  for (const pass of [BACKGROUND, 1, FAILED]) {
    context.strokeStyle = kinds[pass]!;
    context.globalAlpha = pass === BACKGROUND ? 0.12 : pass === FAILED ? 0.75 : 0.25;
    context.lineWidth = pass === FAILED ? 1.4 : 1;
    for (const [line, run] of runs.entries()) {
      if (line % STEP === STEP - 1) yield;
      if (kindOf(status[run]!, mask === undefined || mask[run] === 1) !== pass) continue;
      if (byValue !== undefined && pass !== BACKGROUND) context.strokeStyle = byValue(run);
      context.beginPath();
      let isDown = false;
      for (const [at, { values }] of axes.entries()) {
        const value = values[run]!;
        // A missing value interrupts the line, as the outputs of a failed run.
        if (!Number.isFinite(value)) isDown = false;
        else if (isDown) context.lineTo(x[at]!, y(at, value));
        else {
          context.moveTo(x[at]!, y(at, value));
          isDown = true;
        }
      }
      context.stroke();
    }
  }
  context.globalAlpha = 1;
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'center';
  for (const [at, { categories }] of axes.entries()) {
    context.strokeStyle = colour('line-strong');
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x[at]!, PLOT.top);
    context.lineTo(x[at]!, PLOT.top + height);
    context.stroke();
    context.fillStyle = colour('soft');
    const end = (place: number): string =>
      categories?.[Math.round(scales[at]!.value(place))] ?? brief(scales[at]!.value(place));
    if (categories === undefined) {
      context.fillText(end(1), x[at]!, PLOT.top - 8);
      context.fillText(end(0), x[at]!, PLOT.top + height + 14);
    }
  }
}

/** The width of the name of an axis: up to its neighbours, and for the first and the last one up to the edge of the plot. */
function widthOf(at: number, of: number): string {
  const between = `calc((100% - ${2 * PLOT.side}px) / ${Math.max(1, of - 1)} - 4px)`;
  return at === 0 || at === of - 1 ? `min(${between}, ${2 * PLOT.side}px)` : between;
}

/** Names that can be dragged, or moved with the arrow keys. */
function AxisNames({ axes, plots, onOrder }: Pick<Props, 'axes' | 'plots' | 'onOrder'>) {
  const row = useRef<HTMLDivElement>(null);
  const [moved, setMoved] = useState<string>();
  const move = (key: string, to: number): void => {
    const keys = axes.map((it) => it.key).filter((it) => it !== key);
    keys.splice(Math.min(Math.max(to, 0), keys.length), 0, key);
    onOrder(keys);
  };
  const placeOf = (event: PointerEvent): number => {
    const { left, width } = row.current!.getBoundingClientRect();
    return Math.round(((event.clientX - left - PLOT.side) / (width - 2 * PLOT.side)) * (axes.length - 1));
  };
  const onKeyDown = (event: KeyboardEvent, key: string, at: number): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    move(key, at + step);
  };
  return (
    <div ref={row} className="axis-names">
      {axes.map((it, at) => (
        <button
          key={it.key}
          type="button"
          className={`quiet clip${moved === it.key ? ' moved' : ''}`}
          style={{
            left: leftOf(at, axes.length),
            width: widthOf(at, axes.length),
          }}
          title={`${it.label}${plots.isLog(it.key) ? ', log axis' : ''}: drag, or arrow keys, to move the axis`}
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            setMoved(it.key);
          }}
          onPointerUp={(event) => {
            setMoved(undefined);
            const to = placeOf(event);
            if (to !== at) move(it.key, to);
          }}
          onPointerCancel={() => setMoved(undefined)}
          onKeyDown={(event) => onKeyDown(event, it.key, at)}
        >
          {it.name}
        </button>
      ))}
    </div>
  );
}

interface BrushProps {
  at: number;
  of: number;
  name: string;
  scale: Scale;
  range: readonly [number, number] | undefined;
  onRange: (range: readonly [number, number] | undefined) => void;
}

function AxisBrush({ at, of, name, scale, range, onRange }: BrushProps) {
  const box = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<readonly [number, number]>();
  const placeOf = (event: PointerEvent): number => {
    const { top, height } = box.current!.getBoundingClientRect();
    return Math.min(1, Math.max(0, 1 - (event.clientY - top) / height));
  };
  const end = (): void => {
    if (drag === undefined) return;
    const [low, high] = [Math.min(...drag), Math.max(...drag)];
    setDrag(undefined);
    if (high - low < 0.01) return onRange(undefined);
    return onRange([low === 0 ? -Infinity : scale.value(low), high === 1 ? Infinity : scale.value(high)]);
  };
  const shown = drag === undefined ? range?.map((it) => scale.place(it)) : [Math.min(...drag), Math.max(...drag)];
  return (
    <div
      ref={box}
      className="axis-brush"
      aria-label={`Range of ${name}`}
      role="img"
      style={{ left: leftOf(at, of), top: PLOT.top, height: HEIGHT - PLOT.top - PLOT.bottom }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag([placeOf(event), placeOf(event)]);
      }}
      onPointerMove={(event) => drag !== undefined && setDrag([drag[0], placeOf(event)])}
      onPointerUp={end}
      onPointerCancel={() => setDrag(undefined)}
    >
      {shown !== undefined && (
        <i style={{ top: `${(1 - shown[1]!) * 100}%`, height: `${(shown[1]! - shown[0]!) * 100}%` }} />
      )}
    </div>
  );
}

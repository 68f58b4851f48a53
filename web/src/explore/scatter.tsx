/** Scatter plots on a canvas: the matrix of chosen variables, and one pair at full size. */
import { useCallback, useMemo, useRef, useState, type PointerEvent } from 'react';
import { brief, count, figure } from '../parts/time.tsx';
import { Canvas, colourBy, kindColours, type Drawing, type Scale } from '../plots/canvas.tsx';
import { ticksOf } from '../plots/ticks.ts';
import { BACKGROUND, FAILED, kindOf, type Variable } from '../plots/variables.ts';
import { colour } from '../theme.ts';
import { thinned, type Plots } from './state.ts';

const CELL_POINTS = 1_200;

interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Pair {
  across: Variable;
  up: Variable;
  scales: readonly [Scale, Scale];
}

/** Points between which the drawing may be interrupted. */
const STEP = 300;

function* drawPoints(
  context: CanvasRenderingContext2D,
  plots: Plots,
  pair: Pair,
  area: Area,
  runs: Uint32Array,
): Drawing {
  const { across, up, scales } = pair;
  const { status, mask, colouring } = plots;
  const kinds = kindColours();
  const byValue = colouring === undefined ? undefined : colourBy(colouring, plots.scale(colouring));
  const size = runs.length > CELL_POINTS ? 3 : 2;
  for (const pass of [BACKGROUND, 1, FAILED]) {
    context.globalAlpha = pass === BACKGROUND ? 0.35 : pass === FAILED ? 0.9 : 0.6;
    context.fillStyle = kinds[pass]!;
    for (const [at, run] of runs.entries()) {
      if (at % STEP === STEP - 1) yield;
      const [x, y] = [across.values[run]!, up.values[run]!];
      if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
      if (kindOf(status[run]!, mask === undefined || mask[run] === 1) !== pass) continue;
      const left = area.x + spread(scales[0].place(x), across, run) * area.width;
      const top = area.y + (1 - spread(scales[1].place(y), up, run * 7)) * area.height;
      if (byValue !== undefined && pass !== BACKGROUND) context.fillStyle = byValue(run);
      if (pass === FAILED) mark(context, left, top, size + 1);
      else context.fillRect(left - size / 2, top - size / 2, size, size);
    }
  }
  context.globalAlpha = 1;
}

/** A triangle: failed runs differ by shape too. */
function mark(context: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  context.beginPath();
  context.moveTo(x, y - size);
  context.lineTo(x + size, y + size * 0.8);
  context.lineTo(x - size, y + size * 0.8);
  context.fill();
}

/** Words are not numbers: their points are spread over the width of the word. */
function spread(place: number, { categories }: Variable, run: number): number {
  if (categories === undefined) return place;
  return place + (((run * 0.618_033_988_75) % 1) - 0.5) * (0.7 / categories.length);
}

const AXES = { left: 62, right: 12, top: 12, bottom: 40 };

/** One pair; a rectangle dragged over it selects both ranges. */
export function PairPlot({ plots, across, up }: { plots: Plots; across: Variable; up: Variable }) {
  const pair = useMemo(
    (): Pair => ({ across, up, scales: [plots.scale(across), plots.scale(up)] }),
    [across, up, plots],
  );
  const box = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<readonly [number, number, number, number]>();
  const draw = useCallback(
    function* (context: CanvasRenderingContext2D, width: number, height: number): Drawing {
      const area = {
        x: AXES.left,
        y: AXES.top,
        width: width - AXES.left - AXES.right,
        height: height - AXES.top - AXES.bottom,
      };
      drawAxes(context, pair, area);
      yield* drawPoints(context, plots, pair, area, plots.sample);
    },
    [plots, pair],
  );
  const at = (event: PointerEvent): [number, number] => {
    const { left, top, width, height } = box.current!.getBoundingClientRect();
    const share = (value: number): number => Math.min(1, Math.max(0, value));
    return [
      share((event.clientX - left - AXES.left) / (width - AXES.left - AXES.right)),
      share((event.clientY - top - AXES.top) / (height - AXES.top - AXES.bottom)),
    ];
  };
  const end = (): void => {
    if (drag === undefined) return;
    const [x0, y0, x1, y1] = drag;
    setDrag(undefined);
    if (Math.abs(x0 - x1) < 0.01 || Math.abs(y0 - y1) < 0.01) return;
    const range = (scale: Scale, a: number, b: number): readonly [number, number] => [
      Math.min(a, b) === 0 ? -Infinity : scale.value(Math.min(a, b)),
      Math.max(a, b) === 1 ? Infinity : scale.value(Math.max(a, b)),
    ];
    plots.select([
      [across.key, range(pair.scales[0], x0, x1)],
      [up.key, range(pair.scales[1], 1 - y0, 1 - y1)],
    ]);
  };
  return (
    <div
      ref={box}
      className="pair-canvas"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag([...at(event), ...at(event)]);
      }}
      onPointerMove={(event) => drag !== undefined && setDrag([drag[0], drag[1], ...at(event)])}
      onPointerUp={end}
      onPointerCancel={() => setDrag(undefined)}
    >
      <Canvas label={`${up.name} against ${across.name}`} height={330} draw={draw} />
      {drag !== undefined && (
        <i
          style={{
            left: `calc(${AXES.left}px + (100% - ${AXES.left + AXES.right}px) * ${Math.min(drag[0], drag[2])})`,
            top: AXES.top + (330 - AXES.top - AXES.bottom) * Math.min(drag[1], drag[3]),
            width: `calc((100% - ${AXES.left + AXES.right}px) * ${Math.abs(drag[0] - drag[2])})`,
            height: (330 - AXES.top - AXES.bottom) * Math.abs(drag[1] - drag[3]),
          }}
        />
      )}
    </div>
  );
}

function drawAxes(context: CanvasRenderingContext2D, { across, up, scales }: Pair, area: Area): void {
  context.font = '11px system-ui, sans-serif';
  context.strokeStyle = colour('line');
  context.fillStyle = colour('soft');
  const label = (variable: Variable, value: number): string =>
    variable.categories?.[Math.round(value)] ?? figure(value);
  const marks = (variable: Variable, scale: Scale, most: number): number[] =>
    variable.categories === undefined
      ? ticksOf(scale, most)
      : variable.categories
          .map((_, at) => at)
          .filter((at) => variable.categories![at] !== '')
          .slice(0, 12);
  for (const value of marks(across, scales[0], 7)) {
    const x = area.x + scales[0].place(value) * area.width;
    context.beginPath();
    context.moveTo(x, area.y);
    context.lineTo(x, area.y + area.height);
    context.stroke();
    context.textAlign = 'center';
    context.fillText(label(across, value), x, area.y + area.height + 14);
  }
  for (const value of marks(up, scales[1], 6)) {
    const y = area.y + (1 - scales[1].place(value)) * area.height;
    context.beginPath();
    context.moveTo(area.x, y);
    context.lineTo(area.x + area.width, y);
    context.stroke();
    context.textAlign = 'right';
    context.fillText(label(up, value), area.x - 6, y + 4);
  }
  context.fillStyle = colour('text');
  context.textAlign = 'center';
  context.fillText(across.label, area.x + area.width / 2, area.y + area.height + 32);
  context.save();
  context.translate(12, area.y + area.height / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(up.label, 0, 0);
  context.restore();
}

/** The matrix of all pairs; a click shows a pair at full size. */
export function ScatterMatrix({ plots, variables }: { plots: Plots; variables: readonly Variable[] }) {
  return (
    <div className="matrix" style={{ gridTemplateColumns: `repeat(${variables.length - 1}, minmax(0, 1fr))` }}>
      {variables
        .slice(1)
        .map((up, row) =>
          variables
            .slice(0, -1)
            .map((across, column) =>
              column > row ? (
                <span key={`${up.key} ${across.key}`} />
              ) : (
                <Cell
                  key={`${up.key} ${across.key}`}
                  plots={plots}
                  across={across}
                  up={up}
                  isFirst={column === 0}
                  isLast={row === variables.length - 2}
                />
              ),
            ),
        )}
    </div>
  );
}

function Cell({
  plots,
  across,
  up,
  isFirst,
  isLast,
}: {
  plots: Plots;
  across: Variable;
  up: Variable;
  isFirst: boolean;
  isLast: boolean;
}) {
  const draw = useCallback(
    function* (context: CanvasRenderingContext2D, width: number, height: number): Drawing {
      const scales = [plots.scale(across), plots.scale(up)] as const;
      const area = { x: 4, y: 4, width: width - 8, height: height - 8 };
      yield* drawPoints(context, plots, { across, up, scales }, area, thinned(plots.sample, CELL_POINTS));
    },
    [plots, across, up],
  );
  const r = useMemo(
    () => correlationOf(across.values, up.values, plots.sample),
    [across.values, up.values, plots.sample],
  );
  return (
    <button
      type="button"
      className="cell"
      title={`${up.label} against ${across.label}${Number.isNaN(r) ? '' : `; correlation ${brief(r)}`}`}
      aria-label={`Show ${up.name} against ${across.name}`}
      onClick={() => plots.showPair(across.key, up.key)}
    >
      <Canvas label={`${up.name} against ${across.name}`} height={104} draw={draw} />
      {isFirst && <span className="up clip" data-name={up.name} />}
      {isLast && <span className="across clip" data-name={across.name} />}
    </button>
  );
}

/** The correlation of two variables over those of the drawn runs that have both. */
function correlationOf(a: Float64Array, b: Float64Array, runs: Uint32Array): number {
  let [n, ma, mb, saa, sbb, sab] = [0, 0, 0, 0, 0, 0];
  for (const run of runs) {
    const [x, y] = [a[run]!, b[run]!];
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    n += 1;
    const [dx, dy] = [x - ma, y - mb];
    ma += dx / n;
    mb += dy / n;
    saa += dx * (x - ma);
    sbb += dy * (y - mb);
    sab += dx * (y - mb);
  }
  return n < 3 || saa === 0 || sbb === 0 ? Number.NaN : sab / Math.sqrt(saa * sbb);
}

export const pointsNote = (size: number, most: number): string =>
  size <= most ? `${count(size)} runs` : `${count(most)} of ${count(size)} runs drawn, failed ones first`;

/** Parallel coordinates: axes are dragged into another order, ranges along them select runs. */
import { line, ruleX, text } from '@observablehq/plot';
import { useCallback, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react';
import { brief, count } from '../../parts/time.tsx';
import type { Scale } from '../../plots/scale.ts';
import { FAILED, readRanges, sampleRuns, SELECTED, BACKGROUND, type Variable } from '../../plots/variables.ts';
import { changeQuery } from '../../router.ts';
import { VariablesMenu } from '../choices.tsx';
import { KINDS } from '../colours.ts';
import { chosenVariables, kindOfRow, listOf, type Bench } from '../state.ts';
import type { CardKind, CardProps } from './kind.ts';
import { STYLE } from '../../cards/style.ts';
import { colourScale } from './marks.ts';
import type { Size } from '../../cards/figure.tsx';
import { PlotCard } from './plot.tsx';

/** Lines drawn; the failed runs are never thinned out below half of them. */
const LINES = 300;
const HEIGHT = 300;
const PLOT = { top: 44, bottom: 22, side: 50 };
const SHOWN = 9;
const MOST = 16;
/** Pixels between two axes below which their ends are not labelled. */
const LEAST_ROOM = 56;

interface Vertex {
  row: number;
  axis: string;
  place: number;
}

function Parallel({ bench, onRemove }: CardProps) {
  const axes = chosenVariables(bench, listOf(bench.query.get('axes')), SHOWN);
  const { drawn } = bench;
  const scales = axes.map((it) => drawn.scale(it));
  const ranges = useMemo(() => readRanges(bench.query.get('select')), [bench.query]);
  const rows = useMemo(() => sampleRuns(drawn.status, LINES), [drawn.status]);
  const keys = axes.map(({ key }) => key).join();
  const vertices = useMemo(
    () =>
      Array.from(rows).flatMap((row) =>
        // A missing value interrupts the line, as the outputs of a failed run.
        axes.map((it, at): Vertex => {
          const value = it.values[row]!;
          return { row, axis: it.key, place: Number.isFinite(value) ? scales[at]!.place(value) : Number.NaN };
        }),
      ),
    [drawn, rows, keys],
  );
  const draw = useCallback(
    ({ width }: Size) => {
      const { colouring } = drawn;
      const ends = ([0, 1] as const).flatMap((place) =>
        axes.flatMap((it, at) =>
          it.categories === undefined && width / axes.length > LEAST_ROOM
            ? [{ axis: it.key, place, text: brief(scales[at]!.value(place)) }]
            : [],
        ),
      );
      return {
        ...STYLE,
        ...colourScale(drawn),
        marginTop: PLOT.top,
        marginBottom: PLOT.bottom,
        marginLeft: PLOT.side,
        marginRight: PLOT.side,
        x: {
          type: 'point' as const,
          domain: axes.map(({ key }) => key),
          padding: 0,
          axis: 'top' as const,
          label: null,
          tickSize: 0,
          tickPadding: 22,
          tickFormat: (key: string) => axes.find((it) => it.key === key)!.label,
        },
        y: { axis: null, domain: [0, 1] },
        marks: [
          ...[BACKGROUND, SELECTED, FAILED].map((it) =>
            line(
              vertices.filter(({ row }) => kindOfRow(drawn, row) === it),
              {
                x: 'axis',
                y: 'place',
                z: 'row',
                stroke:
                  colouring === undefined || it === BACKGROUND
                    ? KINDS[it]!
                    : ({ row }: Vertex) => colouring.values[row],
                strokeOpacity: it === BACKGROUND ? 0.15 : it === FAILED ? 0.75 : 0.3,
                strokeWidth: it === FAILED ? 1.4 : 1,
              },
            ),
          ),
          ruleX(
            axes.map(({ key }) => key),
            { stroke: 'var(--line-strong)' },
          ),
          ...([0, 1] as const).map((end) =>
            text(
              ends.filter(({ place }) => place === end),
              { x: 'axis', y: 'place', text: 'text', dy: end === 1 ? -9 : 12 },
            ),
          ),
        ],
      };
    },
    [drawn, vertices],
  );
  return (
    <PlotCard
      bench={bench}
      title="All together"
      isWide
      aside={
        <VariablesMenu
          variables={bench.variables}
          shown={axes}
          most={MOST}
          onChange={(chosen) => changeQuery({ axes: chosen.join(',') })}
        />
      }
      note={`${count(rows.length)} runs drawn, failed ones first. Drag along an axis to select, drag a name to move its axis.`}
      draw={draw}
      height={HEIGHT}
      over={
        <>
          <AxisNames axes={axes} isLog={bench.isLog} onOrder={(order) => changeQuery({ axes: order.join(',') })} />
          {axes.map((it, at) => (
            <AxisBrush
              key={it.key}
              at={at}
              of={axes.length}
              scale={scales[at]!}
              range={ranges.get(it.key)}
              name={it.name}
              onRange={(range) => bench.select([[it.key, range]])}
            />
          ))}
        </>
      }
      rows={() => ({
        columns: ['run', ...axes.map(({ label }) => label)],
        rows: Array.from(rows, (row) => [
          bench.table.runAt(row),
          ...axes.map(({ values, categories }) => categories?.[values[row]!] ?? values[row]!),
        ]),
      })}
      python={`parallel(${JSON.stringify(axes.map(({ name }) => name))})`}
      onRemove={onRemove}
    />
  );
}

/** Horizontal place of an axis, in percent of the plot. */
const leftOf = (at: number, of: number): string =>
  `calc(${PLOT.side}px + (100% - ${2 * PLOT.side}px) * ${of === 1 ? 0.5 : at / (of - 1)})`;

/** The width of the name of an axis: up to its neighbours, and for the first and the last one up to the edge of the plot. */
function widthOf(at: number, of: number): string {
  const between = `calc((100% - ${2 * PLOT.side}px) / ${Math.max(1, of - 1)} - 4px)`;
  return at === 0 || at === of - 1 ? `min(${between}, ${2 * PLOT.side}px)` : between;
}

interface NamesProps {
  axes: readonly Variable[];
  isLog: Bench['isLog'];
  onOrder: (keys: readonly string[]) => void;
}

/** Names that can be dragged, or moved with the arrow keys. */
function AxisNames({ axes, isLog, onOrder }: NamesProps) {
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
          title={`${it.label}${isLog(it.key) ? ', log axis' : ''}: drag, or arrow keys, to move the axis`}
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

export const parallel: CardKind = {
  name: 'parallel',
  title: 'Parallel coordinates',
  fits: (bench) => bench.variables.length > 1,
  View: Parallel,
};

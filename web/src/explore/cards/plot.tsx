/** The plot of a card: drawn by the plotting library, brushed to select runs, zoomed, with the values under the pointer. */
import { plot, type PlotOptions } from '@observablehq/plot';
import { useEffect, useRef, useState, type PointerEvent, type ReactNode } from 'react';
import type { Variable } from '../../plots/variables.ts';
import { drawSoon } from '../../plots/draw-soon.ts';
import { go, hrefOf } from '../../router.ts';
import { jobId } from '../../../../src/domain/ids.ts';
import type { Bench } from '../state.ts';
import type { Rows } from './csv.ts';
import { CardFrame } from './frame.tsx';

type Range = readonly [number, number];

/** The part of the axes that is shown; all of an axis without an entry. */
export interface Zoom {
  x?: Range;
  y?: Range;
}

export interface Size {
  width: number;
  height: number;
}

interface Props {
  bench: Bench;
  title: string;
  /** True: as wide as the page. */
  isWide?: boolean;
  heading?: string;
  /** More entries of the menu. */
  actions?: ReactNode;
  aside?: ReactNode;
  /** The sentence below the plot. */
  note?: ReactNode;
  /** A new function draws again; undefined: there is nothing to draw, and `note` says why. */
  draw: ((size: Size, zoom: Zoom) => PlotOptions) | undefined;
  rows: () => Rows;
  python?: string | undefined;
  /** The variables along the axes: a drag over the plot selects ranges of them. */
  brush?: { x?: Variable | undefined; y?: Variable | undefined };
  height?: number;
  /** Elements over the plot and above it. */
  over?: ReactNode;
  above?: ReactNode;
  onRemove: () => void;
}

export const HEIGHT = 268;
/** A drag shorter than this is a click. */
/** Pixels from an axis to the label below it, which leaves room for the letters' lower ends. */
const X_LABEL = 36;
const CLICK_PIXELS = 4;

type Figure = ReturnType<typeof plot>;

export function PlotCard({
  bench,
  title,
  heading,
  isWide,
  actions,
  aside,
  note,
  draw,
  rows,
  python,
  brush,
  height = HEIGHT,
  over,
  above,
  onRemove,
}: Props) {
  const [zoom, setZoom] = useState<Zoom>({});
  const [isZooming, setZooming] = useState(false);
  const isZoomed = zoom.x !== undefined || zoom.y !== undefined;
  return (
    <CardFrame
      batchId={bench.progress.batch.id}
      title={title}
      heading={heading}
      isWide={isWide}
      aside={
        <>
          {aside}
          {isZoomed && (
            <button type="button" className="small" onClick={() => setZoom({})}>
              Show all
            </button>
          )}
        </>
      }
      rows={draw === undefined ? undefined : rows}
      python={python}
      actions={
        <>
          {actions}
          {brush !== undefined && (
            <button type="button" className="quiet" aria-pressed={isZooming} onClick={() => setZooming(!isZooming)}>
              {isZooming ? 'Drag to select runs' : 'Drag to zoom'}
            </button>
          )}
        </>
      }
      onRemove={onRemove}
    >
      {(isFull) => (
        <>
          {above}
          {draw !== undefined && (
            <Picture
              bench={bench}
              label={title}
              draw={draw}
              zoom={zoom}
              height={isFull ? Math.max(height, window.innerHeight - 150) : height}
              brush={brush}
              onBrush={(found) => {
                if (isZooming) setZoom(found);
                else select(bench, brush ?? {}, found);
              }}
              onReset={() => setZoom({})}
              over={over}
            />
          )}
          {note !== undefined && <p className="small soft card-note">{note}</p>}
        </>
      )}
    </CardFrame>
  );
}

function select(bench: Bench, brush: NonNullable<Props['brush']>, { x, y }: Zoom): void {
  bench.select([
    ...(brush.x === undefined || x === undefined ? [] : [[brush.x.key, x] as const]),
    ...(brush.y === undefined || y === undefined ? [] : [[brush.y.key, y] as const]),
  ]);
}

interface PictureProps {
  bench: Bench;
  label: string;
  draw: NonNullable<Props['draw']>;
  zoom: Zoom;
  height: number;
  brush: Props['brush'];
  onBrush: (found: Zoom) => void;
  onReset: () => void;
  over: ReactNode;
}

interface Corners {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

function Picture({ bench, label, draw, zoom, height, brush, onBrush, onReset, over }: PictureProps) {
  const host = useRef<HTMLDivElement>(null);
  const figure = useRef<Figure>(undefined);
  const [drag, setDrag] = useState<Corners>();
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const soon = (): void =>
      drawSoon(element, () => {
        const width = element.clientWidth;
        if (width > 0)
          figure.current = show(
            element,
            { ...draw({ width, height }, zoom), ...clipped(zoom) },
            { width, height, label },
          );
      });
    soon();
    let { clientWidth } = element;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth === clientWidth) return;
      ({ clientWidth } = element);
      soon();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [draw, zoom, height, label]);
  const at = (event: PointerEvent): [number, number] => {
    const { left, top } = host.current!.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  const end = (): void => {
    if (drag === undefined) return;
    setDrag(undefined);
    const { x0, x1, y0, y1 } = drag;
    if (Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0)) < CLICK_PIXELS) return openRun(bench, figure.current);
    return onBrush({
      ...(brush?.x === undefined ? {} : rangeOf('x', figure.current, x0, x1)),
      ...(brush?.y === undefined ? {} : rangeOf('y', figure.current, y0, y1)),
    });
  };
  const isBand = drag !== undefined && (brush?.x === undefined || brush.y === undefined);
  return (
    <div className={brush === undefined ? 'card-drag' : 'card-drag brushed'}>
      <div
        ref={host}
        className="card-plot"
        style={{ height }}
        // Before the library, which would keep the event to pin its tip.
        onPointerDownCapture={(event) => {
          if (event.button !== 0) return;
          event.stopPropagation();
          event.currentTarget.setPointerCapture(event.pointerId);
          const [x, y] = at(event);
          setDrag({ x0: x, y0: y, x1: x, y1: y });
        }}
        onPointerMove={(event) => {
          if (drag === undefined || brush === undefined) return;
          const [x1, y1] = at(event);
          setDrag({ ...drag, x1, y1 });
        }}
        onPointerUp={end}
        onPointerCancel={() => setDrag(undefined)}
        onDoubleClick={onReset}
      />
      {over}
      {drag !== undefined && brush !== undefined && (
        <i
          style={{
            left: isBand && brush.x === undefined ? 0 : Math.min(drag.x0, drag.x1),
            width: isBand && brush.x === undefined ? '100%' : Math.abs(drag.x1 - drag.x0),
            top: isBand && brush.y === undefined ? 0 : Math.min(drag.y0, drag.y1),
            height: isBand && brush.y === undefined ? height : Math.abs(drag.y1 - drag.y0),
          }}
        />
      )}
    </div>
  );
}

/** Points beyond a zoomed axis are not drawn; otherwise they are at its ends. */
const clipped = ({ x, y }: Zoom): Pick<PlotOptions, 'clip'> =>
  x === undefined && y === undefined ? {} : { clip: true };

/** Draws in place of the picture before. The policy of the page allows no style element: the rules of the library are in the style sheet. */
function show(element: HTMLElement, options: PlotOptions, { width, height, label }: Size & { label: string }): Figure {
  const x = options.x === undefined ? {} : { x: { labelOffset: X_LABEL, ...options.x } };
  const figure = plot({ ...options, ...x, width, height, ariaLabel: label, className: 'plot-of-card' });
  figure.querySelector('style')?.remove();
  // A group has no role that a label could name.
  for (const mark of figure.querySelectorAll('g[aria-label]')) {
    mark.setAttribute('data-mark', mark.getAttribute('aria-label')!);
    mark.removeAttribute('aria-label');
  }
  figure.setAttribute('role', 'img');
  element.replaceChildren(figure);
  return figure;
}

/** The range of an axis between two pixels; open at an end of the axis, since values beyond it are drawn there. */
function rangeOf(name: 'x' | 'y', figure: Figure | undefined, a: number, b: number): Zoom {
  const scale = figure?.scale(name);
  if (scale?.invert === undefined || scale.range === undefined) return {};
  const ends = [...(scale.range as number[])].sort((one, other) => one - other) as [number, number];
  const inside = (pixel: number): number => Math.min(ends[1], Math.max(ends[0], pixel));
  const found = [scale.invert(inside(a)), scale.invert(inside(b))].sort((one, other) => one - other);
  return { [name]: [Number(found[0]), Number(found[1])] as const };
}

/** A click opens the run whose values are shown. */
function openRun(bench: Bench, figure: Figure | undefined): void {
  const row: unknown = figure?.value;
  if (typeof row !== 'number') return;
  go(hrefOf(['jobs', jobId(bench.progress.batch.id, bench.table.runAt(row))]));
}

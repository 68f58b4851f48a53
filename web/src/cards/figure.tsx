/** A card with a plot: drawn by the plotting library, brushed, zoomed, with the values under the pointer. */
import { plot, type PlotOptions } from '@observablehq/plot';
import { useEffect, useRef, useState, type PointerEvent, type ReactNode } from 'react';
import { drawSoon } from '../plots/draw-soon.ts';
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

/** The axes of a drag. */
export interface Brush {
  x?: boolean;
  y?: boolean;
}

export interface FigureProps {
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
  /** A program of the Python package that draws it. */
  python?: (() => string) | undefined;
  /** The axes along which a drag finds ranges. */
  brush?: Brush | undefined;
  /** Selects runs by the ranges of a drag; undefined: a drag zooms. */
  onSelect?: ((found: Zoom) => void) | undefined;
  /** A click on the values that the pointer shows. */
  onOpen?: ((value: unknown) => void) | undefined;
  height?: number;
  /** Elements over the plot and above it. */
  over?: ReactNode;
  above?: ReactNode;
  onRemove: () => void;
}

const HEIGHT = 268;
/** Pixels from an axis to the label below it, which leaves room for the letters' lower ends. */
const X_LABEL = 36;
/** A drag shorter than this is a click. */
const CLICK_PIXELS = 4;

type Figure = ReturnType<typeof plot>;

export function FigureCard({
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
  onSelect,
  onOpen,
  height = HEIGHT,
  over,
  above,
  onRemove,
}: FigureProps) {
  const [zoom, setZoom] = useState<Zoom>({});
  const [isZooming, setZooming] = useState(false);
  const isZoomed = zoom.x !== undefined || zoom.y !== undefined;
  return (
    <CardFrame
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
          {brush !== undefined && onSelect !== undefined && (
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
              label={title}
              draw={draw}
              zoom={zoom}
              height={isFull ? Math.max(height, window.innerHeight - 150) : height}
              brush={brush}
              onBrush={(found) => (isZooming || onSelect === undefined ? setZoom(found) : onSelect(found))}
              onOpen={onOpen}
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

interface PictureProps {
  label: string;
  draw: NonNullable<FigureProps['draw']>;
  zoom: Zoom;
  height: number;
  brush: Brush | undefined;
  onBrush: (found: Zoom) => void;
  onOpen: FigureProps['onOpen'];
  onReset: () => void;
  over: ReactNode;
}

interface Corners {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

function Picture({ label, draw, zoom, height, brush, onBrush, onOpen, onReset, over }: PictureProps) {
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
    if (Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0)) < CLICK_PIXELS) return onOpen?.(figure.current?.value);
    return onBrush({
      ...(brush?.x !== true ? {} : rangeOf('x', figure.current, x0, x1)),
      ...(brush?.y !== true ? {} : rangeOf('y', figure.current, y0, y1)),
    });
  };
  const isBand = drag !== undefined && (brush?.x !== true || brush.y !== true);
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
            left: isBand && brush.x !== true ? 0 : Math.min(drag.x0, drag.x1),
            width: isBand && brush.x !== true ? '100%' : Math.abs(drag.x1 - drag.x0),
            top: isBand && brush.y !== true ? 0 : Math.min(drag.y0, drag.y1),
            height: isBand && brush.y !== true ? height : Math.abs(drag.y1 - drag.y0),
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

/** A histogram with all, selected and failed runs; a range can be selected with the pointer or typed. */
import { PlotCaption } from './caption.tsx';
import { useRef, useState, type PointerEvent } from 'react';
import { brief, count, figure } from '../parts/time.tsx';
import type { Histogram } from './bins.ts';

type Range = readonly [number, number];

interface Props {
  name: string;
  note: string;
  histogram: Histogram;
  range: Range | undefined;
  onRange?: (range: Range | undefined) => void;
  /** Undefined: the values cannot have a logarithmic axis. */
  onLog?: ((isLog: boolean) => void) | undefined;
}

const WIDTH = 260;
const HEIGHT = 84;

export function HistogramPlot({ name, note, histogram: it, range, onRange, onLog }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<[number, number]>();
  const bins = it.all.length;
  const top = Math.max(1, ...it.all);
  const span = it.to - it.from;
  const valueOf = (place: number): number => (it.isLog ? 10 ** place : place);
  const placeOf = (value: number): number => (it.isLog ? Math.log10(Math.max(value, Number.MIN_VALUE)) : value);
  const xOf = (place: number): number =>
    span === 0 ? WIDTH / 2 : ((Math.min(Math.max(place, it.from), it.to) - it.from) / span) * WIDTH;
  const placeAt = (event: PointerEvent): number => {
    const box = svg.current?.getBoundingClientRect();
    const share = box === undefined ? 0 : (event.clientX - box.left) / box.width;
    return it.from + Math.min(Math.max(share, 0), 1) * span;
  };
  const end = (): void => {
    if (drag === undefined) return;
    const [a, b] = [Math.min(...drag), Math.max(...drag)];
    setDrag(undefined);
    if (b - a < span / 200) return onRange?.(undefined);
    // At an edge with values beyond it the range is open.
    const low = a === it.from && it.below > 0 ? -Infinity : valueOf(a);
    const high = b === it.to && it.above > 0 ? Infinity : valueOf(b);
    return onRange?.([low, high]);
  };
  const shown = drag === undefined ? range?.map(placeOf) : [Math.min(...drag), Math.max(...drag)];
  const path = (counts: Uint32Array): string =>
    Array.from(counts, (value, bin) =>
      value === 0
        ? ''
        : `M${((bin * WIDTH) / bins + 0.5).toFixed(2)},${HEIGHT}v${(-(value / top) * HEIGHT).toFixed(2)}h${(WIDTH / bins - 1).toFixed(2)}V${HEIGHT}z`,
    ).join('');
  const hasValues = it.count > 0;
  return (
    <figure className="histogram">
      <PlotCaption name={name} note={note} />
      <svg
        ref={svg}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Distribution of ${name}: ${it.count} runs${hasValues ? `, mean ${figure(it.mean)}, standard deviation ${figure(it.sd)}` : ''}`}
        onPointerDown={(event) => {
          if (onRange === undefined) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          const place = placeAt(event);
          setDrag([place, place]);
        }}
        onPointerMove={(event) => drag !== undefined && setDrag([drag[0], placeAt(event)])}
        onPointerUp={end}
        onPointerCancel={end}
      >
        <path className="h-all" d={path(it.all)} />
        <path className="h-selected" d={path(it.selected)} />
        <path className="h-failed" d={path(it.failed)} />
        {shown !== undefined && (
          <rect
            className="h-range"
            x={xOf(shown[0]!)}
            width={Math.max(1, xOf(shown[1]!) - xOf(shown[0]!))}
            y={0}
            height={HEIGHT}
          />
        )}
      </svg>
      <div className="ends small soft">
        <span title={it.below > 0 ? `${count(it.below)} runs are below` : undefined}>
          {it.below > 0 && `${count(it.below)} below, `}
          {brief(valueOf(it.from))}
        </span>
        <span title="Mean and standard deviation of the selected runs">
          {hasValues ? `${brief(it.mean)}, sd ${brief(it.sd)}` : 'no values'}
        </span>
        <span title={it.above > 0 ? `${count(it.above)} runs are above` : undefined}>
          {brief(valueOf(it.to))}
          {it.above > 0 && `, ${count(it.above)} above`}
        </span>
      </div>
      {onRange !== undefined && range !== undefined && <RangeFields name={name} range={range} onRange={onRange} />}
      {onRange !== undefined && range === undefined && (
        <div className="row under">
          <button type="button" className="quiet small" onClick={() => onRange([valueOf(it.from), valueOf(it.to)])}>
            Range<span className="visually-hidden"> of {name}</span> …
          </button>
          {onLog !== undefined && (
            <button type="button" className="quiet small" aria-pressed={it.isLog} onClick={() => onLog(!it.isLog)}>
              log<span className="visually-hidden"> axis of {name}</span>
              {it.isLog && <span aria-hidden="true"> ✓</span>}
            </button>
          )}
        </div>
      )}
    </figure>
  );
}

function RangeFields({ name, range, onRange }: { name: string; range: Range; onRange: NonNullable<Props['onRange']> }) {
  const field = (at: 0 | 1, label: string) => (
    <input
      key={`${label}${range[at]}`}
      aria-label={`${label} of ${name}`}
      defaultValue={Number.isFinite(range[at]) ? figure(range[at]) : ''}
      inputMode="decimal"
      onBlur={(event) => {
        const value = event.target.value.trim() === '' ? (at === 0 ? -Infinity : Infinity) : Number(event.target.value);
        if (!Number.isNaN(value) && value !== range[at]) onRange(at === 0 ? [value, range[1]] : [range[0], value]);
      }}
      onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
    />
  );
  return (
    <div className="range">
      {field(0, 'Least')}
      <span aria-hidden="true">to</span>
      {field(1, 'Greatest')}
      <button
        type="button"
        className="quiet"
        onClick={() => onRange(undefined)}
        aria-label={`Clear the range of ${name}`}
      >
        ✕
      </button>
    </div>
  );
}

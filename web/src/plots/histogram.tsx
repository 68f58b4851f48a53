/** A histogram with all, selected and failed runs; a range can be selected with the pointer or typed. */
import { useRef, useState, type PointerEvent } from 'react';
import { figure } from '../parts/time.tsx';
import type { Histogram } from './variables.ts';

interface Props {
  name: string;
  note: string;
  histogram: Histogram;
  range: readonly [number, number] | undefined;
  onRange?: (range: readonly [number, number] | undefined) => void;
}

const short = (value: number): string => figure(Number(value.toPrecision(4)));
const WIDTH = 260;
const HEIGHT = 84;

export function HistogramPlot({ name, note, histogram: it, range, onRange }: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<[number, number]>();
  const bins = it.all.length;
  const top = Math.max(1, ...it.all);
  const span = it.to - it.from;
  const xOf = (value: number): number =>
    span === 0 ? WIDTH / 2 : ((Math.min(Math.max(value, it.from), it.to) - it.from) / span) * WIDTH;
  const valueAt = (event: PointerEvent): number => {
    const box = svg.current?.getBoundingClientRect();
    const share = box === undefined ? 0 : (event.clientX - box.left) / box.width;
    return it.from + Math.min(Math.max(share, 0), 1) * span;
  };
  const end = (): void => {
    if (drag === undefined) return;
    const [a, b] = drag;
    setDrag(undefined);
    onRange?.(Math.abs(a - b) < span / 200 ? undefined : [Math.min(a, b), Math.max(a, b)]);
  };
  const shown = drag === undefined ? range : ([Math.min(...drag), Math.max(...drag)] as const);
  const bar = (count: number, bin: number, kind: string) =>
    count === 0 ? null : (
      <rect
        key={`${kind}${bin}`}
        className={`h-${kind}`}
        x={(bin * WIDTH) / bins + 0.5}
        width={WIDTH / bins - 1}
        y={HEIGHT - (count / top) * HEIGHT}
        height={(count / top) * HEIGHT}
      />
    );
  return (
    <figure className="histogram">
      <figcaption>
        <strong className="clip" title={name}>
          {name}
        </strong>
        <span className="soft nowrap">{note}</span>
      </figcaption>
      <svg
        ref={svg}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Distribution of ${name}: ${it.count} runs, mean ${figure(it.mean)}, standard deviation ${figure(it.sd)}`}
        onPointerDown={(event) => {
          if (onRange === undefined) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          const value = valueAt(event);
          setDrag([value, value]);
        }}
        onPointerMove={(event) => drag !== undefined && setDrag([drag[0], valueAt(event)])}
        onPointerUp={end}
        onPointerCancel={end}
      >
        {Array.from(it.all, (count, bin) => bar(count, bin, 'all'))}
        {Array.from(it.selected, (count, bin) => bar(count, bin, 'selected'))}
        {Array.from(it.failed, (count, bin) => bar(count, bin, 'failed'))}
        {shown !== undefined && (
          <rect
            className="h-range"
            x={xOf(shown[0])}
            width={Math.max(1, xOf(shown[1]) - xOf(shown[0]))}
            y={0}
            height={HEIGHT}
          />
        )}
      </svg>
      <div className="ends small soft">
        <span>{short(it.from)}</span>
        <span>
          {short(it.mean)} ± {short(it.sd)}
        </span>
        <span>{short(it.to)}</span>
      </div>
      {onRange !== undefined && range !== undefined && <RangeFields name={name} range={range} onRange={onRange} />}
      {onRange !== undefined && range === undefined && (
        <button type="button" className="quiet small" onClick={() => onRange([it.from, it.to])}>
          Range<span className="visually-hidden"> of {name}</span> …
        </button>
      )}
    </figure>
  );
}

function RangeFields({
  name,
  range,
  onRange,
}: {
  name: string;
  range: readonly [number, number];
  onRange: NonNullable<Props['onRange']>;
}) {
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

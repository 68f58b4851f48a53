/** Lines over time or over the number of runs. New data redraw it; it is recreated when its size, lines or colours change. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { colour, useShownTheme } from '../theme.ts';
import { figure } from '../parts/time.tsx';
import { verticalRange } from './range.ts';

export interface Series {
  name: string;
  /** Name of a colour of the theme. */
  colour: string;
  /** Null: a gap; undefined: no point at this time, which the line passes. */
  values: readonly (number | null | undefined)[];
  fill?: boolean;
  /** Thin line without points: the edge of a band. Edges come in pairs, the lower one first. */
  edge?: boolean;
  /** True for the edge of a band that is drawn paler. */
  pale?: boolean;
  thin?: boolean;
  /** True for a single point, which is marked. */
  point?: boolean;
  /** A horizontal line. The axis is extended to a line clearly beyond the values, not to a line at their edge. */
  limit?: number;
  /** A fill that hides the lines below it: stacked areas are drawn from the top one down. */
  solid?: boolean;
  dash?: boolean;
  /** True for a line without an entry in the legend. */
  isQuiet?: boolean;
}

interface Props {
  label: string;
  /** Seconds since the epoch, or numbers of runs. */
  times: readonly number[];
  series: readonly Series[];
  height?: number;
  /** Label of the horizontal axis, when it is not time. */
  across?: string;
  /** Label of the vertical axis; without it the title beside the plot says what is drawn. */
  up?: string;
  /** Least range of the horizontal axis, in its own units. */
  leastSpan?: number;
  /** Top of the vertical axis; otherwise a round number above the values. */
  most?: number;
  /** Called with the name of the line next to a click. */
  onPick?: (name: string) => void;
}

/** A click this many pixels from a line is on it. */
const PICK_PIXELS = 12;

const AXIS_FONT = '11px system-ui, sans-serif';
/** The room of an axis's label, in pixels. */
const LABEL_SIZE = 18;
/** Half of the widest time, which may be at the end of the axis: `12:08:26.50 PM`. */
const TIME_LABEL_HALF = 38;

export function TimeSeries({ label, times, series, height = 200, across, up, leastSpan = 0, most, onPick }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const theme = useShownTheme();
  const names = series.map((it) => it.name).join('|');
  const data = [times, ...series.map((it) => it.values)] as unknown as uPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;
  const pick = useRef(onPick);
  pick.current = onPick;
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const made = new uPlot(
      options(series, element.clientWidth, { height, across, up, leastSpan, most }),
      latest.current,
      element,
    );
    plot.current = made;
    made.over.addEventListener('click', () => {
      const name = nearestLine(made);
      if (name !== undefined) pick.current?.(name);
    });
    const observer = new ResizeObserver(() =>
      made.setSize({ width: Math.max(element.clientWidth, 120), height: withLabel(height, across) }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
    // The lines are distinguished by name; their values follow below.
  }, [theme, names, height, across, up, leastSpan, most]);
  useEffect(() => plot.current?.setData(data), [times, series]);
  return (
    <figure className="plot">
      <div ref={host} role="img" aria-label={label} />
      <figcaption className="keys">
        {series
          .filter((it) => it.edge !== true && it.isQuiet !== true)
          .map((it) => (
            <span key={it.name}>
              <i style={{ background: `var(--${it.colour})` }} aria-hidden="true" />
              {it.name}
            </span>
          ))}
      </figcaption>
    </figure>
  );
}

/** The name of the line that the pointer is on, the nearest of several; undefined for none. */
function nearestLine(plot: uPlot): string | undefined {
  const { idx, top = -1 } = plot.cursor;
  if (idx === null || idx === undefined) return undefined;
  const distances = plot.series.slice(1).flatMap(({ label }, at) => {
    const value = plot.data[at + 1]?.[idx];
    if (value === null || value === undefined || typeof label !== 'string') return [];
    return [{ label, pixels: Math.abs(plot.valToPos(value, 'y') - top) }];
  });
  return distances.filter((it) => it.pixels <= PICK_PIXELS).sort((a, b) => a.pixels - b.pixels)[0]?.label;
}

/** Times in the browser's locale; the day below, where it is ambiguous. */
function timeTicks(ticks: readonly number[], stepSecs: number): string[] {
  const time = new Intl.DateTimeFormat(undefined, {
    hour: 'numeric',
    minute: '2-digit',
    ...(stepSecs < 60 ? { second: '2-digit' } : {}),
    // Labels within a second would all be equal without these digits.
    ...(stepSecs < 1 ? { fractionalSecondDigits: Number.isInteger(stepSecs * 10) ? 1 : 2 } : {}),
  });
  const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
  let before = day.format(new Date());
  return ticks.map((it) => {
    const at = new Date(it * 1_000);
    const today = day.format(at);
    const isNew = today !== before;
    before = today;
    if (stepSecs >= 86_400) return today;
    return isNew ? `${time.format(at)}\n${today}` : time.format(at);
  });
}

/** The label of an axis, and the room that it takes. */
const labelled = (label: string | undefined): Pick<uPlot.Axis, 'label' | 'labelFont' | 'labelSize' | 'labelGap'> =>
  label === undefined ? {} : { label, labelFont: AXIS_FONT, labelSize: LABEL_SIZE, labelGap: 2 };

/** The height of a plot whose lines have the same room with a label below them as without. */
const withLabel = (height: number, label: string | undefined): number =>
  label === undefined ? height : height + LABEL_SIZE;

function options(
  series: readonly Series[],
  width: number,
  {
    height,
    across,
    up,
    leastSpan,
    most: top,
  }: Required<Pick<Props, 'height' | 'leastSpan'>> &
    Record<'across' | 'up', string | undefined> &
    Record<'most', number | undefined>,
): uPlot.Options {
  const axis = {
    stroke: colour('soft'),
    font: AXIS_FONT,
    grid: { stroke: colour('line'), width: 1 },
    ticks: { stroke: colour('line'), width: 1, size: 4 },
  };
  return {
    width: Math.max(width, 120),
    height: withLabel(height, across),
    padding: [null, across === undefined ? TIME_LABEL_HALF : null, null, null],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: {
      x: { time: across === undefined, range: (_, from, to) => [Math.min(from, to - leastSpan), to] },
      y: {
        range: (_, least, most) => (top === undefined ? rangeWith(series, least, most) : [0, Math.max(1, top)]),
      },
    },
    axes: [
      {
        ...axis,
        ...labelled(across),
        size: across === undefined ? 42 : 28,
        space: across === undefined ? 84 : 60,
        values: (_, ticks, _axis, _space, step) =>
          across === undefined ? timeTicks(ticks, step) : ticks.map((it) => figure(it)),
      },
      // Close enough that even a low plot has two labels.
      { ...axis, ...labelled(up), size: 58, space: 20, values: (_, ticks) => ticks.map((it) => figure(it)) },
    ],
    series: [
      {},
      ...series.map((it) => ({
        label: it.name,
        stroke: colour(it.colour),
        width: it.point === true ? 0 : it.edge === true ? 0.75 : it.thin === true ? 1 : 1.75,
        points: it.point === true ? { show: true, size: 9, width: 2, fill: colour(it.colour) } : { show: false },
        auto: it.limit === undefined,
        ...(it.fill === true
          ? {
              fill: `color-mix(in srgb, ${colour(it.colour)} ${it.solid === true ? 22 : 16}%, ${it.solid === true ? colour('panel') : 'transparent'})`,
            }
          : {}),
        ...(it.dash === true ? { dash: [5, 5], spanGaps: true } : {}),
      })),
    ],
    bands: bandsOf(series),
  };
}

/** The areas between pairs of edges. */
function bandsOf(series: readonly Series[]): uPlot.Band[] {
  const edges = series.flatMap((it, at) => (it.edge === true ? [at] : []));
  return edges.flatMap((low, nth) => {
    const high = edges[nth + 1];
    if (nth % 2 === 1 || high === undefined) return [];
    const { colour: name, pale = false } = series[low]!;
    const share = pale ? 7 : 18;
    return [{ series: [high + 1, low + 1], fill: `color-mix(in srgb, ${colour(name)} ${share}%, transparent)` }];
  });
}

/** A limit less than this share of the axis beyond its end is drawn at the end. */
const AT_END = 0.02;

function rangeWith(series: readonly Series[], least: number | null, most: number | null): [number, number] {
  const isFilled = series.some((it) => it.fill === true);
  const [from, to] = verticalRange({ least, most, isFilled });
  if (least === null || most === null) return [from, to];
  const room = (to - from) * AT_END;
  const beyond = series.flatMap(({ limit }) =>
    limit !== undefined && (limit < from - room || limit > to + room) ? [limit] : [],
  );
  if (beyond.length === 0) return [from, to];
  return verticalRange({ least: Math.min(least, ...beyond), most: Math.max(most, ...beyond), isFilled });
}

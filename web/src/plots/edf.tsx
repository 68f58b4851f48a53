/** The cumulative distribution of a variable: all runs, the selected and the failed ones as steps. */
import { PlotCaption } from './caption.tsx';
import type { Histogram } from './bins.ts';
import { brief } from '../parts/time.tsx';

interface Props {
  name: string;
  note: string;
  histogram: Histogram;
  /** The values below which 0, 1/n, ..., 1 of the runs lie. */
  lines: { selected: Float64Array; failed: Float64Array; all: Float64Array | undefined };
}

const WIDTH = 260;
const HEIGHT = 84;

export function EdfPlot({ name, note, histogram: { from, to, isLog }, lines }: Props) {
  const span = to > from ? to - from : 1;
  const x = (value: number): number => {
    const place = ((isLog ? Math.log10(value) : value) - from) / span;
    return Math.min(1, Math.max(0, place)) * WIDTH;
  };
  const path = (values: Float64Array): string =>
    Array.from(values, (value, at) => {
      const y = HEIGHT - (at / Math.max(1, values.length - 1)) * HEIGHT;
      return `${at === 0 ? 'M' : 'H'}${x(value).toFixed(1)}${at === 0 ? `,${y.toFixed(1)}` : `V${y.toFixed(1)}`}`;
    }).join('');
  const median = lines.selected[Math.floor(lines.selected.length / 2)];
  return (
    <figure className="histogram">
      <PlotCaption name={name} note={note} />
      <svg
        className="edf"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Cumulative distribution of ${name}`}
      >
        <line className="grid-line" x1="0" x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        {lines.all !== undefined && <path className="e-all" d={path(lines.all)} />}
        <path className="e-selected" d={path(lines.selected)} />
        {lines.failed.length > 0 && <path className="e-failed" d={path(lines.failed)} />}
      </svg>
      <div className="ends small soft">
        <span>{brief(isLog ? 10 ** from : from)}</span>
        <span>{median === undefined ? '' : `median ${brief(median)}`}</span>
        <span>{brief(isLog ? 10 ** to : to)}</span>
      </div>
    </figure>
  );
}

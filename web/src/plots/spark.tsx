/** A histogram of a few pixels, for table rows and column headers: bars, failed runs in red, marks at percentiles. */
import type { StudyDistributions } from '../../../src/contract/types.ts';
import { brief, count } from '../parts/time.tsx';

type Histogram = StudyDistributions['variables'][number];

interface Props {
  histogram: Histogram;
  /** Values to mark by a line. */
  marks?: readonly (number | undefined)[];
  height?: number;
}

const WIDTH = 120;

export function Spark({ histogram: it, marks = [], height = 26 }: Props) {
  const top = Math.max(1, ...it.counts);
  const width = WIDTH / it.counts.length;
  const bar = (value: number, bin: number): string =>
    `M${(bin * width).toFixed(2)},${height}v${(-(value / top) * height).toFixed(2)}h${(width - 0.4).toFixed(2)}V${height}z`;
  const path = (values: readonly number[]): string =>
    values.map((value, bin) => (value === 0 ? '' : bar(value, bin))).join('');
  const tails = [it.below > 0 ? `${count(it.below)} below` : '', it.above > 0 ? `${count(it.above)} above` : '']
    .filter((text) => text !== '')
    .join(', ');
  const label = `${it.name}: ${brief(it.min)} to ${brief(it.max)}, ${count(it.count)} runs`;
  return (
    <svg className="spark" viewBox={`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{tails === '' ? label : `${label}; shown ${brief(it.from)} to ${brief(it.to)}, ${tails}`}</title>
      <path className="h-selected" d={path(it.counts)} />
      <path className="h-failed" d={path(it.failed)} />
      {marks.map((value, at) =>
        value === undefined || value < it.from || value > it.to ? null : (
          <line
            key={at}
            className="mark"
            x1={((value - it.from) / (it.to - it.from)) * WIDTH}
            x2={((value - it.from) / (it.to - it.from)) * WIDTH}
            y1="0"
            y2={height}
          />
        ),
      )}
    </svg>
  );
}

/** The plot of one variable of a run: its line, its limits, the moment of a hit, and the band of the study. */
import { useMemo } from 'react';
import type { TelemetryBand } from '../../../src/contract/types.ts';
import { isNear } from '../../../src/analysis/band/limits.ts';
import { count, figure } from '../parts/time.tsx';
import { labelOf } from '../plots/variables.ts';
import { TimeSeries, type Series } from '../plots/time-series.tsx';
import { linearAt, pointsAt, unitedTimes } from './aligned.ts';
import type { Line } from '../data/telemetry-file.ts';
import type { Marks } from './marks.ts';

/** Where fewer than this share of the runs that have the variable are left, the band is drawn paler. */
const PALE_SHARE = 0.5;

type BandVariable = TelemetryBand['variables'][number];

interface Shown {
  times: number[];
  series: Series[];
  /** Notes that are shown below the plot. */
  notes: string[];
  /** Notes on the band, for a reader who does not see the plot; above all plots they are shown once. */
  bandNotes: string[];
}

interface Props {
  line: Line;
  /** The axis, the same of all variables. */
  span: readonly [from: number, to: number];
  marks: Marks;
  band: TelemetryBand | undefined;
}

export function VariablePlot({ line, span, marks, band }: Props) {
  const { times, series, notes, bandNotes } = useMemo(
    () => shownOf(line, span, marks, band),
    [line, span, marks, band],
  );
  return (
    <div>
      <TimeSeries
        label={[`${labelOf(line.name, marks.units)} over the time of the run, in seconds`, ...notes, ...bandNotes].join(
          '; ',
        )}
        times={times}
        across="seconds"
        height={140}
        series={series}
      />
      {notes.length > 0 && <p className="soft small">{notes.join('; ')}</p>}
    </div>
  );
}

function shownOf(
  line: Line,
  [from, to]: Props['span'],
  { units, limits, hit }: Marks,
  band: TelemetryBand | undefined,
): Shown {
  const inBand = band?.variables.find((it) => it.name === line.name);
  const times = unitedTimes(
    [from, to],
    line.secs,
    inBand === undefined ? [] : band!.seconds,
    hit === undefined ? [] : [hit.secs],
  ).filter((it) => it >= from && it <= to);
  const near = limits.filter((it) => isNear(line.values, it.value));
  const far = limits.filter((it) => !near.includes(it));
  return {
    times,
    series: [
      ...(inBand === undefined ? [] : bandSeries(times, band!.seconds, inBand)),
      {
        name: `${labelOf(line.name, units)}, over seconds`,
        colour: 'running',
        values: pointsAt(times, line.secs, line.values),
      },
      ...near.map(({ name, value, kind }): Series => ({
        name,
        colour: kind === 'condition' ? 'failed' : 'timeout',
        dash: true,
        limit: value,
        values: times.map(() => value),
      })),
      ...(hit === undefined || hit.value === null
        ? []
        : [{ name: 'met', colour: 'failed', point: true, values: pointsAt(times, [hit.secs], [hit.value]) }]),
    ],
    notes: [
      ...(hit === undefined ? [] : [hit.text]),
      ...(far.length === 0 ? [] : [`too far to be drawn: ${far.map((it) => it.name).join(', ')}`]),
      ...(band === undefined || inBand?.runs === band.read
        ? []
        : [`${count(inBand?.runs ?? 0)} of the ${count(band.read)} runs of the band have this variable`]),
    ],
    bandNotes: inBand === undefined ? [] : [`band of ${count(inBand.runs)} runs${fewAfter(inBand, band!.seconds)}`],
  };
}

/** Median and percentiles twice: where enough runs are left, and paler where few are. The two meet. */
function bandSeries(times: readonly number[], grid: readonly number[], it: BandVariable): Series[] {
  const isPale = it.present.map((runs) => runs < it.runs * PALE_SHARE);
  const part = (values: readonly (number | null)[], pale: boolean) =>
    values.map((value, at) =>
      isPale[at] === pale || (pale && isPale[at + 1] === true) || (pale && isPale[at - 1] === true) ? value : null,
    );
  const of = (values: readonly (number | null)[], pale: boolean) => linearAt(times, grid, part(values, pale));
  return [
    { name: 'P5', colour: 'soft', edge: true, values: of(it.p5, false) },
    { name: 'P95', colour: 'soft', edge: true, values: of(it.p95, false) },
    { name: 'P5, few runs', colour: 'soft', edge: true, pale: true, values: of(it.p5, true) },
    { name: 'P95, few runs', colour: 'soft', edge: true, pale: true, values: of(it.p95, true) },
    {
      name: 'median of the study, band P5 to P95',
      colour: 'soft',
      thin: true,
      values: linearAt(times, grid, it.median),
    },
  ];
}

/** The time from which fewer than half of the runs are left, as the end of a sentence. */
export function fewAfter(
  { runs, present }: { runs: number; present: readonly number[] },
  seconds: readonly number[],
): string {
  const last = present.findLastIndex((it) => it >= runs * PALE_SHARE);
  if (last === seconds.length - 1) return '';
  return `, fewer than half of them after ${figure(Number(seconds[last]?.toPrecision(3)))} s (paler), ${count(present.at(-1) ?? 0)} at the end`;
}

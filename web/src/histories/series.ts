/** The lines of the plot of a band: quantiles, tolerance band, limits, and curves of single runs; and of two bands. */
import type { HistoryBand } from '../../../src/contract/types.ts';
import { isNear } from '../../../src/analysis/band/limits.ts';
import { linearAt, unitedTimes } from '../telemetry/aligned.ts';

/** A line of the plot, with some of the members of a series of `TimeSeries`. */
export interface BandLine {
  name: string;
  colour: string;
  values: readonly (number | null | undefined)[];
  edge?: boolean;
  thin?: boolean;
  dash?: boolean;
  isQuiet?: boolean;
  limit?: number;
}

/** The curve of one run at the points of the history. */
export interface RunCurve {
  runId: number;
  values: readonly (number | null)[];
  /** True for a run that the reader has selected; otherwise it is one of those farthest outside. */
  isSelected: boolean;
}

/** The name of the line of a run, by which a click finds it. */
export const lineOf = (runId: number): string => `run ${runId}`;

/** The values of a quantile of a band; nulls where the band has another one. */
export const quantileAt = ({ quantiles, seconds }: HistoryBand, p: number): (number | null)[] =>
  quantiles.find((it) => it.p === p)?.value ?? seconds.map(() => null);

/** `P5 to P95` and the median, grey beside selected runs, dashed the tolerance band, limits near the values, and the curves of runs. */
export function bandSeries(band: HistoryBand, curves: readonly RunCurve[]): { series: BandLine[]; far: string[] } {
  const { tolerance, limits, seconds } = band;
  const [low, middle, high] = [0.05, 0.5, 0.95].map((p) => quantileAt(band, p)) as [
    (number | null)[],
    (number | null)[],
    (number | null)[],
  ];
  const shown = [...low, ...high, ...(tolerance?.lower ?? []), ...(tolerance?.upper ?? [])];
  const near = limits.filter((it) => isNear(shown, it.value));
  const dashed = { colour: 'soft', dash: true, thin: true };
  // The blue of selected runs is next to that of a band: the median would be one line among them.
  const colour = curves.some((it) => it.isSelected) ? 'text' : 'running';
  return {
    series: [
      { name: 'P5', colour, edge: true, values: low },
      { name: 'P95', colour, edge: true, values: high },
      ...curves.map(({ runId, values, isSelected }): BandLine => ({
        name: lineOf(runId),
        colour: isSelected ? 'accent' : 'timeout',
        thin: true,
        isQuiet: true,
        values,
      })),
      ...(tolerance === null
        ? []
        : [
            { name: toleranceName(band), ...dashed, values: tolerance.lower },
            { name: 'upper limit of the tolerance band', ...dashed, isQuiet: true, values: tolerance.upper },
          ]),
      { name: `median, band P5 to P95, over seconds`, colour, values: middle },
      ...near.map(({ name, value, kind }): BandLine => ({
        name,
        colour: kind === 'condition' ? 'failed' : 'timeout',
        dash: true,
        limit: value,
        values: seconds.map(() => value),
      })),
    ],
    far: limits.filter((it) => !near.includes(it)).map((it) => it.name),
  };
}

/** The bands of the same history of two studies over the times of both: P5 to P95, median, and dashed the tolerance bands. */
export function comparedSeries(before: HistoryBand, after: HistoryBand): { times: number[]; series: BandLine[] } {
  const times = unitedTimes(before.seconds, after.seconds);
  const sides = [
    { side: 'before', colour: 'timeout', band: before },
    { side: 'after', colour: 'running', band: after },
  ].map(({ side, colour, band }) => {
    const line = (name: string, values: readonly (number | null)[], more: Partial<BandLine> = {}): BandLine => ({
      name: `${side}: ${name}`,
      colour,
      values: linearAt(times, band.seconds, values),
      ...more,
    });
    const dashed = { dash: true, thin: true, isQuiet: true };
    return {
      edges: [0.05, 0.95].map((p) => line(`P${100 * p}`, quantileAt(band, p), { edge: true })),
      lines: [
        ...(band.tolerance === null
          ? []
          : [
              line('lower limit of the tolerance band', band.tolerance.lower, dashed),
              line('upper limit of the tolerance band', band.tolerance.upper, dashed),
            ]),
        line('median, band P5 to P95', quantileAt(band, 0.5)),
      ],
    };
  });
  return { times, series: [...sides.flatMap((it) => it.edges), ...sides.flatMap((it) => it.lines)] };
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(4))} %`;

const toleranceName = ({ coverage, confidence }: HistoryBand): string =>
  `holds whole curves of ${percent(coverage)} of future runs, confidence ${percent(confidence)}`;

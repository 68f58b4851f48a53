/** The plot of a variable of a running run: its line, and the limits of its conditions that lie near enough to be drawn. */
import type { LiveCondition, LiveTelemetry, LiveVariable } from '../../../src/contract/types.ts';
import { isNear } from '../../../src/analysis/band/limits.ts';
import type { Series } from '../plots/time-series.tsx';
import { count, figure } from '../parts/time.tsx';

export interface LivePlot {
  times: number[];
  series: Series[];
  /** Sentences about all that the plot does not show. */
  notes: string[];
}

/** The least time of all variables, from which the seconds of the plots count. */
export const startOf = (variables: readonly LiveVariable[]): number =>
  variables.reduce((least, { time_s: [first = Infinity] }) => Math.min(least, first), Infinity);

export function livePlot(variable: LiveVariable, conditions: readonly LiveCondition[], start: number): LivePlot {
  const { name, values, time_s, samples, not_finite, reversals } = variable;
  const own = conditions.filter((it) => it.variable === name);
  const near = own.filter((it) => isNear(values, it.threshold));
  const limits = new Map(near.map((it) => [`limit ${it.condition}`, it.threshold]));
  return {
    times: time_s.map((it) => it - start),
    series: [
      { name, colour: 'running', values },
      ...[...limits].map(([limit, threshold]): Series => ({
        name: limit,
        colour: 'failed',
        dash: true,
        values: values.map(() => threshold),
      })),
    ],
    notes: [
      `${count(values.length)} of ${count(samples)} samples${values.length > 0 && reversals === 0 ? `, the latest ${figure(values.at(-1))}` : ''}.`,
      ...(own.length > near.length && values.length > 0
        ? [
            `Too far to be drawn: ${own
              .filter((it) => !near.includes(it))
              .map((it) => it.condition)
              .join(', ')}.`,
          ]
        : []),
      ...(not_finite > 0 ? [`${count(not_finite)} are NaN or infinite and not drawn.`] : []),
      ...(reversals > 0
        ? [`Its time ran backwards ${count(reversals)} times; all is drawn in the order of time.`]
        : []),
    ],
  };
}

/** Sentences about all that the plots of the view do not show. */
export function notesOf({ variables, conditions, omitted, lost, refused, shadow, hit }: LiveTelemetry): string[] {
  const seen = new Set(variables.filter((it) => it.samples > it.not_finite).map((it) => it.name));
  const unjudged = conditions.filter((it) => !seen.has(it.variable));
  return [
    ...new Set(
      unjudged.map((it) => `No number of ${it.variable} has come: its condition ${it.condition} has judged nothing.`),
    ),
    ...(hit === undefined
      ? []
      : [
          `${hit.variable} ${hit.condition} was met at telemetry time ${figure(hit.time_s)} s${hit.value === null ? '' : ` by ${figure(hit.value)}`}${shadow ? '; conditions in shadow end no run' : ''}.`,
        ]),
    ...(omitted > 0 ? [`${count(omitted)} more variables came; the view has no place for them.`] : []),
    ...(lost > 0 ? [`${count(lost)} samples were lost on their way to the runner.`] : []),
    ...(refused > 0 ? [`${count(refused)} samples were refused by the runner.`] : []),
  ];
}

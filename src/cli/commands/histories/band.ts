/** `simbatch band`: the band of a history over the runs of a study, as a line of its median and a table of some points. */
import type { Command } from 'commander';
import { band } from '../../../analysis/questions/band.ts';
import type { HistoryBand } from '../../../contract/types.ts';
import { cell, limitLines } from '../../study/answer-text.ts';
import { formatNumber } from '../../terminal/format.ts';
import { sparkline } from './sparkline.ts';
import { renderTable, type Column, type TableOptions } from '../../terminal/table.ts';
import { questionCommand } from '../analysis/question-command.ts';

/** Points of the table, the first and the last among them. */
const SHOWN_POINTS = 11;
const SPARK_WIDTH = 60;

export const bandCommand = (): Command =>
  questionCommand(band, {
    summary: 'the band of the curves of a history, or of a telemetry variable, over all runs',
    lines: bandLines,
  });

/** The sentence and the limits of a band; where there is one, its median as a line of characters, some points, and the runs farthest outside. */
export const bandLines = (answer: HistoryBand, options: TableOptions): string[] => [
  answer.sentence,
  ...limitLines(answer, ['runs-left-out']),
  ...(answer.reason === null ? ['', ...courseLines(answer), pointTable(answer, options), ...runLines(answer)] : []),
];

/** `P50  ▁▂▃▅▇█▇  0.1 to 7.3 g, 0 to 60 s`: of the quantile nearest to the median. */
function courseLines({ quantiles, seconds, units }: HistoryBand): string[] {
  const [middle] = [...quantiles].sort((a, b) => Math.abs(a.p - 0.5) - Math.abs(b.p - 0.5));
  const values = middle?.value.filter((it) => it !== null) ?? [];
  if (middle === undefined || values.length === 0) return [];
  const number = (value: number): string => formatNumber(value, 4);
  const [least, greatest] = values.reduce(([low, high], it) => [Math.min(low, it), Math.max(high, it)], [
    Infinity,
    -Infinity,
  ] as [number, number]);
  const range = `${number(least)} to ${number(greatest)}${units === null ? '' : ` ${units}`}`;
  const times = `${number(seconds[0]!)} to ${number(seconds.at(-1)!)} s`;
  return [`${nameOf(middle.p)}  ${sparkline(middle.value, SPARK_WIDTH)}  ${range}, ${times}`, ''];
}

const nameOf = (p: number): string => `P${formatNumber(100 * p, 6)}`;

function pointTable({ seconds, n, ended, quantiles, tolerance }: HistoryBand, options: TableOptions): string {
  const right = (name: string, rank?: number): Column => ({
    name,
    align: 'right',
    ...(rank === undefined ? {} : { rank }),
  });
  const last = seconds.length - 1;
  const places = new Set(Array.from({ length: SHOWN_POINTS }, (_, at) => Math.round((at * last) / (SHOWN_POINTS - 1))));
  const columns = [
    right('seconds'),
    right('runs'),
    right('ended', 2),
    ...quantiles.map(({ p }) => right(nameOf(p))),
    ...(tolerance === null ? [] : [right('band from', 1), right('band to', 1)]),
  ];
  const rows = [...places].map((at) => [
    formatNumber(seconds[at]!, 6),
    n[at]!,
    ended[at]!,
    ...quantiles.map(({ value }) => cell(value[at])),
    ...(tolerance === null ? [] : [cell(tolerance.lower[at]), cell(tolerance.upper[at])]),
  ]);
  return renderTable(columns, rows, options);
}

/** The runs farthest from the centre, and the limits on the variable. */
function runLines({ outlying, limits, history }: HistoryBand): string[] {
  const score = (value: number | null): string => (value === null ? 'infinite' : formatNumber(value, 3));
  const runs = outlying.map((it) => `${it.run_id} (${score(it.score)})`).join(', ');
  return [
    ...(outlying.length === 0 ? [] : [`farthest from the centre, in half-widths: runs ${runs}`]),
    ...limits.map((it) => `limit on ${history}: ${it.name}`),
  ];
}

/** The bands of histories in a report: a figure for each, with the runs that it holds and what limits it. Pure. */
import { isNear } from '../analysis/band/limits.ts';
import { shareInPercent } from '../analysis/wording.ts';
import { formatNumber } from '../base/text/number-text.ts';
import type { HistoryBand } from '../contract/types.ts';
import type { ReportData } from './collect.ts';
import { html, section, type Content, type Markup } from './html.ts';
import { at, figure, frame, withUnits, type Axes } from './plots.ts';

type Values = readonly (number | null)[];

/** A figure for each history of the study. */
export function historiesSection({ bands, summary }: ReportData): Markup {
  if (bands.length === 0) return html``;
  const known = new Set((summary?.warnings ?? []).map((it) => it.message));
  return section('Histories', html`<div class="plots">${bands.map((it) => bandFigure(it, known))}</div>`);
}

/** The band of a history, or why there is none. @param known warnings that the report states elsewhere */
export function bandFigure(band: HistoryBand, known: ReadonlySet<string> = new Set()): Markup {
  const { history, units, reason, sentence } = band;
  if (reason !== null) return html`<p><strong>${withUnits(history, units)}</strong>: ${sentence}</p> `;
  const warnings = band.warnings.filter(({ message }) => !known.has(message));
  const { drawn, beyond } = drawnBand(band);
  const notes = [...beyond.map((it) => `too far to be drawn: ${it}`), ...warnings.map((it) => it.message)];
  return html`<div>
    ${figure(`Band of ${history}`, drawn, captionOf(band))} ${notes.map((it) => html`<p class="soft small">${it}</p> `)}
  </div> `;
}

/** Names what is drawn, the counts at the ends, and the runs farthest outside. */
function captionOf(band: HistoryBand): string {
  const { history, units, sentence, n, ended, seconds, tolerance, outlying, unknown } = band;
  const first = formatNumber(seconds[0]!, 6);
  const last = formatNumber(seconds.at(-1)!, 6);
  const counts = `${n[0]!} with a value at ${first} s, ${n.at(-1)!} at ${last} s, where ${ended.at(-1)!} had ended`;
  const whole =
    tolerance === null
      ? `no tolerance band: ${band.tolerance_reason ?? ''}`
      : `dashed: holds whole curves of ${shareInPercent(band.coverage)} of future runs, confidence ${shareInPercent(band.confidence)}`;
  return [
    `${withUnits(history, units)} over seconds: P5 to P95 and median`,
    sentence,
    counts,
    ...(unknown === 0 ? [] : [`${unknown} failed or cancelled, their curves unknown`]),
    whole,
    ...(outlying.length === 0 ? [] : [`farthest from the centre: runs ${outlying.map((it) => it.run_id).join(', ')}`]),
  ].join('; ');
}

const quantileOf = ({ quantiles }: HistoryBand, p: number): Values => quantiles.find((it) => it.p === p)?.value ?? [];

/** The lines, and the names of limits that are too far from them. */
function drawnBand(band: HistoryBand): { drawn: Content; beyond: string[] } {
  const { seconds, tolerance, limits } = band;
  const [low, middle, high] = [0.05, 0.5, 0.95].map((p) => quantileOf(band, p)) as [Values, Values, Values];
  const shown = [...low, ...high, ...(tolerance?.lower ?? []), ...(tolerance?.upper ?? [])];
  const near = limits.filter((it) => isNear(shown, it.value));
  const values = [...shown.filter((it) => it !== null), ...near.map((it) => it.value)];
  const [least, most] = values.reduce(([a, b], it) => [Math.min(a, it), Math.max(b, it)], [Infinity, -Infinity] as [
    number,
    number,
  ]);
  const room = (most - least || Math.abs(most) || 1) * 0.04;
  const axes = frame([seconds[0]!, seconds.at(-1)!], [least - room, most + room], 'seconds');
  const lines = (kind: string, of: Values): Content =>
    runsOf(of).map((run) => html`<path class="${kind}" d="M${pointsOf(axes, seconds, of, run)}" /> `);
  const area = runsOf(low).map(
    (run) =>
      html`<path
        class="band"
        d="M${pointsOf(axes, seconds, high, run)}L${pointsOf(axes, seconds, low, run.toReversed())}Z"
      /> `,
  );
  const limitLines = near.map((it) => {
    const y = axes.y(it.value);
    return html`<line
        class="limit"
        x1="${at(axes.x(seconds[0]!))}"
        x2="${at(axes.x(seconds.at(-1)!))}"
        y1="${at(y)}"
        y2="${at(y)}"
      />
      <text class="limit" x="${at(axes.x(seconds.at(-1)!))}" y="${at(y - 3)}" text-anchor="end">${it.name}</text> `;
  });
  return {
    drawn: [
      axes.drawn,
      area,
      lines('whole', tolerance?.lower ?? []),
      lines('whole', tolerance?.upper ?? []),
      lines('line', middle),
      limitLines,
    ],
    beyond: limits.filter((it) => !near.includes(it)).map((it) => it.name),
  };
}

/** The places of values next to each other, without those that are missing. */
function runsOf(values: Values): number[][] {
  const runs: number[][] = [];
  for (const [place, value] of values.entries()) {
    if (value === null) continue;
    if (place === 0 || values[place - 1] === null) runs.push([]);
    runs.at(-1)!.push(place);
  }
  return runs;
}

const pointsOf = (axes: Axes, seconds: readonly number[], values: Values, places: readonly number[]): string =>
  places.map((it) => `${at(axes.x(seconds[it]!))},${at(axes.y(values[it]!))}`).join('L');

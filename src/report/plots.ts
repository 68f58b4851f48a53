/** Plots of a report as inline SVG: distributions with the limits of requirements, and running estimates. Pure. */
import type { Convergence, StudyDistributions } from '../contract/types.ts';
import { formatNumber } from '../base/text/number-text.ts';
import { html, type Content, type Markup } from './html.ts';

export type Histogram = StudyDistributions['variables'][number];

/** A value that is marked in a plot. */
export interface Mark {
  value: number;
  name: string;
  /** A limit of a requirement; otherwise a quantile. */
  isLimit: boolean;
}

/** The width of every plot. */
export const WIDTH = 400;
const HEIGHT = 190;
const LEFT = 44;
const RIGHT = 10;
const TOP = 26;
const BOTTOM = 36;
const INNER_WIDTH = WIDTH - LEFT - RIGHT;
const INNER_HEIGHT = HEIGHT - TOP - BOTTOM;

/** A coordinate of a plot. */
export const at = (value: number): string => value.toFixed(1);

/** `P95 97.4`, or `limit > 75`, whose name has the value. */
const markText = ({ name, value, isLimit }: Mark): string =>
  isLimit ? `limit ${name}` : `${name} ${formatNumber(value, 5)}`;

/** Returns up to about `most` round values within the range. */
export function ticks(from: number, to: number, most: number): number[] {
  const span = to - from;
  if (!(span > 0) || !Number.isFinite(span)) return [from];
  const raw = span / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((it) => it * power >= raw) ?? 10);
  const found: number[] = [];
  for (let index = Math.ceil(from / step); index * step <= to + step * 1e-9; index++)
    found.push(Number((index * step).toPrecision(12)));
  return found;
}

/** The places of values in a plot. */
export interface Axes {
  x: (value: number) => number;
  y: (value: number) => number;
}

/** The axes of a plot over these ranges, and their drawing. */
export function frame(
  [fromX, toX]: readonly [number, number],
  [fromY, toY]: readonly [number, number],
  xName: string,
): Axes & { drawn: Content[] } {
  const x = (value: number): number => LEFT + ((value - fromX) / (toX - fromX || 1)) * INNER_WIDTH;
  const y = (value: number): number => TOP + INNER_HEIGHT - ((value - fromY) / (toY - fromY || 1)) * INNER_HEIGHT;
  const yTicks = ticks(fromY, toY, 4).map(
    (it) =>
      html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at(y(it))}" y2="${at(y(it))}" />
        <text class="tick" x="${LEFT - 5}" y="${at(y(it) + 3.5)}" text-anchor="end">${formatNumber(it, 4)}</text> `,
  );
  const xTicks = ticks(fromX, toX, 5).map(
    (it) =>
      html`<text class="tick" x="${at(x(it))}" y="${TOP + INNER_HEIGHT + 14}" text-anchor="middle"
        >${formatNumber(it, 4)}</text
      > `,
  );
  const name = html`<text class="axis" x="${LEFT + INNER_WIDTH / 2}" y="${HEIGHT - 6}" text-anchor="middle"
      >${xName}</text
    >
    <line class="base" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${TOP + INNER_HEIGHT}" y2="${TOP + INNER_HEIGHT}" /> `;
  return { x, y, drawn: [yTicks, xTicks, name] };
}

export const figure = (title: string, drawn: Content, caption: string, height = HEIGHT): Markup =>
  html`<figure>
    <svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">${drawn}</svg>
    <figcaption>${caption}</figcaption>
  </figure> `;

export const withUnits = (name: string, units: string | null): string =>
  units === null || units === '' ? name : `${name} [${units}]`;

/** The distribution of a variable, with marks; marks outside the axis are named in the caption. */
export function histogram(variable: Histogram, marks: readonly Mark[]): Markup {
  const { name, units, counts, failed, from, to, below, above, count } = variable;
  const width = (to - from) / Math.max(1, counts.length);
  const axes = frame([from, to], [0, Math.max(1, ...counts)], withUnits(name, units));
  const bar = (kind: string, value: number, bin: number): Content =>
    value === 0
      ? ''
      : html`<rect
          class="${kind}"
          x="${at(axes.x(from + bin * width) + 0.5)}"
          width="${at(Math.max(0.5, axes.x(from + width) - axes.x(from) - 1))}"
          y="${at(axes.y(value))}"
          height="${at(axes.y(0) - axes.y(value))}"
        /> `;
  const inside = marks.filter((it) => it.value >= from && it.value <= to);
  const outside = marks.filter((it) => !inside.includes(it));
  const lines = inside.map(
    (it, index) =>
      html`<line
          class="${it.isLimit ? 'limit' : 'mark'}"
          x1="${at(axes.x(it.value))}"
          x2="${at(axes.x(it.value))}"
          y1="${TOP - 2}"
          y2="${TOP + INNER_HEIGHT}"
        />
        <text
          class="${it.isLimit ? 'limit' : 'mark'}"
          x="${at(axes.x(it.value))}"
          y="${index % 2 === 0 ? TOP - 14 : TOP - 5}"
          text-anchor="${axes.x(it.value) > WIDTH - 70 ? 'end' : axes.x(it.value) < LEFT + 30 ? 'start' : 'middle'}"
          >${it.name}</text
        > `,
  );
  const tails = [
    ...(below > 0 ? [`${below} below the axis, the smallest ${formatNumber(variable.min, 5)}`] : []),
    ...(above > 0 ? [`${above} above the axis, the largest ${formatNumber(variable.max, 5)}`] : []),
    ...outside.map((it) => `${markText(it)} is outside the axis`),
  ];
  const caption = [`${withUnits(name, units)}: runs in each bin, ${count} with a value`, ...tails].join('; ');
  const bars = counts.map((it, bin) => [bar('bar', it, bin), bar('failed', failed[bin] ?? 0, bin)]);
  return figure(`Distribution of ${name}`, [axes.drawn, bars, lines], caption);
}

/** A running estimate with its interval over the number of runs, on a logarithmic axis. */
export function runningEstimate(name: string, units: string | null, { points }: Convergence): Markup {
  if (points.length < 2) return html``;
  const first = points[0]!;
  const last = points.at(-1)!;
  const values = points.flatMap((it) => [it.value, it.low ?? it.value, it.high ?? it.value]);
  // The first estimates are wild: the axis is that of the second half of the curve.
  const settled = points
    .slice(Math.floor(points.length / 3))
    .flatMap((it) => [it.low ?? it.value, it.high ?? it.value]);
  const shown = settled.length > 1 ? settled : values;
  const range = [Math.min(...shown), Math.max(...shown)] as const;
  const axes = frame([Math.log10(Math.max(1, first.n)), Math.log10(last.n)], range, 'runs');
  const x = (n: number): string => at(axes.x(Math.log10(n)));
  const y = (value: number): string => at(axes.y(Math.min(range[1], Math.max(range[0], value))));
  const band = points.filter((it) => it.low !== null && it.high !== null);
  const area =
    band.length < 2
      ? ''
      : html`<path
          class="band"
          d="M${[...band.map((it) => `${x(it.n)},${y(it.high!)}`), ...band.toReversed().map((it) => `${x(it.n)},${y(it.low!)}`)].join('L')}Z"
        /> `;
  const line = html`<path class="line" d="M${points.map((it) => `${x(it.n)},${y(it.value)}`).join('L')}" /> `;
  // Ticks of the logarithm would be its powers: those of the runs replace them.
  const runs = [first.n, Math.round(Math.sqrt(first.n * last.n)), last.n].map(
    (n) => html`<text class="tick" x="${x(n)}" y="${TOP + INNER_HEIGHT + 14}" text-anchor="middle">${n}</text> `,
  );
  const [grid, , base] = axes.drawn;
  const interval =
    last.low === null || last.high === null
      ? ''
      : `, 95 % interval ${formatNumber(last.low, 5)} to ${formatNumber(last.high, 5)}`;
  return figure(
    `Running mean of ${name}`,
    [grid, runs, base, area, line],
    `running mean of ${withUnits(name, units)} over the first n runs: ${formatNumber(last.value, 5)} after ${last.n}${interval}`,
  );
}

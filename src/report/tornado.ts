/** A bar for each input of an output, by its influence, as inline SVG. Pure. */
import { formatNumber } from '../base/text/number-text.ts';
import type { StudySensitivity } from '../contract/types.ts';
import { html, type Markup } from './html.ts';
import { at, figure, ticks, WIDTH } from './plots.ts';

type Influence = StudySensitivity['parameters'][number];

const LEFT = 130;
/** Room at the right for the value beside a bar. */
const RIGHT = 40;
const ROW = 17;
const TOP = 4;
const BOTTOM = 34;
const MOST_LETTERS = 21;

const shortened = (name: string): string => (name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS - 1)}…` : name);

/** The first-order Sobol' indices of the inputs of an output, with the largest that chance makes; nothing where none is known. */
export function tornado(output: string, parameters: readonly Influence[]): Markup {
  const shown = parameters.flatMap((it) => (it.sobol_cosine === null ? [] : [{ ...it, index: it.sobol_cosine }]));
  if (shown.length === 0) return html``;
  const floors = shown.flatMap((it) => it.noise_floor ?? []);
  const floor = floors.length === 0 ? undefined : Math.max(...floors);
  const most = Math.max(0.05, floor ?? 0, ...shown.map(({ index }) => index));
  const x = (value: number): number => LEFT + (Math.max(0, value) / most) * (WIDTH - LEFT - RIGHT);
  const bottom = TOP + shown.length * ROW;
  const grid = ticks(0, most, 5).map(
    (it) =>
      html`<line class="grid" x1="${at(x(it))}" x2="${at(x(it))}" y1="${TOP}" y2="${bottom}" />
        <text class="tick" x="${at(x(it))}" y="${bottom + 13}" text-anchor="middle">${formatNumber(it, 3)}</text> `,
  );
  const bars = shown.map(({ name, index, told_apart: isApart }, row) => {
    const top = TOP + row * ROW;
    return html`<text x="${LEFT - 5}" y="${top + 12}" text-anchor="end">${shortened(name)}</text>
      <rect
        class="${isApart === true ? 'bar' : 'bar pale'}"
        x="${LEFT}"
        width="${at(Math.max(0.5, x(index) - LEFT))}"
        y="${top + 2}"
        height="${ROW - 4}"
      />
      <text x="${at(x(index) + 4)}" y="${top + 12}">${(Math.abs(index) < 0.005 ? 0 : index).toFixed(2)}</text> `;
  });
  const chance =
    floor === undefined
      ? ''
      : html`<line class="mark" x1="${at(x(floor))}" x2="${at(x(floor))}" y1="${TOP}" y2="${bottom}" /> `;
  const axis = html`<line class="base" x1="${LEFT}" x2="${LEFT}" y1="${TOP}" y2="${bottom}" />
    <text class="axis" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${bottom + 28}" text-anchor="middle"
      >first-order Sobol’ index</text
    > `;
  const notes = [
    `what drives ${output}: share of its variance by each input alone`,
    ...(floor === undefined ? [] : [`dashed: the largest index by chance, ${formatNumber(floor, 3)}`]),
    ...(shown.every((it) => it.told_apart === true) ? [] : ['pale: not told apart from none']),
  ];
  return figure(`What drives ${output}`, [grid, bars, chance, axis], notes.join('; '), bottom + BOTTOM);
}

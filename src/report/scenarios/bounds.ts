/** The section of a report about a study with epistemic inputs: the bounds of its outputs over the cells, with the p-box of each. Pure. */
import { boxSteps } from '../../analysis/scenarios/box-steps.ts';
import { shareInPercent } from '../../analysis/wording.ts';
import { formatNumber } from '../../base/text/number-text.ts';
import type { Envelope, OutputBox } from '../../contract/types.ts';
import { scenarioText } from '../../domain/scenarios/cells.ts';
import type { ReportData } from '../collect.ts';
import { html, section, table, type Content, type Heading, type Markup } from '../html.ts';
import { at, figure, frame, withUnits } from '../plots.ts';

const COLUMNS: readonly Heading[] = [
  ['figure'],
  ['least', 'number'],
  ['its interval', 'number'],
  ['in the cell'],
  ['greatest', 'number'],
  ['its interval', 'number'],
  ['in the cell'],
];

export function boundsSection({ boxes }: ReportData): Markup {
  return boxes.length === 0 ? html`` : section('Bounds', boxes.map(boundsOfOutput));
}

function boundsOfOutput({ output, units, sentence, mean, quantiles, requirements, curve }: OutputBox): Markup {
  const rows = [
    rowOf('mean', mean, number),
    ...quantiles.map(({ p, envelope }) => rowOf(`P${formatNumber(100 * p, 6)}`, envelope, number)),
    ...requirements.map(({ name, envelope }) => rowOf(`passing ${name}`, envelope, shareInPercent)),
  ];
  const caption = `${withUnits(output, units)}: the share of runs at or below each value lies between the curves, over the cells that were run`;
  return html`<p>${sentence}</p>
    ${curve.values.length === 0 ? '' : html`<div class="plots">${figure(`Bounds of ${output}`, box(curve, output), caption)}</div> `}
    ${table(COLUMNS, rows)}`;
}

const number = (value: number): string => formatNumber(value, 6);

/** One figure: its least and its greatest value over the cells, each with its interval and its cell. */
function rowOf(name: string, envelope: Envelope | null, text: (value: number) => string): Content[] {
  if (envelope === null) return [name, '-', '-', '-', '-', '-', '-'];
  const ends = (['least', 'greatest'] as const).flatMap((bound) => {
    const { value, interval, scenario } = envelope[bound];
    return [text(value), intervalText(interval, text), scenarioText(scenario)];
  });
  return [name, ...ends];
}

const intervalText = (interval: Envelope['least']['interval'], text: (value: number) => string): string => {
  if (interval === null) return '-';
  const [from, to] = interval;
  return `${from === null ? '-inf' : text(from)} to ${to === null ? 'inf' : text(to)}`;
};

/** The two curves as steps, and the area between them. */
function box(curve: OutputBox['curve'], name: string): Content {
  const { values, least, greatest } = boxSteps(curve);
  const axes = frame([values[0]!, values.at(-1)!], [0, 1], name);
  const pointsOf = (shares: readonly number[]): string[] =>
    shares.map((share, place) => `${at(axes.x(values[place]!))},${at(axes.y(share))}`);
  const [low, high] = [pointsOf(least), pointsOf(greatest)];
  return [
    axes.drawn,
    html`<path class="band" d="M${high.join('L')}L${low.toReversed().join('L')}Z" /> `,
    ...[low, high].map((it) => html`<path class="line" d="M${it.join('L')}" /> `),
  ];
}

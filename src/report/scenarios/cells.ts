/** The section of a report about the cells of a study with scenarios: each requirement as a table of its cells, coloured by their verdicts. Pure. */
import { verdictWord } from '../../analysis/requirements/sentence.ts';
import { shareInPercent } from '../../analysis/wording.ts';
import type { CellVerdict, JudgedRequirement, Scenario } from '../../contract/types.ts';
import { type Axis, axesOfStudy } from '../../domain/scenarios/cells.ts';
import type { ReportData } from '../collect.ts';
import { html, section, table, type Heading, type Markup } from '../html.ts';

/** An axis with more levels is not across: a page has no place for its columns. */
const MOST_ACROSS = 8;
/** Rows beyond these would fill pages: those with the least shares are shown. */
const MOST_ROWS = 200;

const KINDS: Readonly<Record<CellVerdict['verdict'], string>> = {
  met: 'good',
  violated: 'bad',
  'not-shown': 'warn',
  open: 'soft',
};

export function cellsSection({ verdicts, submission }: ReportData): Markup {
  const judged = (verdicts?.requirements ?? []).filter((it) => (it.by ?? []).length > 0);
  const axes = axesOfStudy(submission.config);
  if (axes.length === 0 || judged.length === 0) return html``;
  return section(
    'Requirements in each cell',
    html`<p class="soft">
      Share of passing runs, one-sided bounds and verdict, for each cell alone; a set of cells is called met or
      violated, in bold, with the correction for the number of cells.
    </p> `,
    judged.map((it) => cellsOfRequirement(it, axes)),
  );
}

/** The last axis with few levels is across, the others are down; rows keep their order unless some are left out. */
function cellsOfRequirement({ name, by = [] }: JudgedRequirement, axes: readonly Axis[]): Markup {
  const across = axes.findLast((it) => it.levels.length <= MOST_ACROSS);
  const down = axes.filter((it) => it !== across);
  const rows = new Map<string, { scenario: Scenario; least: number; cells: Map<string, CellVerdict> }>();
  for (const cell of by) {
    const key = JSON.stringify(down.map((axis) => cell.scenario[axis.name]));
    const row = rows.get(key) ?? { scenario: cell.scenario, least: 2, cells: new Map<string, CellVerdict>() };
    rows.set(key, row);
    row.least = Math.min(row.least, cell.estimate ?? 2);
    row.cells.set(across === undefined ? '' : cell.scenario[across.name]!, cell);
  }
  const levels = across?.levels ?? [''];
  const shown =
    rows.size <= MOST_ROWS
      ? [...rows.values()]
      : [...rows.values()].sort((a, b) => a.least - b.least).slice(0, MOST_ROWS);
  const headings: Heading[] = [
    ...down.map((it): Heading => [it.name]),
    ...levels.map((level): Heading => [across === undefined ? 'share' : `${across.name} = ${level}`, 'number']),
  ];
  const body = shown.map((row) => [
    ...down.map((it) => row.scenario[it.name]),
    ...levels.map((level) => cellText(row.cells.get(level))),
  ]);
  const rest = rows.size - shown.length;
  const note = html`<p class="soft">The ${shown.length} rows with the least shares; ${rest} others are left out.</p> `;
  return html`<h3>${name}</h3>
    ${table(headings, body)}${rest === 0 ? '' : note}`;
}

/** A skipped cell is empty. */
function cellText(cell: CellVerdict | undefined): Markup {
  if (cell === undefined) return html``;
  const { verdict, called, estimate, lower, upper } = cell;
  const text = html`${estimate === null ? '-' : shareInPercent(estimate)} ${verdictWord(verdict)}`;
  return html`<span class="cell ${KINDS[verdict]}"
    >${called === null ? text : html`<strong>${text}</strong>`}<br /><span class="soft"
      >${shareInPercent(lower)} to ${shareInPercent(upper)}</span
    ></span
  >`;
}

/**
 * The envelope of an output over the cells of a study: means, quantiles and probabilities between the least and the greatest, and the
 * distribution function between two bounds (a p-box: Ferson and others, SAND2002-4015).
 */
import { plural } from '../../domain/plural.ts';
import { scenarioText } from '../../domain/scenarios/cells.ts';
import type { CellFigure, Envelope, OutputBox, Requirement, Scenario } from '../../contract/types.ts';
import { completedValues } from '../numeric/table-columns.ts';
import { countUpTo } from '../outputs/censoring.ts';
import { type OutputSummary, summarizeOutput } from '../outputs/output-summary.ts';
import { shareInPercent } from '../wording.ts';
import type { Warning } from '../warning.ts';
import { requireShare } from '../request-checks.ts';
import { judgeWithCourse } from '../requirements/judge.ts';
import { DEFAULT_CONFIDENCE } from '../requirements/requirement.ts';
import { groupTables } from '../table/cell-tables.ts';
import { answerHeader, dependenceWarnings } from '../table/header.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { type RunTable, type TableCells, outputColumn } from '../table/run-table.ts';
import { readLevels, requireScenarios } from './levels.ts';

const DEFAULT_QUANTILES = [0.05, 0.5, 0.95] as const;
/** Steps between the values of a curve. */
const STEPS = 256;

export interface BoxRequest {
  output: string;
  /** Each in [0, 1]; `DEFAULT_QUANTILES` when absent. */
  quantiles?: readonly number[];
  /** Values of the output at which the curves are; absent: values of the cells. */
  at?: readonly number[];
  /** Levels as `site:andoya`, one of an axis at most: the cells are those that have them. */
  within?: readonly string[];
  /** In (0, 1); 0.95 when absent. */
  confidence?: number;
  units?: ReadonlyMap<string, string>;
  requirements?: readonly Requirement[];
}

/** One cell: its statistics, its values in ascending order, and its runs that ended without one. */
interface BoxCell {
  scenario: Scenario;
  summary: OutputSummary;
  sorted: Float64Array;
  missing: number;
}

/** A study without scenarios is one cell. @throws RangeError for an output of texts, unknown levels and numbers out of their range */
export function outputBox(table: RunTable, request: BoxRequest): OutputBox {
  const { output, confidence = DEFAULT_CONFIDENCE, quantiles = DEFAULT_QUANTILES, requirements = [] } = request;
  requireShare('confidence', confidence);
  const { cells: of } = table;
  const within = withinOf(of, request.within ?? []);
  if (table.texts.has(output))
    throw new RangeError(`output is "${output}", whose values are texts; name an output of numbers`);
  const options = { confidence, quantiles, ...(request.units === undefined ? {} : { units: request.units }) };
  const all = cellsWithin(table, within, (its) => summarizeOutput(its, output, options), output);
  const cells = all.filter(({ sorted }) => sorted.length > 0);
  if (all.length === 0)
    throw new RangeError(`within names ${scenarioText(within)}, which no cell has: it is skipped; name other levels`);
  const header = answerHeader(table);
  const { epistemic = [], method }: Pick<TableCells, 'epistemic' | 'method'> = of ?? table;
  const distinct = request.at === undefined ? valuesOf(cells) : undefined;
  const curve = curveOf(cells, distinct === undefined ? [...request.at!].sort((a, b) => a - b) : thinned(distinct));
  const answer = {
    ...header,
    output,
    units: request.units?.get(output) ?? null,
    confidence,
    epistemic: [...epistemic],
    within,
    cells: cells.length,
    cells_without_values: all.length - cells.length,
    mean: envelopeOf(
      cells.flatMap(({ scenario, summary: { mean, mean_interval: interval } }) =>
        mean === null ? [] : [{ value: mean, interval, scenario }],
      ),
    ),
    quantiles: quantiles.flatMap((p, at) => {
      const figures = cells.map(({ scenario, summary }) => {
        const { value, interval } = summary.quantiles[at]!;
        return { value, interval, scenario };
      });
      const envelope = envelopeOf(figures);
      return envelope === null ? [] : [{ p, envelope }];
    }),
    requirements: requirements.map((it) => ({
      name: it.name,
      envelope: probabilityOf(table, it, requirements, within),
    })),
    curve,
  };
  const warnings = [
    ...header.warnings,
    ...dependenceWarnings(method),
    ...emptyWarnings(answer),
    ...thinnedWarnings(curve, distinct, output),
  ];
  return { ...answer, warnings, sentence: sentenceOf(answer) };
}

function withinOf(of: TableCells | undefined, written: readonly string[]): Scenario {
  return written.length === 0 ? {} : readLevels('within', written, requireScenarios(of, 'within').cells);
}

function cellsWithin(
  table: RunTable,
  within: Scenario,
  summarize: (its: RunTable) => OutputSummary,
  output: string,
): BoxCell[] {
  const found: BoxCell[] = [];
  for (const { scenario, table: its } of tablesOf(table, output)) {
    if (!hasLevels(scenario, within)) continue;
    const values = completedValues(its, outputColumn(its, output) ?? new Float64Array(its.rows).fill(Number.NaN));
    const sorted = values.filter((it) => !Number.isNaN(it)).sort();
    const unended = its.classes.filter((it) => it === CLASS_CODES.open || it === CLASS_CODES.cancelled).length;
    found.push({ scenario, summary: summarize(its), sorted, missing: its.rows - unended - sorted.length });
  }
  return found;
}

function tablesOf(table: RunTable, output: string): Iterable<{ scenario: Scenario; table: RunTable }> {
  const { cells: of } = table;
  if (of === undefined) return [{ scenario: {}, table }];
  const axes = of.cells.axes.map(({ name }) => name);
  return groupTables(table, of, axes, { outputs: new Set([output]), parameters: false });
}

const hasLevels = (scenario: Scenario, within: Scenario): boolean =>
  Object.entries(within).every(([axis, level]) => scenario[axis] === level);

/** The least and the greatest figure, of equal ones the first; null of none. */
function envelopeOf(figures: readonly CellFigure[]): Envelope | null {
  const [first, ...others] = figures;
  if (first === undefined) return null;
  const found = { least: first, greatest: first };
  for (const it of others) {
    if (it.value < found.least.value) found.least = it;
    if (it.value > found.greatest.value) found.greatest = it;
  }
  return found;
}

function probabilityOf(
  table: RunTable,
  requirement: Requirement,
  study: readonly Requirement[],
  within: Scenario,
): Envelope | null {
  const axes = table.cells?.cells.axes.map(({ name }) => name);
  const judged = judgeWithCourse(table, requirement, study, axes);
  const by = judged.by ?? [{ ...judged, scenario: {} }];
  const figures = by.flatMap(({ scenario, estimate, lower, upper }): CellFigure[] =>
    estimate === null || !hasLevels(scenario, within) ? [] : [{ value: estimate, interval: [lower, upper], scenario }],
  );
  return envelopeOf(figures);
}

/** The least and the greatest empirical distribution function at these values. */
function curveOf(cells: readonly BoxCell[], values: number[]): OutputBox['curve'] {
  if (cells.length === 0) return { values: [], least: [], greatest: [] };
  const least = values.map((value) =>
    Math.min(...cells.map(({ sorted, missing }) => countUpTo(sorted, value) / (sorted.length + missing))),
  );
  const greatest = values.map((value) =>
    Math.max(...cells.map(({ sorted, missing }) => (countUpTo(sorted, value) + missing) / (sorted.length + missing))),
  );
  return { values, least, greatest };
}

/** The different values of all cells together, in ascending order. */
function valuesOf(cells: readonly BoxCell[]): Float64Array {
  const all = new Float64Array(cells.reduce((sum, it) => sum + it.sorted.length, 0));
  let end = 0;
  for (const { sorted } of cells) {
    all.set(sorted, end);
    end += sorted.length;
  }
  return all.sort().filter((value, place) => place === 0 || value !== all[place - 1]);
}

/** The values, or some of many at equal distances of rank, the least and the greatest among them. */
function thinned(values: Float64Array): number[] {
  if (values.length <= STEPS + 1) return [...values];
  return Array.from({ length: STEPS + 1 }, (_, step) => values[Math.round((step * (values.length - 1)) / STEPS)]!);
}

/** Between two of its values a curve may be as high as at the second one. */
function thinnedWarnings(
  { values, least, greatest }: OutputBox['curve'],
  distinct: Float64Array | undefined,
  output: string,
): Warning[] {
  if (distinct === undefined || distinct.length <= values.length) return [];
  const rises = [least, greatest].flatMap((shares) => shares.slice(1).map((it, at) => it - shares[at]!));
  const message = `the curves are at ${values.length} of ${distinct.length} different values of ${output}: between two of these a share is up to ${shareInPercent(Math.max(...rises))} greater than at the lower one; ask with \`at\` for other values`;
  return [{ code: 'curve-thinned', message }];
}

function emptyWarnings({ cells_without_values: without, output }: { cells_without_values: number; output: string }) {
  if (without === 0) return [];
  const message = `${plural(without, 'cell')} without a value of ${output}: the envelope is over the other cells`;
  return [{ code: 'cells-without-values', message }];
}

function sentenceOf({ mean, output, cells }: Pick<OutputBox, 'mean' | 'output' | 'cells'>): string {
  if (mean === null) return `${output}: no cell has a value`;
  const shown = ({ value, scenario }: CellFigure): string =>
    `${Number(value.toPrecision(6))} (${scenarioText(scenario)})`;
  if (Object.keys(mean.least.scenario).length === 0)
    return `${output}: mean ${Number(mean.least.value.toPrecision(6))}; the study has one cell, since it has neither epistemic inputs nor scenarios`;
  return `${output}: mean from ${shown(mean.least)} to ${shown(mean.greatest)} over ${plural(cells, 'cell')}`;
}

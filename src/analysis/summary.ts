/** The summary of a study: its outputs, its failures, its requirements. */
import { failurePatterns } from './failure-patterns.ts';
import { DEFAULT_QUANTILES, isMeanDoubtful, summarizeOutput } from './outputs/output-summary.ts';
import { judgeRequirement } from './requirements/judge.ts';
import type { MissingRule, Requirement, StudySummary } from '../contract/types.ts';
import { DEFAULT_CONFIDENCE } from './requirements/requirement.ts';
import { anytimeWarnings, withAnytimeIntervals } from './precision/anytime.ts';
import { precisionsReached } from './precision/judge.ts';
import type { ParsedPrecision } from './precision/precision.ts';
import { requireShare } from './request-checks.ts';
import { shadowClause, shadowRules } from './shadow.ts';
import {
  type AnswerHeader,
  answerHeader,
  dependenceWarnings,
  missingWarnings,
  unfinishedWarnings,
  usedRunsSentence,
} from './table/header.ts';
import { groupCells, groupTables, requireAxes } from './table/cell-tables.ts';
import { type RunTable, outputNames, replicateReader } from './table/run-table.ts';
import type { Warning } from './warning.ts';
import { listed } from './wording.ts';

export interface SummaryRequest {
  /** Confidence, in (0, 1); 0.95 when absent. */
  confidence?: number;
  /** Each in [0, 1]; `DEFAULT_QUANTILES` when absent. */
  quantiles?: readonly number[];
  requirements?: readonly Requirement[];
  /** Output name to the telemetry variable whose extreme it reports. */
  censored?: ReadonlyMap<string, string>;
  /** Units by output name. */
  units?: ReadonlyMap<string, string>;
  /** `any` when absent. */
  missing?: MissingRule;
  /** The precisions at which the study stops. */
  precisions?: readonly ParsedPrecision[];
}

/**
 * The statistics of the completed runs, text outputs included, and the verdicts.
 * @throws RangeError when a number is out of its range or a requirement is not usable.
 */
export function summarizeStudy(table: RunTable, request: SummaryRequest = {}): StudySummary {
  const { confidence = DEFAULT_CONFIDENCE, quantiles = DEFAULT_QUANTILES, requirements = [] } = request;
  requireShare('confidence', confidence);
  const outside = quantiles.find((p) => !(p >= 0 && p <= 1));
  if (outside !== undefined)
    throw new RangeError(`quantiles holds ${outside}: each must be from 0 to 1; give 0.95 for the 95th percentile`);
  const header = answerHeader(table);
  const shadow = shadowRules(table, requirements);
  const names = [...new Set([...outputNames(table), ...table.texts.keys()])];
  const options = { ...request, confidence, quantiles };
  const fixed = names.map((name) => summarizeOutput(table, name, options));
  const { precisions = [] } = request;
  const outputs = withAnytimeIntervals(fixed, table, precisions, confidence);
  return {
    ...header,
    warnings: [
      ...header.warnings,
      ...(header.n_used === 0 ? [] : methodWarnings(table)),
      ...omissionWarnings(table),
      ...skewWarnings(outputs),
      ...anytimeWarnings(precisions),
      ...missingWarnings(request.missing),
    ],
    sentence: [studySentence(table, header), ...(shadow === undefined ? [] : [shadowClause(shadow)])].join('; '),
    outputs,
    failures: failurePatterns(table),
    requirements: requirements.map((requirement) => judgeRequirement(table, requirement, requirements)),
    ...(precisions.length === 0 ? {} : { precision: precisionsReached(table, precisions, request.units ?? new Map()) }),
    ...(shadow === undefined ? {} : { shadow }),
  };
}

/** Most statistics of outputs in the rows of cells of one answer. */
const MOST_BY_CELLS = 100_000;

/** The statistics of the cells by axes. @throws RangeError for an axis that the study does not have, and for too many statistics */
export function summariesBy(
  table: RunTable,
  by: readonly string[],
  request: SummaryRequest,
): NonNullable<StudySummary['by']> {
  const of = requireAxes(table.cells, by);
  const columns = outputNames(table).length + table.texts.size;
  const groups = groupCells(of.cells, by).length;
  if (groups * columns > MOST_BY_CELLS)
    throw new RangeError(
      `the summary by ${by.join(', ')} is too large: ${groups} rows of ${columns} outputs; name fewer axes, or read the runs with \`simbatch table\``,
    );
  return Array.from(groupTables(table, of, by, { parameters: false }), ({ scenario, cells, table: its }) => {
    const { n_used, of: runs, excluded, warnings, outputs } = summarizeStudy(its, request);
    return { scenario, cells, of: runs, n_used, excluded, warnings, outputs };
  });
}

/** An unfinished or cancelled study is called so first. */
function studySentence(table: RunTable, header: AnswerHeader): string {
  const states = unfinishedWarnings(table).map((it) => it.code);
  const statistics = usedRunsSentence(header);
  return states.length === 0 ? statistics : `${states.join(' and ')} study: ${statistics}`;
}

function methodWarnings(table: RunTable): Warning[] {
  const { method } = table;
  const warnings = dependenceWarnings(method);
  if (method !== 'latin_hypercube' || replicateReader(table) !== undefined) return warnings;
  const message =
    'the t interval of the mean of one Latin hypercube can be many times too wide (22 and 48 times, measured on a linear model): at least 5, better 8 replicates of 64 runs give a fitting interval';
  return [...warnings, { code: 'conservative', message }];
}

function omissionWarnings({ omittedOutputs }: RunTable): Warning[] {
  if (omittedOutputs.length === 0) return [];
  const message = `too many outputs: no statistics of ${listed(omittedOutputs)}`;
  return [{ code: 'outputs-omitted', message }];
}

function skewWarnings(outputs: readonly StudySummary['outputs'][number][]): Warning[] {
  const skewed = outputs.filter(isMeanDoubtful);
  if (skewed.length === 0) return [];
  const named = skewed.map((it) => `${it.name} (${Math.floor(25 * it.skewness! ** 2) + 1})`);
  const message = `the interval of the mean of a skewed output may hold less than its confidence with fewer runs than in brackets: ${listed(named)}; the intervals of quantiles do not depend on it`;
  return [{ code: 'mean-skewed', message }];
}

/** The comparison of two studies, as one answer. */
import { failingGroups } from '../attribution/failing-groups.ts';
import { completedTexts, completedValues, parameterColumns } from '../numeric/table-columns.ts';
import { requireShare } from '../request-checks.ts';
import type { Requirement, StudyComparison } from '../../contract/types.ts';
import { noSampleOf } from '../../domain/study/design-method.ts';
import { answerHeader, dependenceWarnings } from '../table/header.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { type RunTable, runIdOf } from '../table/run-table.ts';
import { type ComparedBatch, compare } from './compare.ts';

/** One side of a comparison: the runs of a single batch and its configuration as JSON. */
export interface ComparedStudy {
  table: RunTable;
  configuration: unknown;
  /** The names of its histories. */
  histories?: readonly string[];
  /** How the runs were drawn, where it is known; see `designOf`. */
  drawn?: ComparedBatch['drawn'];
}

export interface StudyComparisonRequest {
  /** The failing runs of both studies, as in an attribution; `failed` when absent. */
  failing?: string;
  requirements?: readonly Requirement[];
  /** Confidence, in (0, 1); 0.95 when absent. */
  confidence?: number;
}

/**
 * Compares two studies; differences are after minus before. Outputs count in completed runs alone.
 * @throws RangeError when a table joins replicates or the confidence is not between 0 and 1, or as `failingGroups` does.
 */
export function compareStudies(
  before: ComparedStudy,
  after: ComparedStudy,
  request: StudyComparisonRequest = {},
): StudyComparison {
  const { confidence = 0.95 } = request;
  requireShare('confidence', confidence);
  const found = compare(asBatch(before, request), asBatch(after, request), confidence);
  const [header, other] = [answerHeader(before.table), answerHeader(after.table)];
  // Two batches of one method have one warning about it.
  const methods = [...new Set([before.table.method, after.table.method])].filter((it) => noSampleOf(it) === undefined);
  const warnings = [...header.warnings, ...methods.flatMap(dependenceWarnings), ...found.warnings];
  const histories = (before.histories ?? []).filter((it) => after.histories?.includes(it) === true);
  return { ...header, with: other, ...found, histories, warnings };
}

function asBatch(
  { table, configuration, drawn }: ComparedStudy,
  { failing, requirements }: StudyComparisonRequest,
): ComparedBatch {
  if (table.replicates !== undefined) {
    throw new RangeError(
      `studies not compared: ${table.batchId} is read with its replicates; compare one study with one study`,
    );
  }
  if (table.cells !== undefined) {
    throw new RangeError(
      `studies not compared: ${table.batchId} has scenarios, whose cells share random numbers, and pairs of its runs depend on each other; read both with \`summary --by\``,
    );
  }
  return {
    runIds: Uint32Array.from({ length: table.rows }, (_, row) => runIdOf(table, row)),
    terminal: table.classes.map((code) => Number(code !== CLASS_CODES.open)),
    groups: failingGroups(table, failing, requirements),
    parameters: parameterColumns(table),
    outputs: [...table.outputs].map(([name, values]) => ({ name, values: completedValues(table, values) })),
    texts: completedTexts(table),
    ...(drawn === undefined ? {} : { drawn }),
    configuration,
  };
}

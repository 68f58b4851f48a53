/** The attribution of a study's failures, as one answer. */
import { plural } from '../../domain/plural.ts';
import { requireShare } from '../request-checks.ts';
import type { Requirement, StudyAttribution } from '../../contract/types.ts';
import { dependenceWarnings, sampleWarnings, markedRowsHeader, usedRunsSentence } from '../table/header.ts';
import { type RunTable, classOf } from '../table/run-table.ts';
import { type Presence, parameterPresence, partlyWarning } from '../numeric/presence.ts';
import type { Warning } from '../warning.ts';
import { FAILING, IN_NEITHER, attribution } from './attribution.ts';
import { axisCauses, levelsSentence } from './axis-causes.ts';
import { FAILED, failingGroups } from './failing-groups.ts';
import { failurePatterns } from '../failure-patterns.ts';

export interface StudyAttributionRequest {
  /** See `failingGroups`; `failed` when absent. */
  failing?: string;
  requirements?: readonly Requirement[];
  /** Confidence, in (0, 1); 0.95 when absent. */
  confidence?: number;
}

/** Fewer failing runs are not a cause of their own. */
const LEAST_OF_CAUSE = 5;
const MOST_CAUSES = 20;

/**
 * Describes how the parameters of failing runs differ from those of passing runs; see `attribution`.
 * @throws RangeError or WhereError as `failingGroups` does; RangeError when the confidence is not between 0 and 1.
 */
export function studyAttribution(table: RunTable, request: StudyAttributionRequest = {}): StudyAttribution {
  const { failing, requirements, confidence = 0.95 } = request;
  requireShare('confidence', confidence);
  const groups = failingGroups(table, failing, requirements);
  const presence = parameterPresence(table);
  const { everywhere: parameters, partly } = presence;
  const found = attribution({ groups, parameters, partly, confidence });
  const causes = failing === undefined || failing === FAILED ? causesOf(table, presence, confidence) : [];
  const hasAll = (row: number): boolean => parameters.every(({ values }) => Number.isFinite(values[row]));
  const used = Uint8Array.from(groups, (group, row) => Number(group !== IN_NEITHER && hasAll(row)));
  const header = markedRowsHeader(table, used);
  const levels = table.cells === undefined ? undefined : axisCauses(table, table.cells, groups, confidence);
  const named = levelsSentence(levels ?? []);
  // A cause that is named leaves no room for the reason why inputs name none.
  const sentences = [named, named === undefined || found.reason === null ? found.sentence : undefined];
  return {
    ...header,
    ...found,
    ...(levels === undefined ? {} : { levels }),
    causes,
    warnings: [
      ...header.warnings,
      ...sampleWarnings(table.method),
      ...(table.cells === undefined ? [] : dependenceWarnings(table.cells.method)),
      ...partlyWarning(partly, 'compared over the runs that have it, and not in pairs'),
      ...partialWarning(table, groups, failing),
      ...found.warnings,
    ],
    sentence: [usedRunsSentence(header), ...sentences].filter((it) => it !== undefined).join('; '),
  };
}

/** Each class and pattern by itself, where more than one has five runs or more, the most frequent first; else none. */
function causesOf(
  table: RunTable,
  { everywhere: parameters, partly }: Presence,
  confidence: number,
): StudyAttribution['causes'] {
  const patterns = failurePatterns(table).filter((it) => it.class !== 'lost' && it.count >= LEAST_OF_CAUSE);
  if (patterns.length < 2) return [];
  return patterns.slice(0, MOST_CAUSES).map(({ id, class: runClass, pattern }) => {
    const found = attribution({ groups: failingGroups(table, id), parameters, partly, confidence });
    const { failing, passing, sentence } = found;
    return {
      id,
      class: runClass,
      pattern,
      failing,
      passing,
      parameters: found.parameters.filter((it) => it.told_apart),
      sentence,
    };
  });
}

/** A condition on outputs looks at unfinished values where it selects runs that did not complete. */
function partialWarning(table: RunTable, groups: Int8Array, failing = ''): Warning[] {
  if (!/outputs\.|execution_secs/.test(failing)) return [];
  const count = groups.reduce((sum, group, row) => sum + Number(group === FAILING && classOf(table, row) !== 'ok'), 0);
  if (count === 0) return [];
  const message = `${plural(count, 'failing run')} did not complete: the outputs there are partial and depend on the moment of the end`;
  return [{ code: 'partial-outputs', message }];
}

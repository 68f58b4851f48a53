/** The sensitivity of one output of a study, as one answer. */
import type { StudySensitivity } from '../../contract/types.ts';
import { completedOutput } from '../numeric/table-columns.ts';
import { requireShare } from '../request-checks.ts';
import { parameterPresence, partlyWarning } from '../numeric/presence.ts';
import { sampleWarnings, answerHeader, usedRunsSentence } from '../table/header.ts';
import type { RunTable } from '../table/run-table.ts';
import { sensitivity } from './sensitivity.ts';

/**
 * Judges each parameter's influence on an output over the completed runs; see `sensitivity`.
 * @throws RangeError when the study has no such output, or the confidence is not between 0 and 1.
 */
export function studySensitivity(table: RunTable, output: string, confidence = 0.95): StudySensitivity {
  requireShare('confidence', confidence);
  const { everywhere, partly } = parameterPresence(table);
  const request = { batchId: table.batchId, parameters: everywhere, confidence };
  const found = sensitivity({ ...request, output: completedOutput(table, output) });
  const header = answerHeader(table, { used: found.n_used });
  return {
    ...header,
    ...found,
    warnings: [
      ...header.warnings,
      ...sampleWarnings(table.method),
      ...partlyWarning(partly, 'left out, so that the runs of all cells count'),
      ...found.warnings,
    ],
    sentence: `${usedRunsSentence(header)}; ${found.sentence}`,
  };
}

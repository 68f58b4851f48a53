/** Makes the judgement of a study from its submission and its stored verdicts. */
import type { BatchContext } from '../../../machines/batch.ts';
import { type ParsedRequirement, parseRequirement, requirementsOf } from '../../analysis/requirements/requirement.ts';
import { precisionsOf } from '../../analysis/precision/planning.ts';
import { cellsOf } from '../../domain/scenarios/cells.ts';
import { describedOutputs } from '../../domain/runs/described-outputs.ts';
import { endingConditions } from '../../domain/study/condition.ts';
import type { Study } from '../kernel/records/study-cache.ts';
import { StudyJudgement, type VerdictsRecord } from './study-judgement.ts';

/**
 * @throws Error for a requirement or a precision that this version cannot read: its study is then not judged. A record that is not usable is
 * reported, and the study is judged from its first run.
 */
export function openJudgement(
  { batchId, totalJobs }: BatchContext,
  { submission, selection, revision }: Study,
  record: VerdictsRecord | undefined,
  report: (error: unknown) => void,
): StudyJudgement {
  const cells = cellsOf(submission.config);
  const rules = requirementsOf(submission);
  const study = {
    ...(cells === undefined ? {} : { scenarios: { cells, rules } }),
    batchId,
    revision,
    requirements: rules.map((it, _, all): ParsedRequirement => {
      const parsed = parseRequirement(it, all);
      if (typeof parsed === 'string')
        throw new Error(`study ${batchId} is not judged: its requirement "${it.name}" is not usable: ${parsed}`);
      return parsed;
    }),
    precisions: precisionsOf(submission),
    units: unitsOf(submission),
    hasConditions: endingConditions(submission.config.early_termination).length > 0,
    runs: totalJobs,
    runAt: (index: number) => selection.nth(index),
  };
  try {
    return new StudyJudgement(study, record);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    report(error);
    return new StudyJudgement(study);
  }
}

const unitsOf =
  (submission: Study['submission']) =>
  (output: string): string | null => {
    const outputs = describedOutputs(submission);
    return (Object.hasOwn(outputs, output) ? outputs[output]?.units : undefined) || null;
  };

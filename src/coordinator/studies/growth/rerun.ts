/** Reruns: runs of a study again with the same parameters, as a new batch; also under another version, for a comparison. */
import type { RerunRequest, RerunResponse, Uuid } from '../../../contract/types.ts';
import { rerunOf } from '../../../domain/study/growth.ts';
import { createDerived, refuse, type GrowthOptions, type DeriveParts } from './derive.ts';
import { selectRuns } from './select-runs.ts';

/**
 * Creates a batch with the selected runs of another one, with everything else of its submission but the changes asked for.
 * @throws SimbatchError `unknown-batch`; `invalid-request` for a selection without runs
 */
export async function rerunBatch(
  parts: DeriveParts,
  batchId: Uuid,
  { select = {}, relation = 'rerun', ...changes }: RerunRequest = {},
  options: GrowthOptions = {},
): Promise<RerunResponse> {
  return createDerived(parts, batchId, options, async ({ view, batch, study, submission: whole }) => {
    const selection = await selectRuns(parts, view, batch, study, select);
    await parts.share.slice();
    const submission = rerunOf(whole(), study.selection.count, selection, changes);
    if ('pointer' in submission) return refuse(submission);
    return { submission, selection, relation, answer: { relation } };
  });
}

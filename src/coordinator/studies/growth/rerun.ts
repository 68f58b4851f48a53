/** Reruns: runs of a study again with the same parameters, as a new batch; also under another version, for a comparison. */
import type { RerunRequest, RerunResponse, Uuid } from '../../../contract/types.ts';
import { rerunOf } from '../../../domain/study/growth.ts';
import { readBatch } from '../../kernel/records/read-batch.ts';
import { createDerived, refuse, rememberedAnswer, type GrowthOptions, type DeriveParts } from './derive.ts';
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
  const remembered = await rememberedAnswer(parts, options);
  if (remembered !== undefined) return remembered as RerunResponse;
  // A view that is older than an acknowledged change would miss runs.
  await parts.groupCommit.durable();
  const view = parts.store.snapshot();
  try {
    const batch = readBatch(view, batchId);
    const source = { read: (key: string) => view.get(key) };
    const study = parts.studyCache.of(batch.context, source);
    const selection = await selectRuns(parts, view, batch, study, select);
    await parts.share.slice();
    const submission = rerunOf(
      parts.studyCache.wholeSubmission(batch.context, source),
      study.selection.count,
      selection,
      changes,
    );
    if ('pointer' in submission) return refuse(submission);
    await parts.share.slice();
    return await createDerived(parts, batchId, { submission, selection, relation, answer: { relation } }, options);
  } finally {
    await view.close();
  }
}

/** Reruns: runs of a study again with the same parameters, as a new batch; also under another version, for a comparison. */
import { TERMINAL_STATUSES } from '../../../contract/enums.ts';
import { EXTRACTION_NAME } from '../../../contract/extraction/extraction.ts';
import { given } from '../../../base/given.ts';
import type {
  BatchSubmission,
  ExtractionRequest,
  RerunRequest,
  RerunResponse,
  RunSelect,
  Uuid,
} from '../../../contract/types.ts';
import { isByProgram } from '../../../domain/extraction/submission.ts';
import { rerunOf } from '../../../domain/study/growth.ts';
import { readBatch } from '../../kernel/records/read-batch.ts';
import { createDerived, refuse, type GrowthOptions } from './derive.ts';
import { extractBatch, type ExtractParts } from './extract.ts';
import { selectRuns } from './select-runs.ts';

/**
 * Creates a batch with the selected runs of another one, with everything else of its submission but the changes asked for. Of an extraction it is
 * a further extraction of the same study.
 * @throws SimbatchError `unknown-batch`; `invalid-request` for a selection without runs
 */
export async function rerunBatch(
  parts: ExtractParts,
  batchId: Uuid,
  request: RerunRequest = {},
  options: GrowthOptions = {},
): Promise<RerunResponse> {
  const { parent } = readBatch(parts.store, batchId).context;
  if (parent?.relation === 'extraction') return extractAgain(parts, batchId, parent.batchId, request, options);
  const { select = {}, relation = 'rerun', ...changes } = request;
  return createDerived(parts, batchId, options, async ({ view, batch, study, submission: whole }) => {
    const selection = await selectRuns(parts, view, batch, study, select);
    await parts.share.slice();
    const submission = rerunOf(whole(), study.selection.count, selection, changes);
    if ('pointer' in submission) return refuse(submission);
    return { submission, selection, relation, answer: { relation } };
  });
}

/** The question of an extraction once more, about the runs that the request selects. */
async function extractAgain(
  parts: ExtractParts,
  batchId: Uuid,
  parent: Uuid,
  { select = {}, relation, simulation_version: version, container_image: image, name }: RerunRequest,
  options: GrowthOptions,
): Promise<RerunResponse> {
  const changed = relation === 'comparison' ? 'relation' : version !== undefined ? 'simulation_version' : image;
  if (changed !== undefined)
    refuse({
      pointer: '',
      detail: `changes an extraction; ask study ${parent}, of which it came, with another program`,
    });
  if (name !== undefined && !new RegExp(EXTRACTION_NAME).test(name))
    refuse({ pointer: '/name', detail: 'is not the name of an extraction: up to 32 letters, digits, `_` and `-`' });
  const view = parts.store.snapshot();
  let asked: ExtractionRequest;
  try {
    const batch = readBatch(view, batchId);
    const source = { read: (key: string) => view.get(key) };
    const runs = await selectRuns(parts, view, batch, parts.studyCache.of(batch.context, source), select);
    const { config, code } = parts.studyCache.wholeSubmission(batch.context, source);
    const again: RunSelect = { run_ids: runs.toString(), states: [...TERMINAL_STATUSES] };
    asked = { ...questionOf(config, code), select: again, ...given({ name }) };
  } finally {
    await view.close();
  }
  return await extractBatch(parts, parent, asked, options);
}

/** The question of an extraction, as its submission has it. */
function questionOf(
  { derived, histories, simulation, compute }: BatchSubmission['config'],
  code: string | undefined,
): ExtractionRequest {
  if (!isByProgram({ derived, histories }))
    return { ...given({ derived: derived ?? undefined, histories: histories ?? undefined }) };
  const { duration_minutes: _, ...program } = simulation;
  return { with: { ...program, timeout_seconds: compute.job_timeout_seconds }, ...given({ code }) };
}

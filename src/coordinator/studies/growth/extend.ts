/** Extension of a study: further runs of its design, or the next replicate of a Latin hypercube. */
import type { BatchContext, ExtendRequest, ExtendResponse, SubmissionResponse, Uuid } from '../../../contract/types.ts';
import { extensionOf, runsOf, type DesignInUse } from '../../../domain/study/growth.ts';
import { submissionFaults } from '../../../domain/study/submission.ts';
import { readBatch } from '../../kernel/records/read-batch.ts';
import { keys } from '../../kernel/storage/keys.ts';
import {
  createIfCurrent,
  refuse,
  rememberedAnswer,
  type Derivation,
  type GrowthOptions,
  type DeriveParts,
} from './derive.ts';
import { extendRare, type ExtendParts } from './extend-rare.ts';
import { familyIdOf, familyOf, type FamilyMember } from '../../kernel/records/family.ts';

/**
 * Creates a batch with more runs of the design of a study, with everything else of its submission.
 * @throws SimbatchError `unknown-batch`; `invalid-request` for runs that the study has already
 */
export async function extendDesign(
  parts: DeriveParts,
  batchId: Uuid,
  request: ExtendRequest = {},
  options: GrowthOptions = {},
): Promise<SubmissionResponse & Growth> {
  for (;;) {
    const remembered = await rememberedAnswer(parts, options);
    if (remembered !== undefined) return remembered as SubmissionResponse & Growth;
    const read = (key: string): string | undefined => parts.groupCommit.read(key);
    const { context } = readBatch({ get: read }, batchId);
    const familyKey = keys.family(familyIdOf(context));
    const family = read(familyKey);
    const derivation = extension(parts, context, request, await familyOf(parts.share, read, context));
    // Another extension of the family may have been made meanwhile.
    const response = await createIfCurrent(
      parts,
      batchId,
      derivation,
      options,
      (turn) => turn.read(familyKey) === family,
    );
    if (response !== undefined) return response;
  }
}

/** Extends a study of any kind, as its design allows. @throws SimbatchError see `extendDesign` and `extendRare` */
export function extendBatch(
  parts: ExtendParts,
  batchId: Uuid,
  request: ExtendRequest = {},
  options: GrowthOptions = {},
): Promise<ExtendResponse> {
  const { context } = readBatch({ get: (key) => parts.groupCommit.read(key) }, batchId);
  // A rerun of runs of a study of rare events has no budget.
  const { adaptive } = parts.studyCache.of(context).submission.config;
  const isRare = context.budget !== undefined && adaptive?.algorithm === 'rare_event';
  return (isRare ? extendRare : extendDesign)(parts, batchId, request, options);
}

type Growth = Pick<ExtendResponse, 'run_ids' | 'replicate'> & { mode: 'continued' | 'replicate' };

function extension(
  parts: DeriveParts,
  batch: BatchContext,
  request: ExtendRequest,
  family: readonly FamilyMember[],
): Derivation<Growth> {
  const submission = parts.studyCache.wholeSubmission(batch);
  const { replicate } = submission.config.monte_carlo;
  const extended = extensionOf(submission, request, designInUse(family, replicate ?? 0));
  if ('pointer' in extended) return refuse(extended);
  const [fault, ...others] = submissionFaults(extended.submission);
  if (fault !== undefined) return refuse(fault, ...others);
  const answer: Growth = { mode: extended.mode };
  if (extended.runIds !== undefined) answer.run_ids = extended.runIds;
  if (extended.replicate !== undefined) answer.replicate = extended.replicate;
  const selection = runsOf(extended.submission);
  return { submission: extended.submission, selection, relation: 'extension', answer };
}

/** The part of the design that the family has. Empty when its batches have been deleted meanwhile. */
const designInUse = (family: readonly FamilyMember[], replicate: number): DesignInUse => ({
  end: Math.max(0, ...family.filter((it) => it.replicate === replicate).map((it) => it.designEnd)),
  replicate: Math.max(replicate, ...family.map((it) => it.replicate)),
});

/** Amendments: other requirements, outputs and labels of a study, for the runs that it has and will have. Nothing is executed. */
import { SimbatchError } from '../../domain/errors.ts';
import { amended, amendmentFaults, amendmentOf, judgementOf, statedAt } from '../../domain/identity/judgement.ts';
import { designMethod, noSampleOf } from '../../domain/study/design-method.ts';
import { describedOutputs } from '../../domain/runs/described-outputs.ts';
import type { BatchContext, BatchSubmission, Fault, Judgement, JudgementRequest, Uuid } from '../../contract/types.ts';
import type { BatchState } from '../kernel/actors/actor-kinds.ts';
import { batchOrThrow } from '../kernel/records/lookup.ts';
import { readBatch } from '../kernel/records/read-batch.ts';
import { submittedStudy } from '../kernel/records/study-cache.ts';
import { timestamp } from '../kernel/records/to-resource.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';
import { once, type Idempotency, type IdempotencyParts } from '../kernel/turn/idempotency.ts';
import { byActor } from '../kernel/turn/acting-turns.ts';
import type { Turn, Turns } from '../kernel/turn/turn.ts';
import { refuse } from './growth/derive.ts';
import { extractionsOf } from './growth/extract.ts';

export interface AmendParts extends IdempotencyParts {
  turns: Turns;
}

/** The judgement in force. @throws SimbatchError `unknown-batch` */
export function judgement({ store }: { store: Store }, batchId: Uuid): Judgement {
  const { context } = readBatch(store, batchId);
  return toJudgement(submittedStudy({ read: (key) => store.get(key) }, batchId), context);
}

/**
 * Replaces the members of the judgement that the request gives. A request that changes nothing is answered with the judgement in force.
 * @throws SimbatchError `unknown-batch`; `invalid-request` with the faults of requirements; `judgement-changed` for another revision
 */
export function amendJudgement(
  parts: AmendParts,
  batchId: Uuid,
  request: JudgementRequest,
  repeat: Idempotency = {},
): Promise<Judgement> {
  return parts.turns.run('amend', (turn) => once(parts, turn, repeat, () => amendWithin(turn, batchId, request)));
}

/** Amends a study within a turn. */
export function amendWithin(turn: Turn, batchId: Uuid, request: JudgementRequest): Judgement {
  const batch = batchOrThrow(turn, batchId);
  const { context } = batch;
  const submission = submittedStudy(turn, batchId);
  const [fault, ...others] = [
    ...amendmentFaults(amended(submission, context), request),
    ...extractedFaults(turn, batch, submission, request),
  ];
  if (fault !== undefined) refuse(fault, ...others);
  const { revision } = judgementOf(submission, context);
  if (request.revision !== undefined && request.revision !== revision) {
    throw new SimbatchError(
      'judgement-changed',
      `the judgement of study ${batchId} has the revision ${revision}, not ${request.revision}: it was amended meanwhile; read it, and amend that one`,
    );
  }
  const runsEnded = context.completed + context.failed + context.timedOut;
  const amendment = amendmentOf(submission, context, request, { runsEnded, atMs: turn.now });
  if (amendment === undefined) return toJudgement(submission, context);
  const { requirements } = amendment.judgement;
  // Runs that are not a sample are not judged.
  const isJudged = requirements.length > 0 && noSampleOf(designMethod(submission)) === undefined;
  const judged = isJudged ? requirements.length : undefined;
  const { context: after } = turn.send('batch', batchId, {
    type: 'AMEND',
    ...amendment,
    judged,
    ...byActor(turn),
    now: turn.now,
  });
  // They follow from the runs and the judgement before; the runs are judged again.
  turn.put(keys.verdicts(batchId), null);
  return toJudgement(submission, after);
}

/** Requirements on outputs of extractions: runs are judged as they end, when these are not known. */
function extractedFaults(
  turn: Turn,
  batch: BatchState,
  submission: BatchSubmission,
  { requirements = [] }: JudgementRequest,
): Fault[] {
  const extractions = extractionsOf((key) => turn.read(key), batch);
  const declared = describedOutputs(submission);
  return requirements.flatMap(({ output = '' }, at) => {
    const found = extractions.find(({ extraction }) => output.startsWith(`${extraction.name}.`));
    if (found === undefined || output in declared) return [];
    const own = output.slice(found.extraction.name.length + 1);
    const remedy = `require ${JSON.stringify(own)} of study ${found.batchId}, or ask for the verdict of this output by the query parameters`;
    return [{ pointer: `/requirements/${at}/output`, detail: `is an output of an extraction; ${remedy}` }];
  });
}

function toJudgement(submission: BatchSubmission, context: BatchContext): Judgement {
  const { revision, requirements, stated, outputs, amendedAtMs } = judgementOf(submission, context);
  return {
    batch_id: context.batchId,
    revision,
    requirements: requirements.map((it, at) => ({ ...it, stated_at: statedAt(stated[at]!) })),
    outputs,
    labels: context.labels ?? {},
    ...(amendedAtMs === undefined ? {} : { amended_at: timestamp(amendedAtMs) }),
  };
}

/** Routes that change the flow of a study, and those that make another study of it. */
import * as audit from '../../contract/answers/audit.ts';
import * as judgement from '../../contract/answers/goals/judgement.ts';
import * as batches from '../../contract/resources/batches.ts';
import * as growth from '../../contract/growth.ts';
import * as extraction from '../../contract/extraction/extraction.ts';
import { type Call, IDEMPOTENCY, routesOf } from '../route.ts';

const route = routesOf('studies');

/** The options of a request that makes a further study. */
const growing = ({ idempotency, service }: Pick<Call, 'idempotency' | 'service'>) => ({
  ...idempotency(),
  maxRuns: service.limits().runs_per_batch,
});

export const growthRoutes = [
  route({
    method: 'POST',
    path: '/batches/{batch_id}/pause',
    operationId: 'pauseBatch',
    summary: 'Pause a batch',
    description:
      'No new runs are assigned; running ones continue. The first of several studies that were submitted together takes the others along.',
    scope: 'submit',
    changes: 'steers',
    body: { schema: batches.CancelRequest, optional: true, limit: 'small' },
    headers: IDEMPOTENCY,
    response: batches.Batch,
    errors: ['illegal-transition', 'idempotency-key-reused'],
    handle: (coordinator, call) => coordinator.pauseBatch(call.id, call.body?.reason, call.idempotency()),
  }),
  route({
    method: 'POST',
    path: '/batches/{batch_id}/resume',
    operationId: 'resumeBatch',
    summary: 'Resume a paused batch',
    description:
      'Runs are assigned again, also of the studies that were submitted with it, where it is the first of them.',
    scope: 'submit',
    changes: 'steers',
    headers: IDEMPOTENCY,
    response: batches.Batch,
    errors: ['illegal-transition', 'invalid-request', 'idempotency-key-reused'],
    handle: (coordinator, call) => coordinator.resumeBatch(call.id, call.idempotency()),
  }),
  route({
    method: 'POST',
    path: '/batches/{batch_id}/release',
    operationId: 'releaseBatch',
    summary: 'Release the runs after the canary runs',
    description: 'The runs that wait for the canary runs, or for the canary study, may be assigned.',
    scope: 'submit',
    changes: 'steers',
    body: { schema: batches.CancelRequest, optional: true, limit: 'small' },
    headers: IDEMPOTENCY,
    response: batches.Batch,
    errors: ['illegal-transition', 'idempotency-key-reused'],
    handle: (coordinator, call) => coordinator.releaseBatch(call.id, call.body?.reason, call.idempotency()),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/judgement',
    operationId: 'getJudgement',
    summary: 'Read how the runs of a batch are judged',
    description: 'Its requirements, with the times at which they were stated, its outputs and its labels.',
    scope: 'read',
    answer: 'single',
    response: judgement.Judgement,
    handle: (coordinator, call) => coordinator.judgement(call.id),
  }),
  route({
    method: 'POST',
    path: '/batches/{batch_id}/judgement',
    operationId: 'amendJudgement',
    summary: 'Amend how the runs of a batch are judged',
    description:
      'Each member given replaces the whole of it, of a study that runs or has ended; nothing is executed. Runs are judged from the first one on. Without a change the answer is the judgement in force.',
    scope: 'submit',
    changes: 'steers',
    body: { schema: judgement.JudgementRequest, limit: 'submission' },
    headers: IDEMPOTENCY,
    response: judgement.Judgement,
    errors: ['judgement-changed', 'idempotency-key-reused'],
    handle: (coordinator, call) => coordinator.amendJudgement(call.id, call.body, call.idempotency()),
  }),
  route({
    method: 'POST',
    path: '/batches/{batch_id}/extend',
    operationId: 'extendBatch',
    summary: 'Extend a study',
    description:
      'Creates a batch with more runs of the same design: further runs, or for a Latin hypercube the next replicate. A study of rare events is opened again.',
    scope: 'submit',
    changes: 'grows',
    body: { schema: growth.ExtendRequest, optional: true, limit: 'small' },
    headers: IDEMPOTENCY,
    response: growth.ExtendResponse,
    errors: ['illegal-transition', 'not-extendable', 'idempotency-key-reused'],
    handle: (coordinator, call) => coordinator.extendBatch(call.id, call.body ?? {}, growing(call)),
  }),
  route({
    method: 'POST',
    path: '/batches/{batch_id}/rerun',
    operationId: 'rerunBatch',
    summary: 'Run runs again',
    description:
      'Creates a batch with selected runs of this one, with the same parameters; of the same or of another version of the simulation.',
    scope: 'submit',
    changes: 'grows',
    body: { schema: growth.RerunRequest, optional: true, limit: 'submission' },
    headers: IDEMPOTENCY,
    response: growth.RerunResponse,
    errors: ['illegal-transition', 'idempotency-key-reused'],
    handle: (coordinator, call) => coordinator.rerunBatch(call.id, call.body ?? {}, growing(call)),
  }),
  route({
    method: 'POST',
    path: '/batches/{batch_id}/audit',
    operationId: 'auditBatch',
    summary: 'Audit a study',
    description:
      'Creates a batch that repeats a drawn part of the finished runs, on other runners than the original ones where there are any.',
    scope: 'submit',
    changes: 'grows',
    body: { schema: growth.AuditRequest, limit: 'small' },
    headers: IDEMPOTENCY,
    response: growth.AuditResponse,
    errors: ['illegal-transition', 'idempotency-key-reused'],
    handle: (coordinator, call) => coordinator.auditBatch(call.id, call.body, growing(call)),
  }),
  route({
    method: 'POST',
    path: '/batches/{batch_id}/extractions',
    operationId: 'extractBatch',
    summary: 'Ask finished runs a new question',
    description:
      'Creates a batch that computes derived outputs and histories of the telemetry that finished runs have left. No result of this batch changes.',
    scope: 'submit',
    changes: 'grows',
    body: { schema: extraction.ExtractionRequest, limit: 'submission' },
    headers: IDEMPOTENCY,
    response: extraction.ExtractionResponse,
    errors: ['illegal-transition', 'idempotency-key-reused'],
    handle: (coordinator, call) => coordinator.extractBatch(call.id, call.body, growing(call)),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/extractions',
    operationId: 'listExtractions',
    summary: 'List the extractions of a batch',
    description: 'Their names, how far they are, and the runs whose files were gone.',
    scope: 'read',
    answer: 'single',
    response: extraction.ExtractionList,
    handle: (coordinator, call) => coordinator.extractions(call.id),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/audit',
    operationId: 'getAudit',
    summary: 'Read the result of an audit',
    description:
      'The runs of a batch that is an audit beside the original ones: which runs, outputs and runners differ.',
    scope: 'read',
    answer: 'single',
    response: audit.AuditAnswer,
    errors: ['illegal-transition'],
    handle: (coordinator, call) => coordinator.auditAnswer(call.id),
  }),
];

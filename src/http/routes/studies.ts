/** Routes of studies: submission, progress, results, cancellation, deletion. */
import * as batches from '../../contract/resources/batches.ts';
import * as code from '../../contract/code/identity.ts';
import * as findings from '../../contract/resources/findings.ts';
import {
  BATCH_FILTER,
  BATCH_ORDER,
  FAMILY_QUERY,
  MINE_QUERY,
  PAGE_QUERY,
  RUN_RANGE_QUERY,
  STUDY_WAIT_QUERY,
  choiceQuery,
} from '../../contract/queries.ts';
import * as reuse from '../../contract/code/reuse.ts';
import * as study from '../../contract/study.ts';
import * as views from '../../contract/views.ts';
import { DESIGN_FORMATS, type DesignFormat } from '../../domain/sampling/design-table.ts';
import { exported, filterOf, list } from '../answers.ts';
import { SimbatchError } from '../../domain/errors.ts';
import { IDEMPOTENCY, routesOf, waitOf } from '../route.ts';

const route = routesOf('studies');

/** The media type of each format of a design. */
const DESIGN_TYPES: Readonly<Record<DesignFormat, string>> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
};

const CONTINUE_QUERY = {
  continue: choiceQuery(
    ['true', 'false'],
    '`true`: continues the newest study of the same design, with the requirements, outputs, labels and number of runs of the submission.',
    'false',
  ),
};

/** @throws SimbatchError `malformed-query` where clients have no names */
function ownName(actor: string | undefined): string[] {
  if (actor !== undefined) return [actor];
  throw new SimbatchError(
    'malformed-query',
    '`mine` cannot be answered: this coordinator has no tokens, so that no study has an owner; leave it out',
  );
}

export const studiesRoutes = [
  route({
    method: 'POST',
    path: '/jobs',
    operationId: 'submitBatch',
    summary: 'Submit a study',
    description: 'Creates one batch and one job per run.',
    scope: 'submit',
    body: { schema: study.BatchSubmission, study: true, limit: 'submission' },
    query: CONTINUE_QUERY,
    headers: IDEMPOTENCY,
    response: study.SubmissionResponse,
    errors: ['idempotency-key-reused', 'illegal-transition'],
    handle: (coordinator, call) =>
      call.query.continue === 'true'
        ? coordinator.continueStudy(call.body, { maxRuns: call.service.limits().runs_per_batch })
        : coordinator.submit(call.body, call.idempotency()),
  }),
  route({
    method: 'POST',
    path: '/reuse',
    operationId: 'forecastReuse',
    summary: 'Forecast which runs of a study have results already',
    description: 'Creates nothing.',
    scope: 'read',
    body: { schema: study.BatchSubmission, study: true, limit: 'submission' },
    response: reuse.ReuseForecast,
    handle: (coordinator, call) => coordinator.reuseForecast(call.body),
  }),
  route({
    method: 'GET',
    path: '/batches',
    operationId: 'listBatches',
    summary: 'List batches',
    scope: 'read',
    answer: 'list',
    query: { ...BATCH_FILTER, ...MINE_QUERY, ...BATCH_ORDER, ...PAGE_QUERY },
    response: batches.BatchList,
    handle: async (coordinator, { query: { mine, ...query }, page, actor }) =>
      list(await coordinator.batches({ ...filterOf(query), ...(mine === 'true' && { owner: ownName(actor) }) }, page)),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}',
    operationId: 'getBatch',
    summary: 'Read the progress of a batch',
    scope: 'read',
    answer: 'single',
    query: STUDY_WAIT_QUERY,
    response: batches.BatchStatusResponse,
    handle: (coordinator, call) => coordinator.batch(call.id, waitOf(call)),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/results',
    operationId: 'getBatchResults',
    summary: 'Read the results of a batch',
    description: 'The results of the jobs that have one, in order of run; also while the batch is still running.',
    scope: 'read',
    answer: 'list',
    query: { ...FAMILY_QUERY, ...PAGE_QUERY },
    response: batches.BatchResultsResponse,
    handle: async (coordinator, call) => {
      const { batch, results } = await coordinator.batchResults(call.id, {
        ...call.page,
        family: call.query.family === 'true',
      });
      return list(results, { batch });
    },
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/submission',
    operationId: 'getBatchSubmission',
    summary: 'Read what was submitted',
    description: 'The submission as stored, with the seed in use: submitting it again creates the same runs.',
    scope: 'read',
    answer: 'single',
    response: study.BatchSubmission,
    handle: (coordinator, call) => coordinator.submission(call.id),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/findings',
    operationId: 'getBatchFindings',
    summary: 'Read why a batch does not run, or should not be trusted',
    description: 'Each finding has a code, a message and a remedy. Empty for none.',
    scope: 'read',
    answer: 'single',
    response: findings.FindingList,
    handle: (coordinator, call) => coordinator.findings(call.id),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/code',
    operationId: 'getBatchCode',
    summary: 'Read the function of a study',
    description:
      'For runners that execute functions; clients find it in the submission. A token that is bound to a runner reads it while this runner holds a run of the study.',
    scope: 'runner',
    answer: 'single',
    response: study.StudyCode,
    errors: ['not-found'],
    handle: (coordinator, call) => coordinator.studyCode(call.id, call.runnerId),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/code-versions',
    operationId: 'getCodeVersions',
    summary: 'Read which versions of the code executed the runs of a batch',
    description: 'With their digests, commits and numbers of runs. More than one is the finding `code-changed`.',
    scope: 'read',
    answer: 'single',
    response: code.CodeVersionList,
    handle: (coordinator, call) => coordinator.codeVersions(call.id),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/history',
    operationId: 'getBatchHistory',
    summary: 'Read the history of a batch',
    description:
      'Its submission, start and end, pauses, releases, canary runs and cancellation, with their times and reasons.',
    scope: 'read',
    answer: 'single',
    response: batches.BatchHistory,
    handle: (coordinator, call) => coordinator.batchHistory(call.id),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/samples',
    operationId: 'getBatchSamples',
    summary: 'Read the sampled parameters of a batch',
    description:
      'The parameters of every run, computed while they are sent. As JSON, CSV or NDJSON: by `format`, or else by `Accept`.',
    scope: 'read',
    answer: 'raw',
    media: Object.values(DESIGN_TYPES),
    response: batches.SampleList,
    query: {
      format: choiceQuery(DESIGN_FORMATS, 'The format; takes precedence over `Accept`.'),
      ...RUN_RANGE_QUERY,
    },
    handle: async (coordinator, { id, query, preferred }) => {
      const { format = preferred(DESIGN_TYPES), ...range } = query;
      return { media: DESIGN_TYPES[format], body: await coordinator.samples(id, format, range) };
    },
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/snapshot',
    operationId: 'exportBatch',
    summary: 'Export a batch',
    description:
      'The batch with its submission, the records of its jobs, their results and the runners it has to do with, as of one instant: a file for `simbatch snapshot`.',
    scope: 'read',
    answer: 'list',
    response: batches.SnapshotExport,
    handle: async (coordinator, call) => exported(await coordinator.exportSnapshot(call.id)),
  }),
  route({
    method: 'POST',
    path: '/batches/{batch_id}/cancel',
    operationId: 'cancelBatch',
    summary: 'Cancel a batch',
    description:
      'Every job that has not ended becomes Cancelled; running simulations are killed. The first of several studies that were submitted together takes the others along.',
    scope: 'submit',
    changes: 'steers',
    body: { schema: batches.CancelRequest, optional: true, limit: 'small' },
    response: batches.Batch,
    errors: ['illegal-transition'],
    handle: (coordinator, call) => coordinator.cancelBatch(call.id, call.body?.reason),
  }),
  route({
    method: 'DELETE',
    path: '/batches/{batch_id}',
    operationId: 'deleteBatch',
    summary: 'Delete a batch that has ended',
    description:
      'With its submission, jobs and results. Returns the last state of the batch. A batch that has not ended must be cancelled first.',
    scope: 'operate',
    response: batches.Batch,
    errors: ['illegal-transition'],
    handle: (coordinator, call) => coordinator.deleteBatch(call.id),
  }),
  route({
    method: 'GET',
    path: '/batches/{batch_id}/views',
    operationId: 'listViews',
    summary: 'List the views of a study',
    description: 'Named views of its plots in the dashboard.',
    scope: 'read',
    answer: 'single',
    response: views.ViewList,
    handle: (coordinator, call) => coordinator.views(call.id),
  }),
  route({
    method: 'PUT',
    path: '/batches/{batch_id}/views',
    operationId: 'keepView',
    summary: 'Keep a view of a study',
    description: 'In place of one of the same name. A repeat changes nothing. At most 50 for each study.',
    scope: 'submit',
    body: { schema: views.ViewRequest, limit: 'small' },
    response: views.ViewList,
    handle: (coordinator, call) => coordinator.keepView(call.id, call.body),
  }),
  route({
    method: 'DELETE',
    path: '/batches/{batch_id}/views',
    operationId: 'removeView',
    summary: 'Remove a view of a study',
    description: 'A view that is not there is removed already.',
    scope: 'submit',
    query: views.VIEW_QUERY,
    response: views.ViewList,
    handle: (coordinator, { id, query }) => coordinator.removeView(id, query.name ?? ''),
  }),
];

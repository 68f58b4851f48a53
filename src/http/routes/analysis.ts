/** Routes of questions about a study; see docs/analysis.md. */
import { StudyAttribution, StudySensitivity } from '../../contract/answers/causes.ts';
import { StudyComparison } from '../../contract/answers/comparison.ts';
import { Convergence, StudySummary, WorstRuns } from '../../contract/answers/outputs.ts';
import * as queries from '../../contract/answers/queries.ts';
import { StudyVerdicts } from '../../contract/answers/requirements.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { CoordinatorApi } from '../../coordinator/api.ts';
import type { Answer } from '../../coordinator/answers/answers.ts';
import type { Query } from '../request/query.ts';
import { QUESTIONS } from '../request/questions.ts';
import { type Call, routesOf } from './route.ts';

const route = routesOf('analysis');
const computed = { method: 'GET', scope: 'read', answer: 'computed' } as const;

/** Asks the analysis worker. The wait ends when the client disconnects or the server stops. */
const ask =
  (kind: keyof typeof QUESTIONS) =>
  (coordinator: CoordinatorApi, { id, query, isKnown, abandoned }: Call<unknown, Query>): Promise<Answer> =>
    coordinator.answer(QUESTIONS[kind](id, query), {
      waitMs: 1000 * ((query['wait'] as number | undefined) ?? LIMITS.waitSeconds),
      isKnown,
      abandoned: abandoned(),
    });

export const analysisRoutes = [
  route({
    ...computed,
    path: '/batches/{batch_id}/summary',
    operationId: 'getSummary',
    summary: 'Read the statistics of a batch',
    description: 'Statistics of the outputs, the failures by pattern, and the verdicts on the requirements.',
    query: queries.SUMMARY_QUERY,
    response: StudySummary,
    handle: ask('summary'),
  }),
  route({
    ...computed,
    path: '/batches/{batch_id}/verdicts',
    operationId: 'getVerdicts',
    summary: 'Judge requirements',
    description: 'The requirements of the study, or the one in the query.',
    query: queries.VERDICTS_QUERY,
    response: StudyVerdicts,
    handle: ask('verdicts'),
  }),
  route({
    ...computed,
    path: '/batches/{batch_id}/sensitivity',
    operationId: 'getSensitivity',
    summary: 'Find the parameters that drive an output',
    query: queries.SENSITIVITY_QUERY,
    response: StudySensitivity,
    handle: ask('sensitivity'),
  }),
  route({
    ...computed,
    path: '/batches/{batch_id}/attribution',
    operationId: 'getAttribution',
    summary: 'Find the parameters that drive the failures',
    query: queries.ATTRIBUTION_QUERY,
    response: StudyAttribution,
    handle: ask('attribution'),
  }),
  route({
    ...computed,
    path: '/batches/{batch_id}/convergence',
    operationId: 'getConvergence',
    summary: 'Read how an estimate settles with the number of runs',
    query: queries.CONVERGENCE_QUERY,
    response: Convergence,
    handle: ask('convergence'),
  }),
  route({
    ...computed,
    path: '/batches/{batch_id}/worst',
    operationId: 'getWorstRuns',
    summary: 'List the runs with the most extreme values of an output',
    query: queries.WORST_QUERY,
    response: WorstRuns,
    handle: ask('worst'),
  }),
  route({
    ...computed,
    path: '/batches/{batch_id}/compare',
    operationId: 'compareBatches',
    summary: 'Compare a batch with another one',
    query: queries.COMPARE_QUERY,
    response: StudyComparison,
    handle: ask('compare'),
  }),
  route({
    method: 'GET',
    scope: 'read',
    path: '/batches/{batch_id}/manifest',
    operationId: 'getManifest',
    summary: 'Read the manifest of a batch',
    description:
      'Configuration, sampling scheme, seed and versions, then parameters, class and result digest of each run, chained by SHA-256. `simbatch manifest verify` checks it.',
    answer: 'raw',
    media: ['application/x-ndjson'],
    handle: async (coordinator, { id }) => ({ body: await coordinator.manifest(id) }),
  }),
];

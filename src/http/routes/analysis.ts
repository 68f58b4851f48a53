/** Routes of questions about a study; see docs/analysis.md. */
import { StudyAttribution, StudySensitivity } from '../../contract/answers/causes.ts';
import { StudyComparison } from '../../contract/answers/comparison.ts';
import { TelemetryBand } from '../../contract/answers/band.ts';
import { StudyAnswer } from '../../contract/answers/conclusion.ts';
import { Convergence, StudyDistributions, StudySummary, WorstRuns } from '../../contract/answers/outputs.ts';
import * as queries from '../../contract/answers/queries.ts';
import { StudyVerdicts } from '../../contract/answers/requirements.ts';
import { StudyTable } from '../../contract/answers/table.ts';
import { StudyTransitions } from '../../contract/answers/transitions.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { CoordinatorApi } from '../../coordinator/api.ts';
import type { Answer, AskOptions } from '../../coordinator/answers/answers.ts';
import type { TableFormat } from '../../contract/types.ts';
import { malformed } from '../request/query.ts';
import { QUESTIONS } from '../request/questions.ts';
import type { RawAnswer } from '../answers.ts';
import { type Call, type Query, routesOf } from '../route.ts';

const route = routesOf('analysis');
const computed = { method: 'GET', scope: 'read', answer: 'computed' } as const;

/** The wait ends when the client disconnects or the server stops. */
const optionsOf = ({ query, isKnown, abandoned }: Call<unknown, Query>): AskOptions => ({
  waitMs: 1000 * ((query['wait'] as number | undefined) ?? LIMITS.waitSeconds),
  isKnown,
  abandoned: abandoned(),
  family: query['family'] === 'true',
});

/** Asks the analysis worker. */
const ask =
  (kind: keyof typeof QUESTIONS) =>
  (coordinator: CoordinatorApi, call: Call<unknown, Query>): Promise<Answer> =>
    coordinator.answer(QUESTIONS[kind](call.id, call.query), optionsOf(call));

/** The media type of each format of a table. */
const TABLE_TYPES: Readonly<Record<TableFormat, string>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
};

export const analysisRoutes = [
  route({
    method: 'GET',
    scope: 'read',
    path: '/batches/{batch_id}/table',
    operationId: 'getTable',
    summary: 'Read the runs of a batch as a table',
    description:
      'One row for each run, also those without a result: state, times, sampled parameters, outputs. As JSON, NDJSON, CSV, Parquet or Arrow: by `format`, or else by `Accept`. The whole table is streamed; with `limit` it comes in pages.',
    answer: 'raw',
    media: Object.values(TABLE_TYPES),
    isTagged: true,
    response: StudyTable,
    query: queries.TABLE_QUERY,
    handle: async (coordinator, { id, query, page, preferred, isKnown, abandoned }): Promise<RawAnswer> => {
      const { format = preferred(TABLE_TYPES), columns, where, sort } = query;
      if (page.after !== undefined && page.limit === undefined)
        throw malformed('the query parameter `cursor` has no meaning without `limit`; use the `Link` header unchanged');
      const request = { batchId: id, family: query.family === 'true', format, columns, where, sort };
      const answer = await coordinator.table(request, { ...page, isKnown, abandoned: abandoned() });
      if (answer.state === 'unchanged') return { tag: answer.tag, media: TABLE_TYPES[format] };
      const { body, tag, next, matched } = answer;
      return { body, tag, next, total: matched, media: TABLE_TYPES[format] };
    },
  }),
  route({
    ...computed,
    path: '/batches/{batch_id}/answer',
    operationId: 'getAnswer',
    summary: 'Read whether a batch is in order',
    description:
      'One sentence, the reasons, and the next steps. The same sentence is the first line of every view of the study.',
    query: queries.ANSWER_QUERY,
    response: StudyAnswer,
    handle: (coordinator: CoordinatorApi, call: Call<unknown, Query>) =>
      coordinator.studyAnswer(call.id, optionsOf(call)),
  }),
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
    path: '/batches/{batch_id}/distributions',
    operationId: 'getDistributions',
    summary: 'Read the histograms of a batch',
    description: 'Of each parameter that varies, with the failed runs in each bin, and of each numeric output.',
    query: queries.DISTRIBUTIONS_QUERY,
    response: StudyDistributions,
    handle: ask('distributions'),
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
    path: '/batches/{batch_id}/telemetry-band',
    operationId: 'getTelemetryBand',
    summary: 'Read the band of the telemetry of a batch',
    description:
      'Median, P5 and P95 of each variable over the time of the run, from the telemetry files of up to 64 runs that can be read.',
    query: queries.BAND_QUERY,
    response: TelemetryBand,
    handle: ask('band'),
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
    ...computed,
    path: '/batches/{batch_id}/transitions',
    operationId: 'getTransitions',
    summary: 'Count the transitions of the runs of a batch',
    description:
      'How often the ended runs took each transition of the job machine, and how long they were in each state.',
    query: queries.TRANSITIONS_QUERY,
    response: StudyTransitions,
    handle: ask('transitions'),
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

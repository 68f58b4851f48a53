/** Routes of questions about a study; see docs/analysis.md. */
import { type Question, parametersOf } from '../../analysis/question.ts';
import { QUESTIONS, type QuestionName } from '../../analysis/questions.ts';
import { type FAMILY, HISTORIES_QUERY, TABLE_QUERY, type WAIT } from '../../contract/answers/queries.ts';
import { StudyTable } from '../../contract/answers/table.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { QueryOf } from '../../contract/queries.ts';
import type { HistoryFormat, TableFormat } from '../../contract/types.ts';
import { malformed } from '../request/query.ts';
import type { RawAnswer } from '../answers.ts';
import { type Route, routesOf } from '../route.ts';

const route = routesOf('analysis');
/** The route of a question. The wait ends when the client disconnects or the server stops. */
const questionRoute = (question: Question): Route =>
  route({
    method: 'GET',
    scope: 'read',
    path: `/batches/{batch_id}/${question.name}`,
    operationId: question.operationId,
    summary: question.summary,
    ...(question.description === undefined ? {} : { description: question.description }),
    answer: 'computed',
    errors: ['answer-too-large'],
    query: parametersOf(question),
    response: question.response,
    handle: (coordinator, { id, query, isKnown, abandoned }) => {
      const { wait = LIMITS.waitSeconds, family, ...own } = query as QueryOf<typeof WAIT & typeof FAMILY>;
      const asked = { name: question.name as QuestionName, batchId: id, query: own };
      const waiting = { waitMs: 1000 * wait, isKnown, abandoned: abandoned() };
      return coordinator.answer(asked, { ...waiting, family: family === 'true' });
    },
  });

/** The media type of each format of a table. */
const TABLE_TYPES: Readonly<Record<TableFormat, string>> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
};

const { ndjson, csv, parquet, arrow } = TABLE_TYPES;
const HISTORY_TYPES: Readonly<Record<HistoryFormat, string>> = { ndjson, csv, parquet, arrow };

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
    errors: ['answer-too-large'],
    response: StudyTable,
    query: TABLE_QUERY,
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
    method: 'GET',
    scope: 'read',
    path: '/batches/{batch_id}/histories',
    operationId: 'getHistories',
    summary: 'Read a history of the runs of a batch',
    description:
      'One history of all runs that left it, or of those that a condition selects, in run order: a row for each run and time (`run_id`, `time`, `value`), or with `wide=true` one for each run. A missing value is null in NDJSON, an empty field in CSV, and NaN in Parquet and Arrow.',
    answer: 'raw',
    media: Object.values(HISTORY_TYPES),
    isTagged: true,
    errors: ['answer-too-large'],
    query: HISTORIES_QUERY,
    handle: async (coordinator, { id, query, preferred, isKnown, abandoned }): Promise<RawAnswer> => {
      const { format = preferred(HISTORY_TYPES), name, where, wide } = query;
      const request = { batchId: id, family: query.family === 'true', name, where, format, wide: wide === 'true' };
      const answer = await coordinator.histories(request, { isKnown, abandoned: abandoned() });
      const media = HISTORY_TYPES[format];
      return answer.state === 'unchanged' ? { tag: answer.tag, media } : { body: answer.body, tag: answer.tag, media };
    },
  }),
  ...QUESTIONS.map((it) => questionRoute(it as unknown as Question)),
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

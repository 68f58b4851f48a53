/** Questions about a study, as `Client.analysis`. An answer that is still being computed is waited for. */
import { sleep, systemClock } from '../base/clock.ts';
import type { QuestionAnswer, QuestionName, QuestionQuery } from '../analysis/questions.ts';
import type { HISTORIES_QUERY, TABLE_QUERY } from '../contract/answers/queries.ts';
import type { QueryOf } from '../contract/queries.ts';
import type { CodeVersionList, JobHistories, StudyTable, Uuid } from '../contract/types.ts';
import { DEFAULT_PAGE, position } from './pages.ts';
import type { QueryValue, Transport } from './transport.ts';

/** The parameters of a question. `family` is refused where a question does not pool runs; the client sets the wait. */
export type ParametersOf<N extends QuestionName> = QuestionQuery<N> & { readonly family?: 'true' | 'false' };
/** The query may be left out where it has no required member. */
export type QueryArgument<N extends QuestionName> =
  object extends QuestionQuery<N> ? [query?: ParametersOf<N>] : [query: ParametersOf<N>];

/** The time that a coordinator may take to read a study of many millions of runs before the first row of its table. */
const TABLE_MS = 600_000;

/** The longest wait of one request, in seconds. */
const WAIT_SECS = 30;

/** Every method waits as long as the answer takes, and throws what `Client` throws. docs/api.md describes the questions. */
export class Analysis {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Asks a question by the name of its route, such as `summary`. */
  async ask<N extends QuestionName>(
    name: N,
    batchId: Uuid,
    ...[query = {} as ParametersOf<N>]: QueryArgument<N>
  ): Promise<QuestionAnswer<N>> {
    const exchange = {
      method: 'GET',
      path: ['batches', batchId, name],
      query: { ...(query as Record<string, QueryValue>), wait: WAIT_SECS },
      extraMs: WAIT_SECS * 1000,
    } as const;
    for (;;) {
      const { body, status, headers } = await this.#transport.send<QuestionAnswer<N>>(exchange);
      if (status !== 202) return body;
      await sleep(systemClock, 1000 * Number(headers.get('retry-after') ?? 1));
    }
  }

  /** The versions of the code that executed the runs, with digests, commits and numbers of runs. */
  async codeVersions(batchId: Uuid): Promise<CodeVersionList> {
    const path = ['batches', batchId, 'code-versions'];
    return (await this.#transport.send<CodeVersionList>({ method: 'GET', path })).body;
  }

  /** The text of the manifest as it arrives. */
  manifest(batchId: Uuid): AsyncIterable<Uint8Array> {
    return this.#transport.stream({ method: 'GET', path: ['batches', batchId, 'manifest'] });
  }

  /**
   * The bytes of a table of runs as they arrive, in the `format` of the query (`json` without one); with `limit` its first page.
   * docs/table.md describes columns and formats.
   */
  table(batchId: Uuid, query: QueryOf<typeof TABLE_QUERY> = {}): AsyncIterable<Uint8Array> {
    const path = ['batches', batchId, 'table'];
    return this.#transport.stream({ method: 'GET', path, query: { ...query }, extraMs: TABLE_MS });
  }

  /** The bytes of one history of the runs of a study as they arrive, in the `format` of the query (`ndjson` without one). */
  histories(batchId: Uuid, query: QueryOf<typeof HISTORIES_QUERY>): AsyncIterable<Uint8Array> {
    const path = ['batches', batchId, 'histories'];
    return this.#transport.stream({ method: 'GET', path, query: { ...query }, extraMs: TABLE_MS });
  }

  /** The histories of a run that has ended. @throws ApiError 404 `result-not-ready` before */
  jobHistories(jobId: Uuid): Promise<JobHistories> {
    return this.#transport
      .send<JobHistories>({ method: 'GET', path: ['jobs', jobId, 'histories'] })
      .then(({ body }) => body);
  }

  /** One page of a table of runs; `next` is the `cursor` of the one after, undefined on the last page. */
  async tablePage(
    batchId: Uuid,
    query: Omit<QueryOf<typeof TABLE_QUERY>, 'format'> = {},
  ): Promise<{ table: StudyTable; next: string | undefined }> {
    const { body, headers } = await this.#transport.send<StudyTable>({
      method: 'GET',
      path: ['batches', batchId, 'table'],
      query: { limit: DEFAULT_PAGE, ...query, format: 'json' },
      extraMs: TABLE_MS,
    });
    return { table: body, next: position(headers).next };
  }
}

/** Questions about a study, as `Client.analysis`. An answer that is still being computed is waited for. */
import { sleep, systemClock } from '../base/clock.ts';
import type * as queries from '../contract/answers/queries.ts';
import type { QueryOf, QueryParameters } from '../contract/queries.ts';
import type {
  Convergence,
  StudyAnswer,
  StudyAttribution,
  StudyComparison,
  StudyDistributions,
  StudySensitivity,
  StudySummary,
  StudyTable,
  StudyTransitions,
  StudyVerdicts,
  TelemetryBand,
  Uuid,
  WorstRuns,
} from '../contract/types.ts';
import { DEFAULT_PAGE, position } from './pages.ts';
import type { QueryValue, Transport } from './transport.ts';

/** The parameters of a question. The client sets the wait. */
type ParametersOf<Q extends QueryParameters> = Omit<QueryOf<Q>, 'wait'>;

/** The time that a coordinator may take to read a study of many millions of runs before the first row of its table. */
const TABLE_MS = 600_000;

/** The longest wait of one request, in seconds. */
const WAIT_SECS = 30;

/** Every method waits as long as the answer takes, and throws what `Client` throws. docs/api.md describes the parameters. */
export class Analysis {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Whether the study is in order, in one sentence, and what to do next. */
  answer(batchId: Uuid, query: ParametersOf<typeof queries.ANSWER_QUERY> = {}): Promise<StudyAnswer> {
    return this.#ask(batchId, 'answer', query);
  }

  summary(batchId: Uuid, query: ParametersOf<typeof queries.SUMMARY_QUERY> = {}): Promise<StudySummary> {
    return this.#ask(batchId, 'summary', query);
  }

  distributions(
    batchId: Uuid,
    query: ParametersOf<typeof queries.DISTRIBUTIONS_QUERY> = {},
  ): Promise<StudyDistributions> {
    return this.#ask(batchId, 'distributions', query);
  }

  verdicts(batchId: Uuid, query: ParametersOf<typeof queries.VERDICTS_QUERY> = {}): Promise<StudyVerdicts> {
    return this.#ask(batchId, 'verdicts', query);
  }

  sensitivity(batchId: Uuid, query: ParametersOf<typeof queries.SENSITIVITY_QUERY>): Promise<StudySensitivity> {
    return this.#ask(batchId, 'sensitivity', query);
  }

  attribution(batchId: Uuid, query: ParametersOf<typeof queries.ATTRIBUTION_QUERY> = {}): Promise<StudyAttribution> {
    return this.#ask(batchId, 'attribution', query);
  }

  convergence(batchId: Uuid, query: ParametersOf<typeof queries.CONVERGENCE_QUERY> = {}): Promise<Convergence> {
    return this.#ask(batchId, 'convergence', query);
  }

  worst(batchId: Uuid, query: ParametersOf<typeof queries.WORST_QUERY>): Promise<WorstRuns> {
    return this.#ask(batchId, 'worst', query);
  }

  compare(batchId: Uuid, query: ParametersOf<typeof queries.COMPARE_QUERY>): Promise<StudyComparison> {
    return this.#ask(batchId, 'compare', query);
  }

  transitions(batchId: Uuid): Promise<StudyTransitions> {
    return this.#ask(batchId, 'transitions', {});
  }

  telemetryBand(batchId: Uuid, query: ParametersOf<typeof queries.BAND_QUERY> = {}): Promise<TelemetryBand> {
    return this.#ask(batchId, 'telemetry-band', query);
  }

  /** The text of the manifest as it arrives. */
  manifest(batchId: Uuid): AsyncIterable<Uint8Array> {
    return this.#transport.stream({ method: 'GET', path: ['batches', batchId, 'manifest'] });
  }

  /**
   * The bytes of a table of runs as they arrive, in the `format` of the query (`json` without one); with `limit` its first page.
   * docs/table.md describes columns and formats.
   */
  table(batchId: Uuid, query: QueryOf<typeof queries.TABLE_QUERY> = {}): AsyncIterable<Uint8Array> {
    const path = ['batches', batchId, 'table'];
    return this.#transport.stream({ method: 'GET', path, query: { ...query }, extraMs: TABLE_MS });
  }

  /** One page of a table of runs; `next` is the `cursor` of the one after, undefined on the last page. */
  async tablePage(
    batchId: Uuid,
    query: Omit<QueryOf<typeof queries.TABLE_QUERY>, 'format'> = {},
  ): Promise<{ table: StudyTable; next: string | undefined }> {
    const { body, headers } = await this.#transport.send<StudyTable>({
      method: 'GET',
      path: ['batches', batchId, 'table'],
      query: { limit: DEFAULT_PAGE, ...query, format: 'json' },
      extraMs: TABLE_MS,
    });
    return { table: body, next: position(headers).next };
  }

  async #ask<T>(batchId: Uuid, question: string, query: object): Promise<T> {
    const exchange = {
      method: 'GET',
      path: ['batches', batchId, question],
      query: { ...(query as Record<string, QueryValue>), wait: WAIT_SECS },
      extraMs: WAIT_SECS * 1000,
    } as const;
    for (;;) {
      const { body, status, headers } = await this.#transport.send<T>(exchange);
      if (status !== 202) return body;
      await sleep(systemClock, 1000 * Number(headers.get('retry-after') ?? 1));
    }
  }
}

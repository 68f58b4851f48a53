/** Requests about the rounds of adaptive studies. */
import type {
  AppendedRound,
  Batch,
  Evaluation,
  EvaluationProgress,
  EvaluationRequest,
  Round,
  RoundDetail,
  RoundProgress,
  RoundRequest,
  RoundResults,
  RoundsCheck,
  Uuid,
} from '../contract/types.ts';
import { given } from '../base/given.ts';
import type { Transport } from './transport.ts';

/** Every method throws `ApiError` (the request was refused) or `UnreachableError` (no answer). */
export class Rounds {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Appends a round; a repeat under the same key, or with the same number, returns the stored one and changes nothing. */
  async append(batchId: Uuid, request: RoundRequest): Promise<AppendedRound> {
    const path = ['batches', batchId, 'rounds'];
    return (await this.#transport.send<AppendedRound>({ method: 'POST', path, body: request })).body;
  }

  /** The rounds from the number `from` on, at most `limit`. */
  list(batchId: Uuid, query: { from?: number; limit?: number } = {}): Promise<Round[]> {
    return this.#get(['batches', batchId, 'rounds'], query);
  }

  /** One round with its runs by class. */
  one(batchId: Uuid, round: number): Promise<RoundDetail> {
    return this.#get(['batches', batchId, 'rounds', String(round)]);
  }

  byKey(batchId: Uuid, key: string): Promise<RoundDetail> {
    return this.#get(['batches', batchId, 'rounds', 'by-key', key]);
  }

  /** The runs of a round once all of them have ended, or its progress; the coordinator waits for that up to `waitSecs` seconds. */
  async results(
    batchId: Uuid,
    round: number,
    waitSecs = 0,
    signal?: AbortSignal,
  ): Promise<RoundResults | RoundProgress> {
    const path = ['batches', batchId, 'rounds', String(round), 'results'];
    const query = { wait: waitSecs };
    const exchange = { method: 'GET', path, query, extraMs: waitSecs * 1_000, ...given({ signal }) } as const;
    return (await this.#transport.send<RoundResults | RoundProgress>(exchange)).body;
  }

  /** The results of points, each executed once, or how far their runs are after `waitSecs` seconds (0 to 30). Safe to repeat. */
  async evaluate(
    batchId: Uuid,
    request: EvaluationRequest,
    waitSecs = 0,
    signal?: AbortSignal,
  ): Promise<Evaluation | EvaluationProgress> {
    const path = ['batches', batchId, 'evaluate'];
    const exchange = {
      method: 'POST',
      path,
      body: request,
      query: { wait: waitSecs },
      extraMs: waitSecs * 1_000,
      ...given({ signal }),
    } as const;
    return (await this.#transport.send<Evaluation | EvaluationProgress>(exchange)).body;
  }

  /** Whether the rounds are as they were appended. */
  check(batchId: Uuid): Promise<RoundsCheck> {
    return this.#get(['batches', batchId, 'rounds-check']);
  }

  /** Closes the study: it takes no further rounds. */
  async close(batchId: Uuid): Promise<Batch> {
    return (await this.#transport.send<Batch>({ method: 'POST', path: ['batches', batchId, 'close'] })).body;
  }

  async #get<T>(path: readonly string[], query: { from?: number; limit?: number } = {}): Promise<T> {
    return (await this.#transport.send<T>({ method: 'GET', path, query: { ...query } })).body;
  }
}

/** Requests that continue a study, change how its runs are judged, and ask its finished runs new questions. */
import type {
  BatchSubmission,
  ExtractionList,
  ExtractionRequest,
  ExtractionResponse,
  Judgement,
  JudgementRequest,
  SubmissionResponse,
  Uuid,
} from '../contract/types.ts';
import type { Transport } from './transport.ts';

/** A repeat with the same key and request returns the first answer and changes nothing. */
export interface Repeatable {
  idempotencyKey?: string;
}

/** Every method throws `ApiError` (the request was refused) or `UnreachableError` (no answer). */
export class StudyChanges {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Continues the study of the same design, or creates it; a repeat executes nothing. `continuation` of the answer says how. */
  async continue(submission: BatchSubmission): Promise<SubmissionResponse> {
    const query = { continue: 'true' };
    return (await this.#transport.send<SubmissionResponse>({ method: 'POST', path: ['jobs'], query, body: submission }))
      .body;
  }

  /** The requirements of a batch, with the times at which they were stated, its outputs and its labels. */
  async judgement(batchId: Uuid): Promise<Judgement> {
    return (await this.#transport.send<Judgement>({ method: 'GET', path: ['batches', batchId, 'judgement'] })).body;
  }

  /** Replaces the members given of the judgement; nothing is executed. A repeat changes nothing. 409 `judgement-changed` for another `revision` than the current one. */
  async amend(batchId: Uuid, request: JudgementRequest, { idempotencyKey: key }: Repeatable = {}): Promise<Judgement> {
    const path = ['batches', batchId, 'judgement'];
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    return (await this.#transport.send<Judgement>({ method: 'POST', path, body: request, headers })).body;
  }

  /** Creates a batch that computes derived outputs and histories of the telemetry of finished runs. */
  async extract(
    batchId: Uuid,
    request: ExtractionRequest,
    { idempotencyKey: key }: Repeatable = {},
  ): Promise<ExtractionResponse> {
    const path = ['batches', batchId, 'extractions'];
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    return (await this.#transport.send<ExtractionResponse>({ method: 'POST', path, body: request, headers })).body;
  }

  /** The extractions of a batch, with the runs whose files were gone. */
  async extractions(batchId: Uuid): Promise<ExtractionList> {
    const path = ['batches', batchId, 'extractions'];
    return (await this.#transport.send<ExtractionList>({ method: 'GET', path })).body;
  }
}

/**
 * A simulation as a function of points: the study of an evaluator, found again by its identity or submitted, and the evaluation of points
 * in it. It has no state that matters; the coordinator knows the points.
 */
import { randomUuid, systemClock } from '../base/clock.ts';
import {
  EVALUATOR_BUDGET,
  EVALUATOR_LABEL,
  evaluatorIdentity,
  type EvaluatorDefinition,
} from '../domain/adaptive/evaluator-identity.ts';
import type {
  Batch,
  BatchSubmission,
  DispersionConfig,
  Evaluation,
  EvaluationProgress,
  EvaluationRequest,
  Uuid,
} from '../contract/types.ts';
import type { Client } from './client.ts';
import { ApiError } from './transport.ts';

/** Settings of the study, where it is submitted. */
export interface EvaluatorOptions {
  /** The most runs that one study of the evaluator may have; 1,000,000 without it. */
  budget?: number;
  /** The time limit of a run in seconds; 0 or absent: none. */
  timeoutSecs?: number;
}

/** Refusals after which the next study of the evaluator takes the points. */
const OVER: ReadonlySet<string> = new Set(['study-closed', 'budget-exhausted', 'unknown-batch', 'not-external']);
/** Studies that are tried for one request: others may close them at the same time. */
const MAX_STUDIES = 5;

export class Evaluator {
  readonly identity: string;
  readonly #client: Client;
  readonly #submission: BatchSubmission;
  #found: Promise<Uuid> | undefined;

  constructor(client: Client, definition: EvaluatorDefinition, options: EvaluatorOptions = {}) {
    this.#client = client;
    this.identity = evaluatorIdentity(definition);
    this.#submission = submissionOf(definition, this.identity, options);
  }

  /** The open study of the evaluator; submits it where there is none. @throws ApiError, UnreachableError */
  study(): Promise<Uuid> {
    const found = (this.#found ??= this.#find());
    // A failure is not kept: the next request tries again.
    found.catch(() => this.#forget(found));
    return found;
  }

  #forget(found: Promise<Uuid>): void {
    if (this.#found === found) this.#found = undefined;
  }

  /**
   * Evaluates points, each once: the results in the order of the rows, or how far their runs are after `waitSecs` seconds (0 to 30). Safe to
   * repeat. Where the study is closed or full, the next one takes the points.
   * @throws ApiError, UnreachableError
   */
  async evaluate(
    request: EvaluationRequest,
    waitSecs = 0,
    signal?: AbortSignal,
  ): Promise<Evaluation | EvaluationProgress> {
    for (let tried = 1; ; tried++) {
      const found = this.study();
      const batchId = await found;
      try {
        return await this.#client.rounds.evaluate(batchId, request, waitSecs, signal);
      } catch (error) {
        if (!(error instanceof ApiError) || !OVER.has(error.code) || tried === MAX_STUDIES) throw error;
        if (error.code === 'budget-exhausted') {
          const { batch } = await this.#client.batch(batchId);
          // A study without runs cannot be too small by what it has.
          if (batch.total_jobs === 0) throw error;
          await this.#client.rounds.close(batchId);
        }
        this.#forget(found);
      }
    }
  }

  async #find(): Promise<Uuid> {
    const label = [`${EVALUATOR_LABEL}=${this.identity}`];
    for (let tried = 1; ; tried++) {
      let studies = 0;
      for await (const batch of this.#client.batches({ label })) {
        if (isOpen(batch)) return batch.id;
        studies += 1;
      }
      // The answer to a key is kept for a day, and may name a study that was closed or deleted since.
      const isLast = tried === MAX_STUDIES;
      const key = isLast ? randomUuid(systemClock) : `evaluator-${this.identity}-${studies}`;
      try {
        const { batch_id: batchId } = await this.#client.submit(this.#submission, { idempotencyKey: key });
        const { batch } = await this.#client.batch(batchId);
        if (isOpen(batch)) return batchId;
      } catch (error) {
        const isOthers = error instanceof ApiError && /^(idempotency-key-reused|unknown-batch)$/.test(error.code);
        if (!isOthers || isLast) throw error;
      }
    }
  }
}

const isOpen = ({ status, closed }: Batch): boolean =>
  (status === 'Pending' || status === 'Running') && closed !== true;

function submissionOf(
  { simulation, version, inputs, fixed }: EvaluatorDefinition,
  identity: string,
  { budget = EVALUATOR_BUDGET, timeoutSecs = 0 }: EvaluatorOptions,
): BatchSubmission {
  const dispersions: Record<string, DispersionConfig> = Object.fromEntries([
    ...inputs.map((name) => [name, { distribution: { type: 'chosen' }, units: '' }] as const),
    ...Object.entries(fixed).map(
      ([name, value]) => [name, { distribution: { type: 'fixed', value }, units: '' }] as const,
    ),
  ]);
  return {
    name: `${simulation} ${version} evaluator`.slice(0, 200),
    labels: { [EVALUATOR_LABEL]: identity },
    config: {
      simulation: { name: simulation, version, duration_minutes: 1 },
      monte_carlo: { runs: budget, sampling_method: 'adaptive', seed: 0 },
      adaptive: { algorithm: 'external' },
      dispersions,
      compute: {
        container: { image: '', cpu_request: '1', memory_request: '256Mi' },
        max_parallel_jobs: 0,
        job_timeout_seconds: timeoutSecs,
      },
      early_termination: { enabled: false, check_frequency_hz: 10, conditions: [] },
      telemetry: {
        sampling_rate_hz: 0,
        variables: [],
        storage: { s3_bucket: '', s3_prefix: '', compression: 'snappy' },
        buffer_flush_interval_seconds: 5,
      },
    },
  };
}

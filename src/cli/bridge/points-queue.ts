/** Evaluates points of many requests at the same time: those that arrive together become one round, and each waits for its own run. */
import { Coalescer } from '../../base/async/coalescer.ts';
import type { Evaluator } from '../../client/evaluator.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { EvaluatedPoint } from '../../contract/types.ts';
import { persist } from '../points/persist.ts';
import type { Row } from '../points/read-rows.ts';

interface Waiting {
  row: Row;
  /** Undefined where the run of the point has not ended. */
  resolve: (point: EvaluatedPoint | undefined) => void;
  reject: (error: unknown) => void;
}

/** Seconds of one request for a result. */
const WAIT_SECS = 30;

export class PointsQueue {
  readonly #evaluator: Evaluator;
  readonly #say: (line: string) => void;
  readonly #queue: Coalescer<Waiting>;

  /** @param say writes a line for the user when the coordinator does not answer */
  constructor(evaluator: Evaluator, say: (line: string) => void) {
    this.#evaluator = evaluator;
    this.#say = say;
    const length = (waiting: readonly Waiting[]): number => Math.min(waiting.length, LIMITS.roundRows);
    this.#queue = new Coalescer((batch) => this.#append(batch), length);
  }

  /** Returns the result of a point. Stops waiting, without an effect on its run, when `signal` is aborted. */
  async evaluate(row: Row, signal: AbortSignal): Promise<EvaluatedPoint> {
    const known = await new Promise<EvaluatedPoint | undefined>((resolve, reject) =>
      this.#queue.add({ row, resolve, reject }),
    );
    if (known !== undefined) return known;
    for (;;) {
      signal.throwIfAborted();
      const answer = await persist(() => this.#evaluator.evaluate({ rows: [row] }, WAIT_SECS), {
        signal,
        repeating: this.#say,
      });
      if ('points' in answer) return answer.points[0]!;
    }
  }

  async #append(batch: readonly Waiting[]): Promise<void> {
    try {
      const rows = batch.map(({ row }) => row);
      const answer = await persist(() => this.#evaluator.evaluate({ rows }), { repeating: this.#say });
      for (const [at, { resolve }] of batch.entries()) resolve('points' in answer ? answer.points[at] : undefined);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

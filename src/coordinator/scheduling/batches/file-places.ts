/**
 * The untouched runs of an extraction by the place of their files: a run goes to the runner that has them, or to any where all reach them. One
 * queue for each place, in the order of the runs, so that a runner that is gone keeps no other from its runs.
 */
import type { StoredExtraction } from '../../../contract/types.ts';
import { RunSelection } from '../../../domain/runs/run-selection.ts';

interface Queue {
  runs: RunSelection;
  /** The index of the first run that may be untouched. */
  at: number;
  /** The version of the batch for which `at` was moved. */
  version: number;
}

/** Runs that one look passes at most, after a restart: each may cost a reading of the store. The next look continues. */
const PASSED_AT_ONCE = 20_000;

export class FilePlaces {
  readonly #queues = new Map<string | undefined, Queue>();

  constructor({ places }: Pick<StoredExtraction, 'places'>) {
    for (const { runner, run_ids: runIds } of places) {
      const runs = RunSelection.parse(runIds);
      if (typeof runs !== 'string') this.#queues.set(runner, { runs, at: 0, version: -1 });
    }
  }

  /**
   * The next untouched run that the runner may take; undefined: none.
   * @param version of the batch. A run that was touched in an earlier one is passed for ever; in this one its turn may yet be rolled back.
   * @param isAssigned true for a run of the current plan
   */
  next(
    runnerId: string,
    version: number,
    isTouched: (runId: number) => boolean,
    isAssigned: (runId: number) => boolean,
  ): number | undefined {
    for (const place of [runnerId, undefined]) {
      const queue = this.#queues.get(place);
      if (queue === undefined) continue;
      pass(queue, version, isTouched);
      const end = Math.min(queue.runs.count, queue.at + PASSED_AT_ONCE);
      for (let index = queue.at; index < end; index += 1) {
        const runId = queue.runs.nth(index);
        if (!isAssigned(runId) && !isTouched(runId)) return runId;
      }
    }
    return undefined;
  }

  /** True when the runner reaches the files of the run. */
  reaches(runnerId: string, runId: number): boolean {
    const has = (place: string | undefined): boolean => this.#queues.get(place)?.runs.indexOf(runId) !== undefined;
    return has(undefined) || has(runnerId);
  }

  /** Runs from the first that may be untouched on, whose files every runner reaches. */
  get reachedByAll(): number {
    const queue = this.#queues.get(undefined);
    return queue === undefined ? 0 : queue.runs.count - queue.at;
  }
}

function pass(queue: Queue, version: number, isTouched: (runId: number) => boolean): void {
  if (queue.version === version) return;
  queue.version = version;
  const end = Math.min(queue.runs.count, queue.at + PASSED_AT_ONCE);
  while (queue.at < end && isTouched(queue.runs.nth(queue.at))) queue.at += 1;
}

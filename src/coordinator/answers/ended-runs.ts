/** The runs that have ended since the analysis worker read their studies: it then reads these alone. */
import type { Fact } from '../../../machines/protocol.ts';
import type { Uuid } from '../../contract/types.ts';

/** The marks of one log; a run of a study ends once, and a study has fewer runs. */
const MARKS = 2 ** 31;

interface Log {
  /** The mark of the first one of `runIds`. */
  start: number;
  runIds: number[];
}

/** Memory: a number for each end, at most `maxEnds` of them; the log that was read longest ago is dropped first. */
export class EndedRuns {
  readonly #maxEnds: number;
  /** Logs of studies, the last read at the end. */
  readonly #logs = new Map<Uuid, Log>();
  #ends = 0;
  /** Logs that have begun: marks of different logs differ. */
  #begun = 0;

  constructor(maxEnds = 1_000_000) {
    this.#maxEnds = maxEnds;
  }

  /** Takes the facts of a group that is on disk. */
  committed(facts: readonly Fact[]): void {
    if (this.#logs.size === 0) return;
    for (const fact of facts) {
      if (fact.type === 'batch.deleted') this.#drop(fact.batchId);
      if (fact.type !== 'job.ended') continue;
      const log = this.#logs.get(fact.batchId);
      if (log === undefined) continue;
      log.runIds.push(fact.runId);
      this.#ends++;
    }
    for (const batchId of this.#logs.keys()) {
      if (this.#ends <= this.#maxEnds) break;
      this.#drop(batchId);
    }
  }

  /**
   * Begins the log of a study that is read whole, or continues the one at `since`, the mark of the last reading. Returns the mark of
   * this reading, and the runs in between in ascending order; undefined where they are not known.
   */
  read(batchId: Uuid, since: number | undefined): { mark: number; runIds: Uint32Array | undefined } {
    const log = this.#logs.get(batchId);
    const isKnown = log !== undefined && since !== undefined && since >= log.start && since <= endOf(log);
    const runIds = isKnown ? Uint32Array.from(new Set(log.runIds.slice(since - log.start))).sort() : undefined;
    const mark = log === undefined ? this.#begun++ * MARKS : endOf(log);
    this.#drop(batchId);
    this.#logs.set(batchId, { start: mark, runIds: [] });
    return { mark, runIds };
  }

  /** Ends the log of a study that has ended. */
  forget(batchId: Uuid): void {
    this.#drop(batchId);
  }

  #drop(batchId: Uuid): void {
    this.#ends -= this.#logs.get(batchId)?.runIds.length ?? 0;
    this.#logs.delete(batchId);
  }
}

const endOf = ({ start, runIds }: Log): number => start + runIds.length;

/** The precisions of a study, taken run by run along its complete prefix, and the run at which it may stop. */
import type { PrecisionReached } from '../../contract/types.ts';
import type { OpenInterval } from '../outputs/quantiles.ts';
import type { Warning } from '../warning.ts';
import { type PrecisionSight, reachedOf } from './answer.ts';
import { isLook } from './planning.ts';
import { type ParsedPrecision, isPrecise, sequenceOf } from './precision.ts';
import { type PrecisionFault, type Sequence, SequenceFault } from './sequences/sequence.ts';

/** All memory of the precisions of a study, as plain JSON. */
export interface PrecisionsState {
  /** Runs taken. */
  runs: number;
  /** The run at which all were reached first. */
  stop_run_id: number | null;
  /** The cancelled run that ended the sequence. */
  cut_run_id: number | null;
  sequences: { unknown: number; state: number[]; fault?: PrecisionFault }[];
}

interface Entry {
  precision: ParsedPrecision;
  sequence: Sequence;
  unknown: number;
  fault: PrecisionFault | undefined;
}

/**
 * Takes the values of the complete prefix in run order. The study stops at the first look at which every precision is reached; the stop is a function of
 * these values alone. Of a study of replicates it looks at whole ones. The cost of a run does not grow with their number.
 */
export class StudyPrecision {
  readonly precisions: readonly ParsedPrecision[];
  readonly #stops: boolean;
  /** The runs of one replicate; 1 where runs are independent. */
  readonly #size: number;
  readonly #entries: Entry[];
  #runs = 0;
  #stopRunId: number | null = null;
  #cutRunId: number | null = null;

  /**
   * `state`: from `toJSON`, to continue after a restart. `stops`: false where the runs after the stop are taken too.
   * @throws RangeError when `toJSON` cannot have given the state.
   */
  constructor(precisions: readonly ParsedPrecision[], state?: PrecisionsState, stops = true) {
    this.precisions = precisions;
    this.#stops = stops;
    this.#size = precisions[0]?.replicateRuns ?? 1;
    if (state !== undefined) checkState(state, precisions.length);
    this.#runs = state?.runs ?? 0;
    this.#stopRunId = state?.stop_run_id ?? null;
    this.#cutRunId = state?.cut_run_id ?? null;
    this.#entries = precisions.map((precision, at) => {
      const own = state?.sequences[at];
      const numbers = own?.fault?.code === 'not-finite' ? undefined : own?.state;
      return { precision, sequence: sequenceOf(precision, numbers), unknown: own?.unknown ?? 0, fault: own?.fault };
    });
  }

  /** Runs taken. */
  get runs(): number {
    return this.#runs;
  }

  /** The runs that the intervals use: all taken, of a study of replicates those of whole ones. */
  get used(): number {
    return this.#runs - (this.#runs % this.#size);
  }

  /** The number of observations, where the last one is complete; undefined within a replicate. */
  get observations(): number | undefined {
    return this.#runs % this.#size === 0 ? this.#runs / this.#size : undefined;
  }

  /** The run at which every precision was reached first; null before. */
  get stopRunId(): number | null {
    return this.#stopRunId;
  }

  /** True when no further run changes anything: all are reached, or a cancelled run ended the sequence. */
  get isOver(): boolean {
    return this.#stopRunId !== null || this.#cutRunId !== null;
  }

  /** Takes the next run. `valueOf`: its value under each precision, NaN where it is not known. */
  take(valueOf: (precision: number) => number, runId: number): void {
    if (this.isOver) return;
    this.#runs++;
    for (const [at, entry] of this.#entries.entries()) if (entry.fault === undefined) taken(entry, valueOf(at), runId);
    const { observations } = this;
    if (this.#stops && observations !== undefined && isLook(observations) && this.#entries.every(isReached))
      this.#stopRunId = runId;
  }

  /** A cancelled run ends the sequence before it: whether a run is cancelled may depend on how it goes. */
  takeCancelled(runId: number): void {
    if (this.isOver) return;
    this.#cutRunId = runId;
  }

  /** Each precision so far, in the order of the study. `open`: runs that may still follow. */
  answers(open: number, limits: readonly Warning[], unitsOf: (output: string) => string | null): PrecisionReached[] {
    const following = this.isOver ? 0 : open + this.#runs - this.used;
    return this.sights().map((sight) =>
      reachedOf(sight, { open: following, limits, units: unitsOf(sight.precision.output) }),
    );
  }

  /** The figures of each precision so far. */
  sights(): PrecisionSight[] {
    return this.#entries.map(({ precision, sequence, unknown, fault }) => {
      const ended = fault ?? this.#cut();
      return {
        precision,
        runs: this.used,
        unknown: unknown - (sequence.unknownInPart ?? 0),
        value: sequence.value(),
        // The interval before a cancelled run holds; after any other fault none does.
        interval: fault === undefined ? sequence.interval() : NONE,
        reason: ended?.message ?? sequence.reason(),
        fault: ended,
      };
    });
  }

  #cut(): PrecisionFault | undefined {
    const run = this.#cutRunId;
    if (run === null) return undefined;
    return { code: 'cancelled-run', run_id: run, message: `run ${run} was cancelled: the sequence ends before it` };
  }

  /** Undefined where a sequence keeps its values: it is made again from the first run. */
  toJSON(): PrecisionsState | undefined {
    const sequences = this.#entries.map(({ sequence, unknown, fault }) => {
      // A sequence that was left at a fault is not taken further: its numbers may have left the range of doubles.
      const state = fault?.code === 'not-finite' ? [] : sequence.state();
      return { unknown, state, ...(fault === undefined ? {} : { fault }) };
    });
    if (sequences.some(({ state }) => state === undefined)) return undefined;
    return {
      runs: this.#runs,
      stop_run_id: this.#stopRunId,
      cut_run_id: this.#cutRunId,
      sequences: sequences as PrecisionsState['sequences'],
    };
  }
}

const NONE: OpenInterval = [null, null];

const isReached = ({ precision, sequence, fault }: Entry): boolean =>
  fault === undefined && isPrecise(precision, sequence.interval());

function taken(entry: Entry, value: number, runId: number): void {
  if (Number.isNaN(value)) entry.unknown++;
  try {
    entry.sequence.take(value);
  } catch (error) {
    if (!(error instanceof SequenceFault)) throw error;
    entry.fault = { code: error.code, run_id: runId, message: `run ${runId} ${error.message}` };
  }
}

function checkState({ runs, sequences }: PrecisionsState, precisions: number): void {
  const isCount = (it: unknown): boolean => Number.isSafeInteger(it) && (it as number) >= 0;
  if (isCount(runs) && sequences.length === precisions && sequences.every(({ unknown }) => isCount(unknown))) return;
  throw new RangeError(`the state of the precisions is not usable: ${runs} runs of ${sequences.length} sequences`);
}

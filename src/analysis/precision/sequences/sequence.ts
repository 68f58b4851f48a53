/** Confidence sequences: intervals that hold at every number of runs at once, so that a study may stop at any of them. */
import type { OpenInterval } from '../../outputs/quantiles.ts';

/**
 * One estimate with its sequence, which takes runs in order. With probability `confidence` at least, its intervals hold the
 * true quantity at all numbers of independent runs at once.
 */
export interface Sequence {
  /** Takes the next run; NaN: its value is not known. */
  take(value: number): void;
  /** The estimate from the runs whose value is known; null where none is. */
  value(): number | null;
  /** The interval after the runs so far; an end is null where they do not bound that side. */
  interval(): OpenInterval;
  /** Why an end of the interval is missing; null where none is. */
  reason(): string | null;
  /** Of replicates: the runs taken without a value of the replicate that is not whole. */
  readonly unknownInPart?: number;
  /** All of its memory, finite numbers only; undefined for a sequence that keeps every value and is made again from the runs. */
  state(): number[] | undefined;
}

/** The reason why a sequence has no interval, and never will have. */
export class SequenceFault extends Error {
  readonly code: 'outside-bounds' | 'unknown-run' | 'not-finite';

  constructor(code: SequenceFault['code'], message: string) {
    super(message);
    this.name = 'SequenceFault';
    this.code = code;
  }
}

/** Why a precision has no interval any more: a run that its sequence cannot take. */
export interface PrecisionFault {
  code: SequenceFault['code'] | 'cancelled-run';
  run_id: number;
  message: string;
}

/** @throws RangeError when the numbers are not those of a state with this length */
export function checkedState(state: readonly number[], length: number): readonly number[] {
  if (state.length === length && state.every((it) => Number.isFinite(it))) return state;
  throw new RangeError(`the state of a confidence sequence is not usable: expected ${length} finite numbers`);
}

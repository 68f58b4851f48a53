/** A precision with its defaults, its sequence, and the value of each run under it. */
import type { Precision, PrecisionReached, SequenceMethod } from '../../contract/types.ts';
import {
  type ParsedCondition,
  type ParsedRange,
  meets,
  parseRequirementCondition,
} from '../../domain/study/condition.ts';
import { type PrecisionQuantity, parseQuantity } from '../../domain/study/precision.ts';
import { EXECUTION_SECS } from '../../domain/runs/outputs.ts';
import type { OpenInterval } from '../outputs/quantiles.ts';
import { DEFAULT_CONFIDENCE } from '../requirements/requirement.ts';
import { CLASS_CODES } from '../table/run-class.ts';
import { type RunTable, outputColumn } from '../table/run-table.ts';
import { AsymptoticMeanSequence } from './sequences/asymptotic-mean.ts';
import { BoundedMeanSequence } from './sequences/bounded-mean.ts';
import { ProbabilitySequence } from './sequences/probability.ts';
import { ReplicateMeanSequence } from './sequences/replicate-means.ts';
import { ReplicateQuantileSequence } from './sequences/replicate-quantile.ts';
import { QuantileSequence } from './sequences/quantile.ts';
import type { Sequence } from './sequences/sequence.ts';

/** A precision that passed `precisionFaults`, read. */
export interface ParsedPrecision extends Pick<Precision, 'output' | 'bounds' | 'half_width' | 'relative'> {
  quantity: PrecisionQuantity;
  /** The quantity as the study writes it. */
  written: string;
  condition: string | null;
  /** Of a probability: the value of a run is whether it holds. */
  holds?: ParsedCondition | ParsedRange;
  confidence: number;
  method: SequenceMethod;
  /** The runs of one replicate, where the runs of a replicate depend on each other; absent for independent runs. */
  replicateRuns?: number;
}

/** `replicateRuns`: of a study of replicates. @throws RangeError for a precision that is not usable; the message begins with the member's name. */
export function parsePrecision(precision: Precision, replicateRuns?: number): ParsedPrecision {
  const { output, quantity: written, condition, bounds, half_width: half, relative, confidence } = precision;
  const read = parseQuantity(written);
  if ('fault' in read) throw new RangeError(`quantity ${read.fault}`);
  const { quantity } = read;
  const holds = condition === undefined ? undefined : parseRequirementCondition(condition);
  if (typeof holds === 'string') throw new RangeError(`condition ${holds}`);
  return {
    output,
    quantity,
    written,
    condition: condition ?? null,
    confidence: confidence ?? DEFAULT_CONFIDENCE,
    method: methodOf(quantity, bounds !== undefined, replicateRuns !== undefined),
    ...(replicateRuns === undefined ? {} : { replicateRuns }),
    ...(holds === undefined ? {} : { holds }),
    ...(bounds === undefined ? {} : { bounds }),
    ...(half === undefined ? {} : { half_width: half }),
    ...(relative === undefined ? {} : { relative }),
  };
}

function methodOf(quantity: PrecisionQuantity, isBounded: boolean, isReplicated: boolean): SequenceMethod {
  if (quantity === 'probability') return isReplicated ? 'empirical-bernstein' : 'beta-binomial';
  if (quantity !== 'mean') return isReplicated ? 'betting' : 'order-statistics';
  return isBounded ? 'empirical-bernstein' : 'asymptotic';
}

/** `mean of miss_m`, `P95 of miss_m`, `probability of miss_m > 50`. */
export function quantityText({
  output,
  quantity,
  condition,
}: Pick<PrecisionReached, 'output' | 'quantity' | 'condition'>): string {
  if (quantity === 'probability') return `probability of ${output} ${condition}`;
  return `${quantity === 'mean' ? quantity : quantity.toUpperCase()} of ${output}`;
}

/** The sequence of a precision, from its state where it has one. @throws RangeError for a state that is not usable */
export function sequenceOf(precision: ParsedPrecision, state?: readonly number[]): Sequence {
  const { quantity, bounds, confidence, replicateRuns: runs } = precision;
  if (runs !== undefined) {
    if (quantity === 'probability') return new ReplicateMeanSequence(runs, [0, 1], confidence, state);
    if (quantity !== 'mean') return new ReplicateQuantileSequence(quantity.p, runs, confidence);
    return new ReplicateMeanSequence(runs, bounds, confidence, state);
  }
  if (quantity === 'probability') return new ProbabilitySequence(confidence, state);
  if (quantity !== 'mean') return new QuantileSequence(quantity.p, confidence);
  if (bounds !== undefined) return new BoundedMeanSequence(bounds, confidence, state);
  return new AsymptoticMeanSequence(confidence, state);
}

/**
 * The half-width that is wanted; null while it is a share of a value that may be 0. A relative one is a share of the end that is nearer to 0,
 * so that it holds for every value in the interval.
 */
export function targetOf({ half_width: half, relative }: ParsedPrecision, [low, high]: OpenInterval): number | null {
  if (half !== undefined) return half;
  if (low === null || high === null || (low <= 0 && high >= 0)) return null;
  return relative! * Math.min(Math.abs(low), Math.abs(high));
}

/** Half the width of an interval; null where an end is missing. */
export const halfWidthOf = ([low, high]: OpenInterval): number | null =>
  low === null || high === null ? null : high / 2 - low / 2;

/** Whether the interval is as narrow as is wanted. */
export function isPrecise(precision: ParsedPrecision, interval: OpenInterval): boolean {
  const half = halfWidthOf(interval);
  const target = targetOf(precision, interval);
  return half !== null && target !== null && half <= target;
}

/**
 * The value of a run under a precision, NaN where it is not known: a run that ended otherwise than Completed, or without the output, or whose
 * telemetry was lost under a termination rule. `code`: its class. `valueOf`: the value of an output, NaN without one.
 */
export function valueUnder(
  { output, holds }: Pick<ParsedPrecision, 'output' | 'holds'>,
  code: number,
  valueOf: (output: string) => number,
  isTelemetryLost: boolean,
): number {
  const value = code !== CLASS_CODES.ok || isTelemetryLost ? Number.NaN : valueOf(output);
  if (holds === undefined || Number.isNaN(value)) return value;
  return meets(holds, value) ? 1 : 0;
}

/** The value of a row of a table under a precision. */
export function valueReader(table: RunTable, precision: ParsedPrecision): (row: number) => number {
  const { classes, telemetryLost, executionSecs } = table;
  const column = outputColumn(table, precision.output);
  let at = 0;
  const valueOf = (output: string): number => {
    const value = column?.[at] ?? Number.NaN;
    // A simulation may report the member in some runs only.
    return output === EXECUTION_SECS && Number.isNaN(value) ? executionSecs[at]! : value;
  };
  return (row) => {
    at = row;
    return valueUnder(precision, classes[row]!, valueOf, telemetryLost?.[row] === 1);
  };
}

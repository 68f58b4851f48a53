/** A precision as an answer: its figures, its state, and the sentence. */
import { plural } from '../../domain/plural.ts';
import type { PrecisionReached, PrecisionState } from '../../contract/types.ts';
import { meanText, rangeText } from '../outputs/estimate-text.ts';
import type { OpenInterval } from '../outputs/quantiles.ts';
import { shareInPercent } from '../wording.ts';
import type { Warning } from '../warning.ts';
import { runsAtLeast } from './planning.ts';
import { type ParsedPrecision, halfWidthOf, isPrecise, quantityText, targetOf } from './precision.ts';
import type { PrecisionFault } from './sequences/sequence.ts';

/** The figures of a precision after some runs. */
export interface PrecisionSight {
  precision: ParsedPrecision;
  runs: number;
  unknown: number;
  value: number | null;
  interval: OpenInterval;
  reason: string | null;
  fault: PrecisionFault | undefined;
}

interface Context {
  /** Runs that may still follow. */
  open: number;
  /** Warnings about the study, which come first. */
  limits: readonly Warning[];
  units: string | null;
}

/** The answer about one precision. */
export function reachedOf(sight: PrecisionSight, { open, limits: given, units }: Context): PrecisionReached {
  const { precision, runs, unknown, value, interval, fault } = sight;
  const { replicateRuns } = precision;
  // Replicates are independent of each other.
  const limits = replicateRuns === undefined ? given : given.filter(({ code }) => code !== 'not-independent');
  const half = halfWidthOf(interval);
  const target = targetOf(precision, interval);
  const obstacle = obstacleOf(sight, open, target);
  const isMet = fault?.code === 'cancelled-run' || fault === undefined ? isPrecise(precision, interval) : false;
  const state: PrecisionState = isMet
    ? 'reached'
    : obstacle !== null
      ? 'out-of-reach'
      : open > 0
        ? 'open'
        : 'not-reached';
  const expected = isMet || half === null || target === null ? null : runsExpected(runs, half / target, replicateRuns);
  const answer: Omit<PrecisionReached, 'sentence'> = {
    output: precision.output,
    quantity: precision.written,
    condition: precision.condition,
    units: precision.quantity === 'probability' ? null : units,
    confidence: precision.confidence,
    method: precision.method,
    n: runs,
    replicates: replicateRuns === undefined ? null : runs / replicateRuns,
    unknown,
    value,
    interval,
    half_width: half,
    target,
    relative: precision.relative ?? null,
    state,
    runs_expected: expected !== null && Number.isSafeInteger(expected) && state !== 'out-of-reach' ? expected : null,
    reason: isMet
      ? null
      : (obstacle ??
        sight.reason ??
        relativeReason(precision, interval) ??
        (state === 'not-reached' ? tooWideReason(runs, half, target, expected) : null)),
    reason_run_id: isMet ? null : (fault?.run_id ?? null),
    warnings: [...limits, ...ownWarnings(sight)],
  };
  return { ...answer, sentence: precisionSentence(answer) };
}

/** The half-width falls with the square root of the number of runs, of whole replicates where these are the observations. */
function runsExpected(runs: number, ratio: number, size = 1): number {
  const expected = Math.ceil((runs * ratio ** 2) / size) * size;
  // Just above the target the next look may reach it.
  return Math.max(expected, runs + size);
}

/** Why a study that has ended did not stop: `not precise enough: half-width 0.3 of 0.1 wanted; about 7,200 runs more`. */
function tooWideReason(runs: number, half: number | null, target: number | null, expected: number | null) {
  if (half === null || target === null) return null;
  const isCountable = expected !== null && Number.isSafeInteger(expected);
  const more = isCountable ? `; about ${plural(expected - runs, 'run')} more` : '';
  return `not precise enough: half-width ${shown(half)} of ${shown(target)} wanted${more}`;
}

/** Why no further run of the study can reach the precision; null where one may. */
function obstacleOf(
  { precision, runs, unknown, fault }: PrecisionSight,
  open: number,
  target: number | null,
): string | null {
  if (fault !== undefined) return fault.message;
  const total = runs + open;
  const range = precision.quantity === 'probability' ? 1 : (precision.bounds?.[1] ?? 0) - (precision.bounds?.[0] ?? 0);
  const least = (unknown * range) / (2 * total);
  if (unknown > 0 && target !== null && least > target)
    return `${plural(unknown, 'run')} without a value alone ${unknown === 1 ? 'makes' : 'make'} it at least ± ${shown(least)} in ${plural(total, 'run')}`;
  const needed = runsAtLeast(precision);
  if (needed <= total) return null;
  const { replicateRuns: size } = precision;
  const replicates = size === undefined ? '' : ` (${plural(Math.ceil(needed / size), 'replicate')})`;
  return `it takes at least ${plural(needed, 'run')}${replicates}, and the study has ${total}`;
}

const relativeReason = ({ relative }: ParsedPrecision, [low, high]: OpenInterval): string | null =>
  relative !== undefined && low !== null && high !== null && low <= 0 && high >= 0
    ? 'the interval holds 0, and a share of 0 is not a width'
    : null;

function ownWarnings({ precision, unknown, runs, fault }: PrecisionSight): Warning[] {
  const warnings: Warning[] = [];
  if (fault?.code === 'outside-bounds')
    warnings.push({ code: 'outside-bounds', message: `${fault.message}: the confidence sequence does not hold` });
  if (precision.method === 'asymptotic')
    warnings.push({
      code: 'asymptotic',
      message: `the interval of the mean of ${precision.output} is approximate: it holds in the limit of many ${precision.replicateRuns === undefined ? 'runs' : 'replicates'}; with \`bounds\` it holds for every number of them`,
    });
  if (unknown > 0)
    warnings.push({
      code: 'unknown-runs',
      message: `${unknown} of ${plural(runs, 'run')} ${unknown === 1 ? 'has' : 'have'} no usable ${precision.output}: the interval holds for every value that it may have`,
    });
  return warnings;
}

const WORDS: Readonly<Record<PrecisionState, string>> = {
  reached: 'reached',
  open: 'open',
  'out-of-reach': 'out of reach',
  'not-reached': 'not reached',
};

/** `reached: mean of miss_m is 6.551 ± 0.098 m (wanted ± 0.1) at 95 % confidence after 812 runs`. */
function precisionSentence(it: Omit<PrecisionReached, 'sentence'>): string {
  const estimate = it.value === null ? 'has no value' : `is ${estimateText(it)}`;
  const wanted = it.relative === null ? `± ${shown(it.target!)}` : `± ${shareInPercent(it.relative)}`;
  const replicates = it.replicates === null ? '' : ` (${plural(it.replicates, 'replicate')})`;
  const level = `at ${shareInPercent(it.confidence)} confidence after ${plural(it.n, 'run')}${replicates}`;
  const why = it.reason === null ? '' : `; ${it.reason}`;
  const expected =
    it.runs_expected === null || it.state !== 'open' ? '' : `, about ${plural(it.runs_expected, 'run')} expected`;
  const kind = it.method === 'asymptotic' ? 'approximate, ' : '';
  return `${WORDS[it.state]}: ${quantityText(it)} ${estimate} (${kind}wanted ${wanted}) ${level}${expected}${why}`;
}

function estimateText({ value, interval, units, half_width: half }: Omit<PrecisionReached, 'sentence'>): string {
  const unit = units === null || units === '' ? '' : ` ${units}`;
  const [low, high] = interval;
  if (low === null && high === null) return `${meanText(value, null)}${unit}`;
  if (half === null) return `${meanText(value, null)} ${rangeText(interval)}${unit}`;
  return `${meanText(value, [low!, high!])}${unit}`;
}

const shown = (number: number): string => String(Number(number.toPrecision(3)));

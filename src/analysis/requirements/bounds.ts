/** The one-sided bounds that are shown beside a requirement, by the way in which it is looked at. */
import type { Look } from '../../contract/types.ts';
import { lowerBound, upperBound } from '../special/exact-bounds.ts';
import { SequentialTest } from './sequential-test.ts';

/**
 * Unknown runs count against each bound. `once`: exact bounds, for one look. `continuous`: the confidence sequence of the sequential test;
 * the exact bounds at the run that it chose would lie beyond the truth far more often than their confidence says.
 */
export function oneSidedBounds(
  counts: Record<'passed' | 'failed' | 'unknown', number>,
  look: Look,
  confidence: number,
): [lower: number, upper: number] {
  if (look === 'continuous') return SequentialTest.bounds(counts, confidence);
  const { passed, failed, unknown } = counts;
  const judged = passed + failed + unknown;
  return [lowerBound(passed, judged, confidence), upperBound(passed + unknown, judged, confidence)];
}

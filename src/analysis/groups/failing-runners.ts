/** Runners on which attempts fail more often than on the others: Fisher's exact test of each, Holm's adjustment. */
import type { FailingRunner as Shares } from '../../domain/findings/finding.ts';
import { holm } from '../numeric/holm.ts';
import { fisherGreater } from './fisher.ts';

/** The finished attempts of one study on one runner. */
export interface RunnerCounts {
  runnerId: string;
  succeeded: number;
  failed: number;
}

export interface FailingRunner extends Shares {
  /** Adjusted for the number of runners. */
  p: number;
}

/**
 * The level of the adjusted p-values. The test is repeated while a study runs, so that the level is far below the usual one:
 * about this share of studies with equal runners shows a finding at a given time.
 */
export const LEVEL = 1e-3;
/** A difference is reported from this ratio of the shares: with a million runs a difference of no importance is significant. */
const LEAST_RATIO = 2;

/** Returns the runners whose share of failures is at least twice that of the others, significantly; the clearest first, then by id. */
export function failingRunners(counts: readonly RunnerCounts[], level = LEVEL): FailingRunner[] {
  const used = counts.filter(({ succeeded, failed }) => succeeded + failed > 0);
  const allFailed = used.reduce((sum, it) => sum + it.failed, 0);
  const allFinished = used.reduce((sum, it) => sum + it.failed + it.succeeded, 0);
  if (used.length < 2) return [];
  const rows = used.map(({ runnerId, failed, succeeded }) => {
    const finished = failed + succeeded;
    return { runnerId, failed, finished, othersFailed: allFailed - failed, othersFinished: allFinished - finished };
  });
  const adjusted = holm(rows.map((it) => (isMuchMore(it) ? test(it) : 1)));
  return rows
    .map((row, index) => ({ ...row, p: adjusted[index] ?? 1 }))
    .filter(({ p }) => p < level)
    .sort((a, b) => a.p - b.p || (a.runnerId < b.runnerId ? -1 : 1));
}

const test = (it: Shares): number => fisherGreater(it.failed, it.finished, it.othersFailed, it.othersFinished);

const isMuchMore = ({ failed, finished, othersFailed, othersFinished }: Shares): boolean =>
  failed * othersFinished >= LEAST_RATIO * othersFailed * finished;

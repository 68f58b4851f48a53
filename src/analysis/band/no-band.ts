/** Why there is no tolerance band of curves, and how many runs it takes. */
import { plural } from '../../domain/plural.ts';
import { toleranceRank, toleranceRunsNeeded } from '../outputs/order-statistics.ts';
import { leastWithin } from '../search.ts';
import { shareInPercent } from '../wording.ts';

export interface NoBand {
  /** In words. */
  reason: string;
  /** Runs in all, even and odd, with which there is one; null where no number of runs is known to be enough. */
  runsNeeded: number | null;
}

interface Levels {
  coverage: number;
  confidence: number;
}

/** More runs of one half than these are not looked for. */
const MOST_RUNS = 1_000_000;

/** Odd runs at least, and as many even ones. */
const leastRuns = ({ coverage, confidence }: Levels): number => 2 * toleranceRunsNeeded(coverage, confidence);

/** One half of the runs has none. */
export function emptyHalf(half: 'even' | 'odd', levels: Levels): NoBand {
  const needed = leastRuns(levels);
  return {
    reason: `the selection has no run with an ${half} id: the even ones give the centre, the odd ones its width; it takes ${needed} runs of both`,
    runsNeeded: needed,
  };
}

/** The even runs give no centre. */
export function noCentre(completed: number, levels: Levels): NoBand {
  if (completed > 0)
    return {
      reason: `at no point do 90 % of the ${plural(completed, 'completed run')} with an even id have a finite value: give points at which the runs have begun and not ended`,
      runsNeeded: null,
    };
  const needed = leastRuns(levels);
  return { reason: `no run with an even id has completed: it takes ${needed} runs in all`, runsNeeded: needed };
}

/** No rank of n odd runs has the confidence. */
export function tooFewRuns(n: number, levels: Levels): NoBand {
  const needed = leastRuns(levels);
  const has = n === 1 ? 'has' : 'have';
  return {
    reason: `${plural(n, 'run')} ${has} an odd id, and ${shareInPercent(levels.coverage)} of future runs at confidence ${levels.confidence} take ${needed / 2} of them: ${needed} runs in all`,
    runsNeeded: needed,
  };
}

/** The rank falls on a run that no band of finite width holds. */
export function infiniteScores(
  { n, rank, infinite }: { n: number; rank: number; infinite: number },
  levels: Levels,
): NoBand {
  const half = runsForInfinite(infinite / n, levels);
  const remedy =
    half === null
      ? 'with this share of them more runs give none either; repeat them, or ask for a smaller coverage'
      : `with this share of them it takes about ${2 * half} runs in all`;
  return {
    reason: `${infinite} of the ${plural(n, 'run')} with an odd id failed, have no value or leave a centre that has no width, and the band has to leave out ${n - rank} at most: ${remedy}`,
    runsNeeded: half === null ? null : 2 * half,
  };
}

/** The least number of runs of which this share may have an infinite score; null beyond `MOST_RUNS`. */
function runsForInfinite(share: number, { coverage, confidence }: Levels): number | null {
  if (share >= 1 - coverage) return null;
  const found = leastWithin(1, MOST_RUNS, (n) => {
    const rank = toleranceRank(n, coverage, confidence);
    return rank !== null && rank <= n - Math.ceil(share * n);
  });
  return found > MOST_RUNS ? null : found;
}

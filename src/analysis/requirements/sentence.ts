/** A judged requirement in one sentence. */
import { plural } from '../../domain/plural.ts';
import { requirementClaim, shareInPercent } from '../wording.ts';
import type { RequirementAnswer } from './answer.ts';
import { moreCleanRuns } from '../special/exact-bounds.ts';
import { SequentialTest } from './sequential-test.ts';
import type { Verdict } from '../../contract/types.ts';

/** The verdict as people read it. `not-shown`: more runs could show the requirement. `null`: nothing was judged. */
export const verdictWord = (verdict: Verdict | null): string =>
  verdict === 'not-shown' ? 'not enough runs' : (verdict ?? 'no verdict');

/** The verdict first, then the counts and the bound that decides, then the number of runs that would change it. */
export function requirementSentence(answer: Omit<RequirementAnswer, 'sentence'>, open: number): string {
  const { probability, confidence } = answer;
  const claim = `${requirementClaim(answer)} with probability ${shareInPercent(probability)} at ${shareInPercent(confidence)} confidence`;
  const { passed, judged, unknown } = answer;
  const unknownPart = unknown > 0 ? `, ${unknown} unknown` : '';
  return `${verdictWord(answer.verdict)}: ${claim}; ${passed} of ${plural(judged, 'run')} passed${unknownPart}${reason(answer)}${outlook(answer, open)}`;
}

function reason(answer: Omit<RequirementAnswer, 'sentence'>): string {
  if (answer.settled === 'sequential') return `, decided at run ${answer.settled_at_run_id}`;
  if (answer.verdict === 'met') return `, lower bound ${shareInPercent(answer.lower)}`;
  if (answer.verdict === 'violated') return `, upper bound ${shareInPercent(answer.upper)}`;
  if (answer.look === 'continuous') return '';
  return `, bounds ${shareInPercent(answer.lower)} and ${shareInPercent(answer.upper)}`;
}

function outlook(answer: Omit<RequirementAnswer, 'sentence'>, open: number): string {
  const { verdict, more_clean_runs: more, needed_clean_runs: needed, failures_left: left } = answer;
  if (answer.settled === 'certain') return `; the ${open === 1 ? 'open run' : `${open} open runs`} cannot change it`;
  if (verdict === 'not-shown') {
    if (more === null) return '';
    const obstacle = answer.warnings.find((it) => it.code === 'unknown-decides');
    return `; ${plural(more, 'further run')} without a failure would show it${obstacle === undefined ? '' : `; ${obstacle.message}`}`;
  }
  if (verdict !== 'open' || left === null) return '';
  if (left < 0) return `; ${outOfReach(answer, open, left)}`;
  const soonest =
    needed === null
      ? ''
      : needed === 0
        ? '; shown so far'
        : `; at the soonest after ${plural(needed, 'more passing run')}`;
  return `${soonest}, ${plural(left, 'more failure')} at most`;
}

/** Why `met` is out of reach: too few runs from the beginning, or too many failures among those that ended. */
function outOfReach(
  { judged, failed, unknown, probability, confidence, look }: Omit<RequirementAnswer, 'sentence'>,
  open: number,
  left: number,
): string {
  const allowed = left + failed + unknown;
  if (allowed >= 0)
    return `this study cannot show it: of its ${judged + open} runs ${allowed === 0 ? 'none' : `at most ${allowed}`} may fail, and ${failed + unknown} did or are unknown`;
  const least =
    look === 'once'
      ? moreCleanRuns(0, 0, probability, confidence)
      : new SequentialTest(probability, confidence).cleanRunsToMet(0, 0);
  const needed = least === null ? '' : `; it needs at least ${plural(least, 'run')} without a failure`;
  return `this study cannot show it with ${plural(judged + open, 'run')}${needed}`;
}

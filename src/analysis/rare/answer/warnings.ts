/** The warnings of an answer of a study of rare events. */
import type { UnknownRule } from '../../../contract/enums.ts';
import type { RareEventAnswer } from '../../../contract/types.ts';
import { plural } from '../../../domain/plural.ts';
import { ATTEMPT_SHARES, type Attempt } from '../confirmation.ts';
import { rareNumber } from './sentence.ts';

interface Grounds {
  attempt: Attempt | undefined;
  unknown: UnknownRule;
  /** Of an attempt. */
  confirmRuns: number;
  hasNoTimeLimit: boolean;
}

const FEW_HITS = 50;
/** A share of the estimate that one run must not have, and one of the search at which the confirmation must look. */
const DOMINATING = 0.1;
const MOST_OUTSIDE = 0.01;
const WIDE = 3;
const DISAGREEING = 5;

type Answered = Omit<RareEventAnswer, 'sentence' | 'warnings'>;
type Warnings = RareEventAnswer['warnings'];

export function rareWarnings(answer: Answered, grounds: Grounds): Warnings {
  const { estimate, lower, upper, search, largest_share: largest, found_outside: foundOutside } = answer;
  const warnings: Warnings = [];
  const warn = (code: string, message: string): void => void warnings.push({ code, message });
  if (estimate !== null && answer.reason !== 'not-rare')
    warn(
      'rare-one-study',
      'one study cannot show that it found every region: ask for all studies that were submitted together, or submit it again with another seed',
    );
  if (grounds.attempt !== undefined)
    attemptWarnings(grounds.attempt, grounds.unknown, isRepeated(answer, grounds), warn);
  if (foundOutside !== null && foundOutside > MOST_OUTSIDE)
    warn(
      'rare-found-outside',
      `the confirmation hardly looked at ${Math.round(100 * foundOutside)} % of the violations that the search found: raise tune_runs`,
    );
  const searched = search?.estimate ?? 0;
  if (answer.attempts.length > 0 && estimate !== null && estimate > 0 && searched > 0) {
    const ratio = searched / estimate;
    if (ratio > DISAGREEING || ratio < 1 / DISAGREEING)
      warn(
        'rare-search-disagrees',
        `the search alone estimates ${rareNumber(searched)}: regions were missed by the ${ratio < 1 ? 'search' : 'confirmation'}; raise population`,
      );
  }
  if (largest !== null && largest > DOMINATING)
    warn(
      'rare-one-run-dominates',
      `one run has ${Math.round(100 * largest)} % of the estimate: raise tune_runs and confirm_runs`,
    );
  if (answer.attempts.length > 0 && upper !== null && lower !== null && lower > 0 && upper / lower > WIDE)
    warn('rare-wide', `the bounds differ by a factor of ${(upper / lower).toFixed(1)}: raise confirm_runs`);
  if (grounds.hasNoTimeLimit)
    warn(
      'rare-no-time-limit',
      'runs have no time limit, and a round waits for its slowest run: set job_timeout_seconds',
    );
  return warnings;
}

/** True when a violation where hardly any was expected begins another attempt. */
const isRepeated = ({ phase, attempts, runs, budget }: Answered, { confirmRuns }: Grounds): boolean =>
  phase === 'confirm' && attempts.length < ATTEMPT_SHARES.length && runs + confirmRuns <= budget;

function attemptWarnings(
  attempt: Attempt,
  rule: UnknownRule,
  isGivenUp: boolean,
  warn: (code: string, message: string) => void,
): void {
  const { hits, unknown, outside, unknownOutside } = attempt.counts();
  const allUnknown = attempt.draws.filter((it) => it.isUnknown).length;
  if (outside > 0)
    warn(
      'rare-outside',
      `${plural(outside, 'violating run')} where hardly any was expected: ${isGivenUp ? 'a second attempt with a new proposal begins after this round' : 'there is no upper bound below the direct one; raise tune_runs'}`,
    );
  if (rule === 'unrelated' && allUnknown > 0)
    warn(
      'rare-unrelated',
      `${plural(allUnknown, 'confirming run')} without a value ${allUnknown === 1 ? 'is' : 'are'} left out, as the study states that they are unrelated to its parameters`,
    );
  else if (unknown > 0)
    warn(
      'rare-unknown',
      `${plural(unknown, 'confirming run')} ended without a value: the lower bound counts them as passing and the upper one as violating`,
    );
  if (unknownOutside > 0)
    warn(
      'rare-unknown-outside',
      `${plural(unknownOutside, 'run')} without a value might violate where hardly any violation was expected, so that there is no upper bound: mend the simulation, or state "unknown": "unrelated" where runs fail independently of their parameters`,
    );
  if (hits < FEW_HITS) warn('rare-few-hits', `only ${plural(hits, 'confirming run')} violated: raise confirm_runs`);
}

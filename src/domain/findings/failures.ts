/** Findings about failures: a study that fails everywhere, a runner that fails more than the others, many retries. */
import { plural } from '../plural.ts';
import { type FailingRunner, MOST_NAMED, type Rule, type Situation } from './finding.ts';

/** Nearly all: of the latest attempts, this share failed in the same way. */
const EVERYWHERE = 0.95;
/** Least attempts, of as many runs, from which a finding follows: fewer do not predict the next one. */
const LEAST_ATTEMPTS = 5;
const LEAST_RUNS = 3;
/** Retries are many when this share of the attempts failed and was repeated. */
const MANY_RETRIES = 0.2;
const LEAST_RETRIES = 10;

function failsEverywhere({ attempts: { recent } }: Situation): boolean {
  const { commonFailure: failure, finished } = recent;
  if (failure === undefined || finished < LEAST_ATTEMPTS || failure.attempts < EVERYWHERE * finished) return false;
  // One run that fails on every runner says nothing about the others, one runner of several nothing about the study.
  return failure.runs >= LEAST_RUNS && (failure.runners > 1 || recent.runners === 1);
}

const EVERYWHERE_RULE: Rule = {
  code: 'fails-everywhere',
  find(situation) {
    const { recent } = situation.attempts;
    const failure = recent.commonFailure;
    if (failure === undefined || !failsEverywhere(situation)) return undefined;
    const where = failure.runners === 1 ? 'on the only runner that tried' : `on ${failure.runners} runners`;
    const all = failure.attempts === recent.finished ? 'all' : `${failure.attempts} of the`;
    return {
      severity: 'doubtful',
      message: `${all} latest ${recent.finished} attempts failed in the same way, ${where}: ${failure.pattern}`,
      remedy: `see one with \`simbatch run\`, cancel the study and correct the cause${situation.isGuarded ? '' : '; set `policy.canary_runs` and `policy.max_failures`, so that such a study stops by itself after a few runs'}`,
      count: failure.attempts,
      runs: [...failure.examples],
    };
  },
};

const share = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`;

function ofRunner({ runnerId, failed, finished, othersFailed, othersFinished }: FailingRunner): string {
  return `runner ${runnerId} failed ${failed} of ${finished} attempts (${share(failed, finished)}), the others ${othersFailed} of ${othersFinished} (${share(othersFailed, othersFinished)})`;
}

const RUNNER_FAILS_MORE: Rule = {
  code: 'runner-fails-more',
  find({ failingRunners: found, attempts }) {
    const worst = found[0];
    if (worst === undefined) return undefined;
    const more = found.length > 1 ? `; ${plural(found.length - 1, 'more runner')} likewise` : '';
    return {
      severity: 'warning',
      message: `${ofRunner(worst)}${more}${attempts.isSample ? '; counted on a sample of the runs' : ''}`,
      remedy: `compare its machine with the others'; stop new work for it: simbatch drain ${worst.runnerId}, or serve with --quarantine`,
      count: found.length,
      runners: found.slice(0, MOST_NAMED).map(({ runnerId }) => runnerId),
    };
  },
};

const RETRIES_HIGH: Rule = {
  code: 'retries-high',
  find(situation) {
    const { retried, finished, isSample } = situation.attempts;
    if (retried < LEAST_RETRIES || retried < MANY_RETRIES * finished || failsEverywhere(situation)) return undefined;
    return {
      severity: 'warning',
      message: `${retried} of ${finished} attempts failed and were repeated (${share(retried, finished)})${isSample ? ', counted on a sample of the runs' : ''}`,
      remedy:
        'see the attempts of a repeated run with `simbatch run`; lower `compute.max_retries` if a repetition seldom helps',
      count: retried,
    };
  },
};

export const FAILURE_RULES: readonly Rule[] = [EVERYWHERE_RULE, RUNNER_FAILS_MORE, RETRIES_HIGH];

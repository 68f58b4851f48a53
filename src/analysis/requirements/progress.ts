/** A requirement that is judged run by run along the complete prefix: counts, and the sequential test where it is continuous. */
import { wilsonInterval } from '../groups/proportion.ts';
import type { Warning } from '../warning.ts';
import { plural } from '../../domain/plural.ts';
import type { Verdict } from '../../contract/types.ts';
import type { DecidedRequirement } from './answer.ts';
import { failuresAllowed, moreCleanRuns, showsAtLeast, showsBelow } from '../special/exact-bounds.ts';
import { oneSidedBounds } from './bounds.ts';
import type { Outcome, ParsedRequirement } from './requirement.ts';
import { requirementSentence } from './sentence.ts';
import { SequentialTest } from './sequential-test.ts';
import { type SequentialState, SequentialVerdict } from './sequential-verdict.ts';

/** All of its memory, as plain JSON; for a requirement that is looked at once, `verdict` and `settled_at_run_id` are null. */
export type RequirementState = SequentialState;

/** Counts of one stretch of runs. */
interface Counts {
  passed: number;
  failed: number;
  unknown: number;
  /** Runs that are left to come, all beyond the complete prefix. */
  open: number;
}

/** The members of an answer that the two ways of looking decide differently. */
type Decision = Pick<
  DecidedRequirement,
  | 'verdict'
  | 'settled'
  | 'settled_at_run_id'
  | 'log_e_met'
  | 'log_e_violated'
  | 'more_clean_runs'
  | 'needed_clean_runs'
  | 'failures_left'
>;

/** Limits that do not concern a sequential decision: it is a function of the runs before it alone. */
const OF_LATER_RUNS: ReadonlySet<string> = new Set(['unfinished', 'cancelled']);

/** Limits of a study whose runs decided how many there are. */
const OF_A_STOP: ReadonlySet<string> = new Set(['stopped', 'settled']);

/** Takes the outcomes of the complete prefix in run order; the answer at any time is a function of these alone. */
export class RequirementProgress {
  readonly requirement: ParsedRequirement;
  readonly #sequential: SequentialVerdict | undefined;
  readonly #counts = { pass: 0, fail: 0, unknown: 0 };

  /**
   * `state`: from `toJSON`, to continue after a restart.
   * @throws RangeError when `toJSON` cannot have given the state.
   */
  constructor(requirement: ParsedRequirement, state?: RequirementState) {
    this.requirement = requirement;
    const { look, probability, confidence } = requirement;
    if (look === 'continuous') this.#sequential = new SequentialVerdict(probability, confidence, state);
    else if (state !== undefined) this.#counts = { pass: state.passed, fail: state.failed, unknown: state.unknown };
  }

  /** True once the sequential test has decided: later runs are not judged. */
  get isSettled(): boolean {
    return this.#sequential !== undefined && this.#sequential.verdict !== null;
  }

  /** Takes the next run of the prefix. Excluded runs change nothing, nor do runs after the decision. */
  take(outcome: Exclude<Outcome, 'open'>, runId: number): void {
    if (this.#sequential !== undefined) this.#sequential.take(outcome, runId);
    else if (outcome !== 'excluded') this.#counts[outcome]++;
  }

  /** Takes so many further runs whose outcome is unknown, in one step: they decide nothing. */
  takeUnknown(runs: number): void {
    if (this.#sequential !== undefined) this.#sequential.takeUnknown(runs);
    else this.#counts.unknown += runs;
  }

  toJSON(): RequirementState {
    if (this.#sequential !== undefined) return this.#sequential.toJSON();
    const { pass: passed, fail: failed, unknown } = this.#counts;
    return { passed, failed, unknown, verdict: null, settled_at_run_id: null };
  }

  /** The verdict so far. `open`: runs beyond the prefix. `limits`: warnings about the study, which come first. */
  answer(open: number, limits: readonly Warning[]): DecidedRequirement {
    const { requirement } = this;
    const { passed, failed, unknown } = this.toJSON();
    const counts: Counts = { passed, failed, unknown, open };
    const decision =
      this.#sequential === undefined ? decideOnce(counts, requirement) : decideContinuously(counts, this.#sequential);
    const judged = passed + failed + unknown;
    const known = passed + failed;
    // An undecided sequential test whose runs are all in has the bounds of one look at the end, marked as not planned; at a stop, which depends on
    // the runs, bounds of one look do not hold.
    const isOneLook = decision.verdict === 'not-shown' && !limits.some(({ code }) => OF_A_STOP.has(code));
    const look = isOneLook ? 'once' : requirement.look;
    const [lower, upper] = oneSidedBounds({ passed, failed, unknown }, look, requirement.confidence);
    const answer: Omit<DecidedRequirement, 'sentence'> = {
      name: requirement.name,
      output: requirement.output,
      condition: requirement.condition,
      ...(requirement.all === undefined ? {} : { all: requirement.all }),
      ...(requirement.stated_at === undefined ? {} : { stated_at: requirement.stated_at }),
      probability: requirement.probability,
      confidence: requirement.confidence,
      terminated: requirement.terminated,
      look: requirement.look,
      passed,
      failed,
      unknown,
      judged,
      estimate: known === 0 ? null : passed / known,
      wilson: known === 0 ? null : wilsonInterval(passed, known, requirement.confidence),
      lower,
      upper,
      ...decision,
      warnings: [
        ...limits.filter(({ code }) => decision.settled !== 'sequential' || !OF_LATER_RUNS.has(code)),
        ...statedWarnings(requirement),
        ...(limits.some((it) => it.code === 'cancelled') ? [] : unseenOutput(requirement, known, judged)),
        ...(known === 0 || !isOneLook ? [] : unplannedBounds(requirement)),
        ...unknownWarnings(requirement, counts, decision.verdict),
      ],
    };
    return { ...answer, sentence: requirementSentence(answer, open) };
  }
}

function decideOnce(counts: Counts, { probability: p, confidence: c }: ParsedRequirement): Decision {
  const { passed, failed, unknown, open } = counts;
  const judged = passed + failed + unknown;
  const shared = { settled_at_run_id: null, log_e_met: null, log_e_violated: null };
  const verdict = onceVerdict(counts, p, c);
  const more = (): number | null => moreCleanRuns(passed, judged, p, c);
  if (open === 0) {
    const moreRuns = verdict === 'not-shown' ? more() : null;
    return {
      ...shared,
      verdict,
      settled: null,
      more_clean_runs: moreRuns,
      needed_clean_runs: null,
      failures_left: null,
    };
  }
  return {
    ...shared,
    verdict,
    settled: verdict === 'open' ? null : 'certain',
    more_clean_runs: null,
    needed_clean_runs: verdict === 'open' ? more() : null,
    failures_left: failuresAllowed(judged + open, p, c) - failed - unknown,
  };
}

/** The verdict when every run is terminal. While some are open: `open`, unless no outcome of theirs can change the verdict. */
function onceVerdict({ passed, failed, unknown, open }: Counts, p: number, c: number): Verdict {
  const n = passed + failed + unknown + open;
  if (showsAtLeast(passed, n, p, c)) return 'met';
  if (showsBelow(passed + unknown + open, n, p, c)) return 'violated';
  const isOpen = showsAtLeast(passed + open, n, p, c) || showsBelow(passed + unknown, n, p, c);
  return open > 0 && isOpen ? 'open' : 'not-shown';
}

function decideContinuously({ passed, failed, unknown, open }: Counts, sequential: SequentialVerdict): Decision {
  const { verdict, settled_at_run_id } = sequential.toJSON();
  const { met, violated } = sequential.logValues();
  const against = failed + unknown;
  const shared = { settled_at_run_id, log_e_met: met, log_e_violated: violated };
  if (verdict !== null) {
    const none = { more_clean_runs: null, needed_clean_runs: null, failures_left: null };
    return { ...shared, verdict, settled: 'sequential', ...none };
  }
  const clean = sequential.test.cleanRunsToMet(passed, against);
  if (open === 0) {
    return {
      ...shared,
      verdict: 'not-shown',
      settled: null,
      more_clean_runs: clean,
      needed_clean_runs: null,
      failures_left: null,
    };
  }
  const left = sequential.test.failuresAllowed(passed + against + open) - against;
  return {
    ...shared,
    verdict: 'open',
    settled: null,
    more_clean_runs: null,
    needed_clean_runs: clean,
    failures_left: left,
  };
}

/** A requirement that may have been chosen because of the runs that it judges. */
function statedWarnings({ name, stated_at: stated, confidence }: ParsedRequirement): Warning[] {
  if (stated === undefined) return [];
  const message = `"${name}" was stated when ${plural(stated.runs_ended, 'run')} had ended: the confidence of ${confidence} holds for a requirement that was chosen without looking at these runs`;
  return [{ code: 'stated-after-runs', message }];
}

function unseenOutput({ parts }: ParsedRequirement, known: number, judged: number): Warning[] {
  if (known > 0 || judged === 0) return [];
  return [
    {
      code: 'output-not-seen',
      message: `none of ${plural(judged, 'judged run')} has a usable number named ${parts.map((it) => it.output).join(' or ')}`,
    },
  ];
}

function unplannedBounds({ look }: ParsedRequirement): Warning[] {
  if (look === 'once') return [];
  const message = 'lower and upper are bounds for a single look, which was not planned: they decide nothing';
  return [{ code: 'bounds-not-planned', message }];
}

/** Names the unknown runs where they alone are between the counts and a verdict. */
function unknownWarnings(
  requirement: ParsedRequirement,
  { passed, failed, unknown, open }: Counts,
  verdict: Verdict,
): Warning[] {
  if (verdict !== 'not-shown' || unknown === 0 || open > 0) return [];
  const { probability: p, confidence: c, look } = requirement;
  const n = passed + failed + unknown;
  const test = new SequentialTest(p, c);
  const isMet =
    look === 'once' ? showsAtLeast(passed + unknown, n, p, c) : test.logMet(passed + unknown, failed) >= test.threshold;
  const isViolated =
    look === 'once' ? showsBelow(passed, n, p, c) : test.logViolated(passed, failed + unknown) >= test.threshold;
  const [subject, pass, fail] =
    unknown === 1
      ? ['unknown run prevents', 'it passes', 'it fails']
      : [`${unknown} unknown runs prevent`, 'all of them pass', 'all of them fail'];
  const verdicts = [...(isMet ? [`met if ${pass}`] : []), ...(isViolated ? [`violated if ${fail}`] : [])];
  if (verdicts.length === 0) return [];
  const message = `only the ${subject} a verdict: ${verdicts.join(', ')}`;
  return [{ code: 'unknown-decides', message }];
}

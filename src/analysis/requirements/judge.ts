/** Judges a requirement on the runs of a study. */
import { wilsonInterval } from '../groups/proportion.ts';
import { unfinishedWarnings, dependenceWarnings } from '../table/header.ts';
import { type RunTable, completePrefix, outputColumn, runIdOf } from '../table/run-table.ts';
import type { Warning } from '../warning.ts';
import type { Requirement, Verdict } from '../../contract/types.ts';
import type { RequirementAnswer } from './answer.ts';
import { failuresAllowed, lowerBound, moreCleanRuns, showsAtLeast, showsBelow, upperBound } from './exact-bounds.ts';
import { type Outcome, type ParsedRequirement, outcomeReader, parseRequirement } from './requirement.ts';
import { requirementSentence } from './sentence.ts';
import { SequentialTest } from './sequential-test.ts';
import { SequentialVerdict } from './sequential-verdict.ts';

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
  RequirementAnswer,
  | 'verdict'
  | 'settled'
  | 'settled_at_run_id'
  | 'log_e_met'
  | 'log_e_violated'
  | 'more_clean_runs'
  | 'needed_clean_runs'
  | 'failures_left'
> & { counts: Counts };

/**
 * The verdict on one requirement. While runs are open it depends on the complete prefix alone.
 * @throws RangeError when the requirement is not usable; the message begins with the member's name.
 */
export function judgeRequirement(table: RunTable, requirement: Requirement): RequirementAnswer {
  const parsed = parseRequirement(requirement);
  if (typeof parsed === 'string') throw new RangeError(`requirement "${requirement.name}" is not usable: ${parsed}`);
  const { counts, ...decision } = parsed.look === 'once' ? judgeOnce(table, parsed) : judgeContinuously(table, parsed);
  const { passed, failed, unknown } = counts;
  const judged = passed + failed + unknown;
  const known = passed + failed;
  const answer: Omit<RequirementAnswer, 'sentence'> = {
    name: parsed.name,
    output: parsed.output,
    condition: parsed.condition,
    probability: parsed.probability,
    confidence: parsed.confidence,
    terminated: parsed.terminated,
    look: parsed.look,
    passed,
    failed,
    unknown,
    judged,
    estimate: known === 0 ? null : passed / known,
    wilson: known === 0 ? null : wilsonInterval(passed, known, parsed.confidence),
    lower: lowerBound(passed, judged, parsed.confidence),
    upper: upperBound(passed + unknown, judged, parsed.confidence),
    ...decision,
    warnings: [...warningsOf(table, parsed, decision.verdict), ...unknownWarnings(parsed, counts, decision.verdict)],
  };
  return { ...answer, sentence: requirementSentence(answer, counts.open) };
}

function judgeOnce(table: RunTable, requirement: ParsedRequirement): Decision {
  const { probability: p, confidence: c } = requirement;
  const counts = countOutcomes(table, outcomeReader(table, requirement));
  const { passed, failed, unknown, open } = counts;
  const judged = passed + failed + unknown;
  const n = judged + open;
  const shared = { counts, settled_at_run_id: null, log_e_met: null, log_e_violated: null };
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
    failures_left: failuresAllowed(n, p, c) - failed - unknown,
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

function countOutcomes(table: RunTable, outcomeOf: (row: number) => Outcome): Counts {
  const prefix = completePrefix(table);
  const counts: Record<Outcome, number> = { open: 0, pass: 0, fail: 0, unknown: 0, excluded: 0 };
  for (let row = 0; row < prefix; row++) counts[outcomeOf(row)]++;
  return { passed: counts.pass, failed: counts.fail, unknown: counts.unknown, open: table.rows - prefix };
}

function judgeContinuously(table: RunTable, requirement: ParsedRequirement): Decision {
  const outcomeOf = outcomeReader(table, requirement);
  const sequential = new SequentialVerdict(requirement.probability, requirement.confidence);
  const prefix = completePrefix(table);
  for (let row = 0; row < prefix && sequential.verdict === null; row++) {
    const outcome = outcomeOf(row);
    if (outcome !== 'open') sequential.take(outcome, runIdOf(table, row));
  }
  const { passed, failed, unknown, verdict, settled_at_run_id } = sequential.toJSON();
  const { met, violated } = sequential.logValues();
  const against = failed + unknown;
  const open = table.rows - prefix;
  const shared = {
    counts: { passed, failed, unknown, open },
    settled_at_run_id,
    log_e_met: met,
    log_e_violated: violated,
  };
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

function warningsOf(table: RunTable, { output, look }: ParsedRequirement, verdict: Verdict): Warning[] {
  const warnings = [...unfinishedWarnings(table), ...dependenceWarnings(table.method)];
  if (outputColumn(table, output) === undefined)
    warnings.push({ code: 'output-not-seen', message: `no run has reported a number named ${output}` });
  if (look === 'continuous' && verdict === 'not-shown') {
    const message = 'lower and upper are bounds for a single look, which was not planned: they decide nothing';
    warnings.push({ code: 'bounds-not-planned', message });
  }
  return warnings;
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

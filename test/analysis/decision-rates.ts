/** The exact error of a decision rule that looks after every run, by dynamic programming over the number of failures. */
import { showsAtLeast, showsBelow } from '../../src/analysis/special/exact-bounds.ts';
import { SequentialTest } from '../../src/analysis/requirements/sequential-test.ts';

/** Whether a rule decides after these counts. With one more pass `met` must not turn false, with one more failure `violated`. */
export interface DecisionRule {
  isMet(passed: number, failed: number): boolean;
  isViolated(passed: number, failed: number): boolean;
}

export interface DecisionRates {
  /** The probability that the rule decides so within the number of looks. */
  met: number;
  violated: number;
  /** The expected number of judged runs, at most the number of looks. */
  expectedRuns: number;
}

/** Called for each way to decide: its counts and its probability. */
type OnDecision = (verdict: 'met' | 'violated', passed: number, failed: number, mass: number) => void;

/** `truth`: the probability that a run passes. The first decision is final. */
export function decisionRates(
  rule: DecisionRule,
  truth: number,
  looks: number,
  onDecision: OnDecision = () => {},
): DecisionRates {
  /** `mass[f]`: the probability of being undecided with f failures. */
  let mass = new Float64Array(looks + 2);
  mass[0] = 1;
  const rates = { met: 0, violated: 0, expectedRuns: 0 };
  // With up to `fewest` failures n runs decide `met`, from `most` on `violated`; neither ever shrinks with n.
  let fewest = -1;
  let most = 0;
  let [first, last] = [0, 0];
  for (let n = 1; n <= looks; n++) {
    const next = new Float64Array(looks + 2);
    let undecided = 0;
    for (let f = first; f <= last; f++) {
      undecided += mass[f]!;
      next[f]! += mass[f]! * truth;
      next[f + 1]! += mass[f]! * (1 - truth);
    }
    rates.expectedRuns += undecided;
    last++;
    while (fewest < n && rule.isMet(n - fewest - 1, fewest + 1)) fewest++;
    while (most <= n && !rule.isViolated(n - most, most)) most++;
    for (; first <= Math.min(fewest, last); first++) {
      rates.met += next[first]!;
      onDecision('met', n - first, first, next[first]!);
    }
    for (; last >= Math.max(most, first); last--) {
      rates.violated += next[last]!;
      onDecision('violated', n - last, last, next[last]!);
    }
    mass = next;
  }
  return rates;
}

/** The sequential test as a rule. */
export function sequentialRule(probability: number, confidence: number): DecisionRule {
  const test = new SequentialTest(probability, confidence);
  return {
    isMet: (passed, failed) => test.logMet(passed, failed) >= test.threshold,
    isViolated: (passed, failed) => test.logViolated(passed, failed) >= test.threshold,
  };
}

/** The bounds for one look, taken after every run all the same: the error that the sequential test prevents. */
export function repeatedBoundsRule(probability: number, confidence: number): DecisionRule {
  return {
    isMet: (passed, failed) => showsAtLeast(passed, passed + failed, probability, confidence),
    isViolated: (passed, failed) => showsBelow(passed, passed + failed, probability, confidence),
  };
}

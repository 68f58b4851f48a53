/** Verdicts on requirements: which runs count, when a verdict is given, and its wording. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Requirement, TerminatedRule } from '../../../src/contract/types.ts';
import type { RequirementAnswer } from '../../../src/analysis/requirements/answer.ts';
import { judgeRequirement } from '../../../src/analysis/requirements/judge.ts';
import { type Outcome, parseRequirement } from '../../../src/analysis/requirements/requirement.ts';
import { SequentialTest } from '../../../src/analysis/requirements/sequential-test.ts';
import { type SequentialState, SequentialVerdict } from '../../../src/analysis/requirements/sequential-verdict.ts';
import { judgeStudy } from '../../../src/analysis/requirements/verdicts.ts';
import { type Run, tableOf, times } from '../tables.ts';

const PASS = 1;
const FAIL = 9;

const requirement = (more: Partial<Requirement> = {}): Requirement => ({
  name: 'miss',
  output: 'y',
  condition: '< 5',
  probability: 0.95,
  ...more,
});

const judge = (runs: readonly Run[], more: Partial<Requirement> = {}): RequirementAnswer =>
  judgeRequirement(tableOf(runs), requirement(more));

describe('analysis/requirements: verdicts', () => {
  it('a requirement looked at once is judged when every run is terminal', () => {
    const rows: [string, Run[], Partial<Requirement>, Partial<RequirementAnswer>][] = [
      ['59 clean runs', times(59, PASS), {}, { verdict: 'met', passed: 59, failed: 0, judged: 59, estimate: 1 }],
      ['58 clean runs', times(58, PASS), {}, { verdict: 'not-shown', more_clean_runs: 1 }],
      ['no runs', [], {}, { verdict: 'not-shown', judged: 0, estimate: null, wilson: null, more_clean_runs: 59 }],
      ['mostly failing', [...times(5, PASS), ...times(5, FAIL)], {}, { verdict: 'violated', failed: 5 }],
      [
        'terminated runs fail',
        [...times(59, PASS), 'terminated'],
        {},
        { verdict: 'not-shown', failed: 1, more_clean_runs: 33 },
      ],
      ['or are unknown', [...times(59, PASS), 'terminated'], { terminated: 'unknown' }, { failed: 0, unknown: 1 }],
      [
        'or are excluded',
        [...times(59, PASS), 'terminated'],
        { terminated: 'exclude' },
        { verdict: 'met', judged: 59 },
      ],
      [
        'runs without an answer are unknown and count against either verdict',
        ['crashed', 'timeout', 'lost', 'cancelled', NaN, ...times(3, PASS)],
        { probability: 0.5 },
        { verdict: 'not-shown', unknown: 5, passed: 3, judged: 8 },
      ],
      [
        'a run whose telemetry was lost under a rule is unknown',
        [{ status: 'Completed', outputs: [['y', PASS]], telemetryLost: true }],
        {},
        { unknown: 1, passed: 0 },
      ],
      [
        'a boolean output is 0 or 1',
        [{ status: 'Completed', outputs: [['y', true]] }],
        { condition: '== 1' },
        { passed: 1 },
      ],
      [
        'the execution time is an output',
        [{ status: 'Completed', executionSecs: 2 }],
        { output: 'execution_secs' },
        { passed: 1 },
      ],
    ];
    for (const [label, runs, more, expected] of rows) expect(judge(runs, more), label).to.include(expected);
  });

  it('the unknown runs are named where they alone prevent a verdict', () => {
    const answer = judge([...times(58, PASS), 'lost']);
    expect(answer).to.include({ verdict: 'not-shown', unknown: 1 });
    expect(answer.warnings.map((it) => it.code)).to.deep.equal(['unknown-decides']);
    expect(answer.sentence).to.match(/; only the unknown run prevents a verdict: met if it passes$/);
    expect(judge([...times(30, PASS), 'lost']).warnings).to.deep.equal([]);
  });

  it('while runs are open, the verdict is given only if they cannot change it', () => {
    const rows: [string, Run[], Partial<RequirementAnswer>][] = [
      ['nothing yet', times(60, 'open'), { verdict: 'open', settled: null, needed_clean_runs: 59, failures_left: 0 }],
      ['too small', times(50, 'open'), { verdict: 'open', failures_left: -1 }],
      [
        'nearly',
        [...times(58, PASS), ...times(4, 'open')],
        { verdict: 'open', needed_clean_runs: 1, failures_left: 0 },
      ],
      [
        'one failure too many',
        [...times(59, PASS), FAIL, 'open'],
        { verdict: 'not-shown', settled: 'certain', failures_left: -1, more_clean_runs: null },
      ],
      [
        'met',
        [...times(300, PASS), ...times(2, 'open')],
        { verdict: 'met', settled: 'certain', needed_clean_runs: null },
      ],
      ['violated', [...times(30, FAIL), ...times(2, 'open')], { verdict: 'violated', settled: 'certain' }],
      [
        'runs after an open one are taken as open',
        [...times(58, PASS), 'open', ...times(100, PASS)],
        { verdict: 'open', passed: 58, judged: 58 },
      ],
    ];
    for (const [label, runs, expected] of rows) expect(judge(runs), label).to.include(expected);
  });

  it('a certain verdict is the final one, whatever the open runs do', () => {
    const closed = fc.constantFrom<Run>(PASS, FAIL, 'terminated', 'crashed', 'cancelled');
    const terminated = fc.constantFrom<TerminatedRule>('fail', 'unknown', 'exclude');
    let certain = 0;
    fc.assert(
      fc.property(
        fc.array(closed, { maxLength: 30 }),
        fc.array(closed, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(0.3, 0.5, 0.7, 0.9),
        terminated,
        (first, rest, probability, rule) => {
          const more = { probability, confidence: 0.7, terminated: rule };
          const early = judge([...first, ...times(rest.length, 'open')], more);
          if (early.settled !== 'certain') return;
          certain++;
          expect(judge([...first, ...rest], more).verdict).to.equal(early.verdict);
        },
      ),
      { numRuns: 500 },
    );
    expect(certain).to.be.above(20);
  });

  it('a requirement looked at continuously is settled by the first decision, and later runs are not judged', () => {
    const settled = judge([...times(30, PASS), ...times(30, FAIL)], {
      look: 'continuous',
      probability: 0.9,
      confidence: 0.9,
    });
    expect(settled).to.include({
      verdict: 'met',
      settled: 'sequential',
      settled_at_run_id: 24,
      passed: 25,
      judged: 25,
    });
    expect(settled.log_e_met).to.be.at.least(Math.log(10));
    const table = tableOf(times(30, FAIL), { runIds: Uint32Array.from({ length: 30 }, (_, i) => 100 + 2 * i) });
    const violated = judgeRequirement(table, requirement({ look: 'continuous' }));
    expect(violated).to.include({ verdict: 'violated', settled: 'sequential', failed: 2, settled_at_run_id: 102 });
  });

  it('an undecided continuous requirement is open, or not shown with bounds that are marked as not planned', () => {
    const open = judge([...times(20, PASS), ...times(80, 'open')], {
      look: 'continuous',
      probability: 0.9,
      confidence: 0.9,
    });
    expect(open).to.include({ verdict: 'open', settled: null, needed_clean_runs: 5 });
    expect(open.failures_left).to.be.within(0, 5);
    const ended = judge(times(23, PASS), { look: 'continuous', probability: 0.9, confidence: 0.9 });
    expect(ended).to.include({ verdict: 'not-shown', more_clean_runs: 2, needed_clean_runs: null });
    expect(ended.warnings.map((it) => it.code)).to.deep.equal(['bounds-not-planned']);
    // One planned look at 23 clean runs would have shown it.
    expect(ended.lower).to.be.above(0.9);
  });

  it('the sentence begins with the verdict and names the counts', () => {
    const rows: [Run[], Partial<Requirement>, RegExp][] = [
      [
        times(59, PASS),
        {},
        /^met: y < 5 with probability 95 % at 95 % confidence; 59 of 59 runs passed, lower bound 95.05 %$/,
      ],
      [times(58, PASS), {}, /^not enough runs: .*; 1 further run without a failure would show it$/],
      [times(8, FAIL), {}, /^violated: .* 0 of 8 runs passed, upper bound 31.2 %$/],
      [
        [...times(20, PASS), ...times(80, 'open')],
        {},
        /^open: .*at the soonest after 39 more passing runs, 1 more failure at most$/,
      ],
      [[...times(90, PASS), ...times(110, 'open')], {}, /^open: .*; shown so far, \d+ more failures at most$/],
      [[...times(59, PASS), FAIL, 'open'], {}, /^not enough runs: .*; the open run cannot change it$/],
      [
        [PASS, ...times(9, 'open')],
        {},
        /; this study cannot show it with 10 runs; it needs at least 59 runs without a failure$/,
      ],
      [
        [PASS, ...times(9, 'open')],
        { look: 'continuous' },
        /; this study cannot show it with 10 runs; it needs at least 6\d runs without a failure$/,
      ],
      [
        [FAIL, 'crashed', ...times(60, 'open')],
        {},
        /; this study cannot show it: of its 62 runs none may fail, and 2 did or are unknown$/,
      ],
      [
        [FAIL, FAIL, ...times(98, 'open')],
        {},
        /; this study cannot show it: of its 100 runs at most 1 may fail, and 2 did or are unknown$/,
      ],
      [times(30, PASS), { look: 'continuous', probability: 0.9, confidence: 0.9 }, /, decided at run 24$/],
    ];
    for (const [runs, more, pattern] of rows) expect(judge(runs, more).sentence).to.match(pattern);
  });

  it('designs that are not of independent runs, and outputs that were never seen, are said', () => {
    const table = tableOf(times(3, PASS), { method: 'latin_hypercube' });
    expect(judgeRequirement(table, requirement()).warnings[0]?.code).to.equal('not-independent');
    const chosen = tableOf(times(3, PASS), { method: 'table' });
    expect(judgeRequirement(chosen, requirement()).warnings.map((it) => it.code)).to.deep.equal([
      'assumes-independent-rows',
    ]);
    expect(judge(times(3, PASS), { output: 'z' }).warnings[0]?.code).to.equal('output-not-seen');
    expect(judge([PASS, 'open']).warnings[0]?.code).to.equal('unfinished');
  });

  it('all requirements of a study are one answer about the complete prefix', () => {
    const answer = judgeStudy(tableOf([PASS, FAIL, 'open', PASS]), [requirement(), requirement({ name: 'other' })]);
    expect(answer).to.deep.include({ of: 4, n_used: 2, excluded: { after_prefix: 2 }, prefix: { length: 2, of: 4 } });
    expect(answer.requirements.map((it) => it.name)).to.deep.equal(['miss', 'other']);
  });

  it('a requirement that is not usable is refused with the member, its value and a remedy', () => {
    const rows: [Partial<Requirement>, RegExp][] = [
      [{ probability: 99 }, /^probability is 99: .*; give 0.95 for 95 %$/],
      [{ probability: NaN }, /^probability is NaN/],
      [{ confidence: 1 }, /^confidence is 1: /],
      [{ condition: '= 3' }, /^condition "= 3" is not a condition/],
      [{ terminated: 'ignore' as never }, /^terminated is "ignore": expected one of fail, unknown, exclude$/],
      [{ look: 'often' as never }, /^look is "often": expected one of once, continuous$/],
    ];
    for (const [more, pattern] of rows) {
      expect(parseRequirement(requirement(more))).to.match(pattern);
      expect(() => judge([], more)).to.throw(RangeError, 'requirement "miss" is not usable');
    }
  });
});

describe('analysis/requirements: the incremental verdict', () => {
  const outcomes = fc.array(
    fc.constantFrom<Exclude<Outcome, 'open'>>('pass', 'pass', 'pass', 'pass', 'fail', 'unknown', 'excluded'),
    {
      maxLength: 400,
    },
  );

  /** Looks after every run, as the definition says. */
  function decideByEvaluation(runs: readonly Outcome[], probability: number, confidence: number): SequentialState {
    const test = new SequentialTest(probability, confidence);
    const state: SequentialState = { passed: 0, failed: 0, unknown: 0, verdict: null, settled_at_run_id: null };
    for (const [runId, outcome] of runs.entries()) {
      if (outcome === 'excluded') continue;
      if (outcome === 'pass') state.passed++;
      else if (outcome === 'fail') state.failed++;
      else state.unknown++;
      if (test.logMet(state.passed, state.failed + state.unknown) >= test.threshold) state.verdict = 'met';
      else if (test.logViolated(state.passed + state.unknown, state.failed) >= test.threshold)
        state.verdict = 'violated';
      if (state.verdict === null) continue;
      state.settled_at_run_id = runId;
      break;
    }
    return state;
  }

  it('decides at the same run as an evaluation after every run, also when it is stored and restored at any moment', () => {
    const decided: Record<string, number> = {};
    fc.assert(
      fc.property(
        outcomes,
        fc.constantFrom(0.3, 0.5, 0.7, 0.9, 0.99),
        fc.constantFrom(0.6, 0.9),
        fc.nat(50),
        (runs, p, c, every) => {
          const expected = decideByEvaluation(runs, p, c);
          let verdict = new SequentialVerdict(p, c);
          for (const [runId, outcome] of runs.entries()) {
            verdict.take(outcome, runId);
            if (runId % (every + 1) === every)
              verdict = new SequentialVerdict(p, c, JSON.parse(JSON.stringify(verdict)) as SequentialState);
          }
          expect(verdict.toJSON()).to.deep.equal(expected);
          decided[expected.verdict ?? 'none'] = (decided[expected.verdict ?? 'none'] ?? 0) + 1;
        },
      ),
      { numRuns: 300 },
    );
    expect(Object.keys(decided)).to.have.members(['met', 'violated', 'none']);
  });

  it('agrees with the verdict on the whole table', () => {
    fc.assert(
      fc.property(outcomes, fc.constantFrom(0.5, 0.8, 0.9), (all, probability) => {
        const as: Record<string, Run> = { pass: PASS, fail: FAIL, unknown: 'lost', excluded: 'terminated' };
        const more = { look: 'continuous', terminated: 'exclude', probability, confidence: 0.9 } as const;
        const batch = judge(
          all.map((it) => as[it]!),
          more,
        );
        const verdict = new SequentialVerdict(probability, 0.9);
        for (const [runId, outcome] of all.entries()) verdict.take(outcome, runId);
        const { passed, failed, unknown, settled_at_run_id } = verdict.toJSON();
        expect(batch).to.include({ passed, failed, unknown, settled_at_run_id });
        expect(batch.verdict).to.equal(verdict.verdict ?? 'not-shown');
        expect([batch.log_e_met, batch.log_e_violated]).to.deep.equal(Object.values(verdict.logValues()));
      }),
    );
  });

  it('refuses a stored state that it cannot have written', () => {
    const state = new SequentialVerdict(0.9, 0.9).toJSON();
    for (const broken of [
      { passed: -1 },
      { failed: 1.5 },
      { verdict: 'met' },
      { settled_at_run_id: 3 },
      { verdict: 'perhaps' },
    ])
      expect(() => new SequentialVerdict(0.9, 0.9, { ...state, ...broken } as SequentialState)).to.throw(
        RangeError,
        'not usable',
      );
  });

  it('the course has the figures that a study of the first n runs would have', () => {
    const runs: Run[] = Array.from({ length: 500 }, (_, i) => (i % 17 === 3 ? FAIL : i % 50 === 7 ? 'crashed' : PASS));
    const wanted = requirement({ probability: 0.9, confidence: 0.9 });
    const [{ course } = { course: [] }] = judgeStudy(tableOf([...runs, 'open', PASS]), [wanted]).requirements;
    expect(course.length).to.be.within(32, 64);
    expect(course.at(-1)!.n).to.equal(500);
    for (const { n, estimate, lower, upper } of course) {
      const alone = judgeRequirement(tableOf(runs.slice(0, n)), wanted);
      expect({ estimate, lower, upper }).to.deep.equal({
        estimate: alone.estimate,
        lower: alone.lower,
        upper: alone.upper,
      });
    }
  });

  it('the course ends at the run that decides, and is empty without runs', () => {
    const courseOf = (runs: readonly Run[], more: Partial<Requirement>) =>
      judgeStudy(tableOf(runs), [requirement(more)]).requirements[0]!;
    const { course, settled_at_run_id: settled } = courseOf(times(400, PASS), { look: 'continuous' });
    expect(course.at(-1)!.n).to.equal(settled! + 1);
    expect(courseOf(['open', PASS], {}).course).to.deep.equal([]);
    const unknown = courseOf(['crashed', PASS], {}).course;
    expect(unknown[0]).to.deep.equal({ n: 1, estimate: null, lower: 0, upper: 1 });
  });
});

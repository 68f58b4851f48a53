/** Findings about failures: one row per situation, from attempts that are counted one by one. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { AttemptTally, RECENT, type FinishedAttempt } from '../../../src/domain/runs/attempt-tally.ts';
import { findingsOf } from '../../../src/domain/findings/findings.ts';
import type { Situation } from '../../../src/domain/findings/finding.ts';
import { situation } from './support.ts';

interface Sketch {
  run: number;
  on: string;
  error?: string;
  retried?: boolean;
}

function tallied(attempts: readonly Sketch[], isSample = false): Situation['attempts'] {
  return talliedFrom(finished(attempts), isSample);
}

/** The attempts end one after the other. */
const finished = (attempts: readonly Sketch[]): FinishedAttempt[] =>
  attempts.map(({ run, on, error, retried = false }, at) => ({
    runId: run,
    attempt: at + 1,
    runnerId: on,
    endedMs: at,
    failure: error,
    isRetried: retried,
    durationMs: 1,
  }));

function talliedFrom(attempts: readonly FinishedAttempt[], isSample = false): Situation['attempts'] {
  const tally = new AttemptTally(isSample);
  for (const it of attempts) tally.add(it);
  return tally.summary();
}

/** So many attempts of consecutive runs, on the runners in turn. */
const attempts = (count: number, runners: number, error?: (run: number) => string | undefined): Sketch[] =>
  Array.from({ length: count }, (_, run) => {
    const message = error?.(run);
    return { run, on: `r${run % runners}`, ...(message === undefined ? {} : { error: message }) };
  });
const missing = (run: number): string => `run ${run}: no such file: /opt/sim/${run}.py`;
const EVERYWHERE = (count: string, where: string): string =>
  `doubtful fails-everywhere: ${count} attempts failed in the same way, ${where}: run …: no such file: …`;
const failing = { runnerId: 'r7', failed: 30, finished: 40, othersFailed: 4, othersFinished: 400 };

const TABLE: [string, Partial<Situation>, string[]][] = [
  ['nothing has run', {}, []],
  ['every attempt succeeds', { attempts: tallied(attempts(100, 3)) }, []],
  [
    'every attempt fails in the same way on several runners',
    { attempts: tallied(attempts(6, 2, missing)) },
    [EVERYWHERE('all latest 6', 'on 2 runners')],
  ],
  [
    'every attempt fails on the only runner',
    { attempts: tallied(attempts(5, 1, missing)) },
    [EVERYWHERE('all latest 5', 'on the only runner that tried')],
  ],
  ['too few attempts', { attempts: tallied(attempts(4, 2, missing)) }, []],
  [
    'one run fails again and again',
    { attempts: tallied([1, 2, 3, 4, 5, 6].map((it) => ({ run: 9, on: `r${it}`, error: missing(9), retried: true }))) },
    [],
  ],
  [
    'every attempt fails on one runner of two',
    { attempts: tallied([...attempts(60, 1, missing), { run: 60, on: 'r9' }]) },
    [],
  ],
  [
    'all but a few fail in the same way',
    { attempts: tallied(attempts(100, 3, (run) => (run < 5 ? undefined : missing(run)))) },
    [EVERYWHERE('95 of the latest 100', 'on 3 runners')],
  ],
  ['nearly half succeed', { attempts: tallied(attempts(100, 3, (run) => (run < 45 ? undefined : missing(run)))) }, []],
  [
    'the failures differ',
    { attempts: tallied(attempts(100, 3, (run) => (run % 2 === 0 ? 'out of memory' : missing(run)))) },
    [],
  ],
  [
    'a study fails everywhere after a good start',
    { attempts: tallied(attempts(1000, 3, (run) => (run < 1000 - RECENT ? undefined : missing(run)))) },
    [EVERYWHERE(`all latest ${RECENT}`, 'on 3 runners')],
  ],
  [
    'repeated failures everywhere are one finding',
    { attempts: tallied(attempts(60, 3, missing).map((it) => ({ ...it, retried: true }))) },
    [EVERYWHERE('all latest 60', 'on 3 runners')],
  ],
  [
    'many retries',
    { attempts: tallied(attempts(50, 3).map((it) => (it.run < 10 ? { ...it, error: 'broke', retried: true } : it))) },
    ['warning retries-high: 10 of 50 attempts failed and were repeated (20 %)'],
  ],
  [
    'few retries',
    { attempts: tallied(attempts(51, 3).map((it) => (it.run < 10 ? { ...it, error: 'broke', retried: true } : it))) },
    [],
  ],
  [
    'one runner fails more',
    { failingRunners: [failing] },
    ['warning runner-fails-more: runner r7 failed 30 of 40 attempts (75 %), the others 4 of 400 (1 %)'],
  ],
  [
    'several runners fail more, on a sample',
    { failingRunners: [failing, failing, failing], attempts: tallied(attempts(9, 3), true) },
    [
      'warning runner-fails-more: runner r7 failed 30 of 40 attempts (75 %), the others 4 of 400 (1 %); 2 more runners likewise; counted on a sample of the runs',
    ],
  ],
];

describe('domain/findings/failures', () => {
  for (const [name, given, expected] of TABLE) {
    it(name, () => {
      for (const batchStatus of ['Running', 'Completed'] as const) {
        const found = findingsOf(situation({ Completed: 1 }, [], { batchStatus, ...given }));
        expect(found.map(({ severity, code, message }) => `${severity} ${code}: ${message}`)).to.deep.equal(expected);
        for (const { remedy } of found) expect(remedy).to.be.a('string').that.is.not.empty;
      }
    });
  }

  it('advises canary runs and max_failures where the study has neither, and names runs', () => {
    const given = { attempts: tallied(attempts(6, 2, missing)) };
    const [unguarded] = findingsOf(situation({}, [], given));
    expect(unguarded?.remedy).to.contain('`policy.canary_runs` and `policy.max_failures`');
    expect(unguarded).to.deep.include({ count: 6, runs: [0, 1, 2, 3, 4, 5] });
    const [guarded] = findingsOf(situation({}, [], { ...given, isGuarded: true }));
    expect(guarded?.remedy).to.not.contain('policy');
  });

  it('keeps in the pattern the parts that all messages of the latest attempts have', () => {
    const exits = (count: number, status: number): Sketch[] =>
      attempts(count, 2, (run) => `step ${run}: exit status ${status}`);
    const patternOf = (sketches: readonly Sketch[]): string | undefined =>
      tallied(sketches).recent.commonFailure?.pattern;
    expect(patternOf(exits(1, 137))).to.equal('step …: exit status …');
    expect(patternOf(exits(6, 137))).to.equal('step …: exit status 137');
    expect(patternOf([...exits(6, 137), ...exits(1, 139)])).to.equal('step …: exit status …');
    // Attempts of another failure take the place of all of the first one, which then begins anew.
    const others = attempts(RECENT, 2, missing);
    expect(patternOf([...exits(6, 139), ...others])).to.equal('run …: no such file: …');
    expect(patternOf([...exits(6, 139), ...others, ...exits(RECENT, 137)])).to.equal('step …: exit status 137');
  });

  it('counts the attempts of each failure among the latest ones alone', () => {
    const kind = fc.constantFrom(undefined, 'cannot trim', 'cannot converge', 'cannot load');
    fc.assert(
      fc.property(fc.array(kind, { maxLength: 3 * RECENT, size: 'max' }), (errors) => {
        const { recent } = tallied(attempts(errors.length, 3, (run) => errors[run]));
        const latest = errors.slice(-RECENT).filter((it) => it !== undefined);
        const counts = ['cannot trim', 'cannot converge', 'cannot load'].map(
          (it) => latest.filter((e) => e === it).length,
        );
        expect(recent.commonFailure?.attempts ?? 0).to.equal(Math.max(...counts));
        const { pattern, attempts: count = 0 } = recent.commonFailure ?? {};
        expect(latest.filter((it) => it === pattern).length).to.equal(count);
      }),
      { numRuns: 50 },
    );
  });

  it('depends on the attempts alone, and not on the order in which they are added or on repetitions', () => {
    const sketch = fc.record({
      runId: fc.nat(400),
      attempt: fc.integer({ min: 1, max: 3 }),
      endedMs: fc.nat(60),
      runnerId: fc.constantFrom('a', 'b'),
      failure: fc.constantFrom(
        undefined,
        'exit status 137 at 5',
        'exit status 137 at 6',
        'lost license 7',
        '… at 5',
        '5 at 5',
      ),
      isRetried: fc.boolean(),
      durationMs: fc.constant(1),
    });
    const lists = fc.uniqueArray(sketch, {
      maxLength: 2 * RECENT,
      size: 'max',
      selector: ({ runId, attempt }) => `${runId}/${attempt}`,
    });
    fc.assert(
      fc.property(
        lists.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
        ([list, shuffled]) => {
          const inOrder = list.toSorted((a, b) => a.endedMs - b.endedMs || a.runId - b.runId || a.attempt - b.attempt);
          const expected = talliedFrom(inOrder);
          expect(talliedFrom(shuffled)).to.deep.equal(expected);
          expect(talliedFrom([...inOrder, ...inOrder.slice(-RECENT)])).to.deep.equal(expected);
          expect(talliedFrom(inOrder.slice(-RECENT)).recent).to.deep.equal(expected.recent);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('counts a bounded number of attempts and examples of a study of any size', () => {
    const { recent, finished: all } = tallied(attempts(10_000, 50, missing));
    expect(all).to.equal(10_000);
    expect(recent.finished).to.equal(RECENT);
    expect(recent.commonFailure).to.deep.include({ attempts: RECENT, runs: RECENT, runners: 50 });
    expect(recent.commonFailure?.examples).to.have.lengthOf(10);
  });
});

/** Findings about limits that were not really checked: one row per situation. */
import { expect } from 'chai';
import type { BatchTelemetry } from '../../../src/contract/types.ts';
import { conditionVariables } from '../../../src/domain/study/condition.ts';
import type { Situation } from '../../../src/domain/findings/finding.ts';
import { findingsOf } from '../../../src/domain/findings/findings.ts';
import { situation as situationOf } from './support.ts';

function limits(...variables: string[]): Situation['earlyTermination'] {
  const conditions = variables.map((variable) => ({ variable, condition: '< 0', description: '' }));
  return { enabled: true, check_frequency_hz: 10, conditions };
}

function situation(
  completed: number,
  telemetry: Partial<BatchTelemetry> | undefined,
  rest: Partial<Situation> = {},
): Situation {
  const none = { silent_runs: 0, lossy_runs: 0, samples_lost: 0, would_terminate_runs: 0, judged: [] };
  return situationOf({ Completed: completed }, [], {
    batchStatus: 'Completed',
    earlyTermination: limits('altitude', 'speed', 'altitude'),
    telemetry: telemetry === undefined ? undefined : { reported_runs: completed, ...none, ...telemetry },
    ...rest,
  });
}
const seen = (...variables: string[]) => variables.map((variable) => ({ variable, runs: 1 }));

const TABLE: [name: string, situation: Situation, findings: string[]][] = [
  ['every limit was judged', situation(3, { judged: seen('speed', 'altitude') }), []],
  ['nothing has ended', situation(0, undefined), []],
  [
    'one limit was never judged',
    situation(1, { judged: seen('speed') }),
    ['doubtful condition-never-seen 1: the limit on "altitude" was never checked: none of 1 run sent a number of it'],
  ],
  [
    'no telemetry at all',
    situation(3, { silent_runs: 3 }),
    [
      'doubtful condition-never-seen 2: the limit on "altitude", "speed" was never checked: none of 3 runs sent a number of them',
      'doubtful telemetry-absent 3: no telemetry came from 3 runs',
    ],
  ],
  ['some runs are silent', situation(3, { silent_runs: 2, judged: seen('speed', 'altitude') }), []],
  [
    'samples were lost',
    situation(3, { lossy_runs: 1, samples_lost: 326_000, judged: seen('speed', 'altitude') }),
    ['doubtful telemetry-lost 1: 1 run lost 326000 samples before any condition saw them'],
  ],
  [
    'samples were lost of which histories are computed',
    situation(
      3,
      { lossy_runs: 1, samples_lost: 7 },
      { earlyTermination: limits(), declared: { histories: [{ variable: 'nz_g', at: { points: [0] } }] } },
    ),
    ['doubtful telemetry-lost 1: 1 run lost 7 samples before any history or derived output saw them'],
  ],
  [
    'samples were lost of which nothing is computed',
    situation(3, { lossy_runs: 1, samples_lost: 7 }, { earlyTermination: limits() }),
    [],
  ],
  [
    'no runner reports',
    situation(3, undefined),
    [
      'doubtful telemetry-unreported 3: none of 3 ended runs has reported which variables came: whether their limits were checked is unknown',
    ],
  ],
  [
    'one run of many was not reported',
    situation(3, { reported_runs: 2, judged: seen('speed', 'altitude') }),
    [
      'fine telemetry-unreported 1: 1 of 3 ended runs have not reported which variables came: whether their limits were checked is unknown',
    ],
  ],
  ['no limit is set', situation(3, { silent_runs: 3 }, { earlyTermination: limits() }), []],
  [
    'limits that are off',
    situation(3, { silent_runs: 3, lossy_runs: 1 }, { earlyTermination: { ...limits('a'), enabled: false } }),
    [],
  ],
  [
    'no limit, but telemetry is asked for',
    situation(2, { silent_runs: 2 }, { earlyTermination: limits(), variables: ['altitude'] }),
    ['doubtful telemetry-absent 2: no telemetry came from 2 runs'],
  ],
  [
    'limits in shadow are limits too',
    situation(1, { judged: seen('speed') }, { earlyTermination: { ...limits('altitude'), shadow: true } }),
    ['doubtful condition-never-seen 1: the limit on "altitude" was never checked: none of 1 run sent a number of it'],
  ],
  [
    'a name that is dangerous elsewhere',
    situation(1, { judged: seen('x') }, { earlyTermination: limits('__proto__') }),
    ['doubtful condition-never-seen 1: the limit on "__proto__" was never checked: none of 1 run sent a number of it'],
  ],
];

describe('domain/findings/limits', () => {
  for (const [name, given, expected] of TABLE) {
    it(name, () => {
      const found = findingsOf(given);
      expect(
        found.map(({ severity, code, count, message }) => `${severity} ${code} ${count}: ${message}`),
      ).to.deep.equal(expected);
      for (const { remedy } of found) expect(remedy).to.be.a('string').that.is.not.empty;
    });
  }

  it('names each variable of the conditions once, and none when early termination is off', () => {
    expect(conditionVariables(limits('b', 'a', 'b'))).to.deep.equal(['b', 'a']);
    expect(conditionVariables({ ...limits('a'), enabled: false })).to.deep.equal([]);
  });
});

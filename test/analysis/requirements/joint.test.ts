/** Requirements on two sides, and on several outputs in the same run: what passes, what is refused, and how it is said. */
import { expect } from 'chai';
import fc from 'fast-check';
import { studyEvidence } from '../../../src/analysis/conclusion/evidence.ts';
import { failsClause, passesClause } from '../../../src/analysis/conclusion/words.ts';
import { failingGroups } from '../../../src/analysis/attribution/failing-groups.ts';
import { judgeRequirement } from '../../../src/analysis/requirements/judge.ts';
import { runsNeeded } from '../../../src/analysis/requirements/planning.ts';
import { outcomeReader, parseRequirement } from '../../../src/analysis/requirements/requirement.ts';
import { judgeStudy } from '../../../src/analysis/requirements/verdicts.ts';
import type { Requirement } from '../../../src/contract/types.ts';
import { meets, parseRequirementCondition } from '../../../src/domain/study/condition.ts';
import { contentFaults } from '../../../src/domain/study/requirement-content.ts';
import { type Run, tableOf, times } from '../tables.ts';

const NEAR: Requirement = { name: 'near', output: 'miss', condition: '-5 .. 5', probability: 0.5 };
const SLOW: Requirement = { name: 'slow', output: 'speed', condition: '< 7', probability: 0.5 };
const BOTH: Requirement = { name: 'both', all: ['near', 'slow'], probability: 0.5 };
const STUDY = [NEAR, SLOW, BOTH];

const run = (miss: number | null, speed: number | null, more: Partial<Exclude<Run, number | string>> = {}): Run => ({
  status: 'Completed',
  outputs: [
    ...(miss === null ? [] : [['miss', miss] as const]),
    ...(speed === null ? [] : [['speed', speed] as const]),
  ],
  ...more,
});

describe('analysis/requirements: two sides and several outputs', () => {
  it('a range holds between its ends, both included', () => {
    const rows: [string, string | { low: number; high: number }][] = [
      ['2500 .. 3200', { low: 2500, high: 3200 }],
      ['2500..3200', { low: 2500, high: 3200 }],
      ['\t-1.5e3 ..\t-.5 ', { low: -1500, high: -0.5 }],
      ['3 .. 3', { low: 3, high: 3 }],
      ['3200 .. 2500', 'holds for no number; write the smaller end first'],
      ['1 .. 1e999', 'too large for a double'],
      ['1 ... 2', 'or two ends, for example "2500 .. 3200"'],
      ['2500 ..', 'or two ends'],
      [`${' '.repeat(99)}1 .. 2`, 'the limit is 100'],
    ];
    for (const [text, expected] of rows) {
      const found = parseRequirementCondition(text);
      if (typeof expected === 'string') expect(found, text).to.be.a('string').that.includes(expected);
      else expect(found, text).to.deep.equal({ operator: '..', ...expected });
    }
    const range = { operator: '..', low: -5, high: 5 } as const;
    expect([-5.001, -5, 0, 5, 5.001, NaN, Infinity].map((it) => meets(range, it))).to.deep.equal([
      false,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('a run passes a joint requirement when it passes each of the named ones', () => {
    const rows: [Run, Partial<Requirement>, string][] = [
      [run(0, 1), {}, 'pass'],
      [run(6, 1), {}, 'fail'],
      [run(0, 8), {}, 'fail'],
      [run(6, 8), {}, 'fail'],
      [run(null, 1), {}, 'unknown'],
      [run(null, 8), {}, 'fail'],
      [run(0, 1, { telemetryLost: true }), {}, 'unknown'],
      ['crashed', {}, 'unknown'],
      ['open', {}, 'open'],
      ['terminated', {}, 'fail'],
      ['terminated', { terminated: 'exclude' }, 'excluded'],
    ];
    for (const [one, more, expected] of rows) {
      const parsed = parseRequirement({ ...BOTH, ...more }, STUDY);
      if (typeof parsed === 'string') throw new Error(parsed);
      expect(outcomeReader(tableOf([one]), parsed)(0), JSON.stringify([one, more])).to.equal(expected);
    }
  });

  it('its passes are the runs that pass both, for any values', () => {
    const value = fc.option(fc.integer({ min: -9, max: 9 }), { freq: 6 });
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 30 }), (values) => {
        const table = tableOf(values.map(([miss, speed]) => run(miss, speed)));
        const { passed, failed, unknown } = judgeRequirement(table, BOTH, STUDY);
        const near = values.map(([miss]) => (miss === null ? null : miss >= -5 && miss <= 5));
        const slow = values.map(([, speed]) => (speed === null ? null : speed < 7));
        const both = near.map((it, at) =>
          it === false || slow[at] === false ? false : it === null || slow[at] === null ? null : true,
        );
        const count = (wanted: boolean | null): number => both.filter((it) => it === wanted).length;
        expect([passed, failed, unknown]).to.deep.equal([count(true), count(false), count(null)]);
      }),
    );
  });

  it('its verdict names the requirements, not an output', () => {
    const runs = [...times(9, run(0, 1)), run(0, 8)];
    const [, , verdict] = judgeStudy(tableOf(runs), STUDY).requirements;
    expect(verdict).to.deep.include({ output: null, condition: null, all: ['near', 'slow'], passed: 9, failed: 1 });
    expect(verdict!.sentence).to.match(/^met: near and slow in the same run with probability 50 % /);
    expect(runsNeeded({ requirements: STUDY }, 100).map((it) => it.name)).to.deep.equal(['near', 'slow', 'both']);
    expect(judgeRequirement(tableOf([run(null, null)]), BOTH, STUDY).warnings[0]!.message).to.include('miss or speed');
  });

  it('the runs that fail it are selected, and named in the answer, by either condition', () => {
    const table = tableOf([run(0, 1), run(6, 1), run(0, 8), ...times(3, run(1, 1))]);
    expect([...failingGroups(table, 'both', STUDY)]).to.deep.equal([0, 1, 1, 0, 0, 0]);
    const [near, , both] = studyEvidence(table, STUDY, new Map([['miss', 'm']])).requirements;
    expect(both!.where).to.equal('(outputs.miss < -5 or outputs.miss > 5 or outputs.speed >= 7) and class = ok');
    expect(both!.violating).to.equal(2);
    expect(failsClause(both!)).to.match(/^near and slow are not passed together in 33 % of runs/);
    expect(passesClause(both!)).to.match(/^near and slow are passed together in 67 % of 6 runs/);
    expect(failsClause(near!)).to.match(/^miss is outside -5 .. 5 m in 17 % of runs/);
    expect(passesClause(near!)).to.match(/^miss is within -5 .. 5 m/);
  });

  it('content that means nothing is refused, with its member', () => {
    const rows: [Partial<Requirement>, string][] = [
      [{ condition: '< 5' }, 'output is missing; give `output` and `condition`, or `all`'],
      [{ output: 'miss' }, 'condition is missing'],
      [{ ...NEAR, condition: '5 .. -5' }, 'condition "5 .. -5" holds for no number'],
      [{ ...BOTH, condition: '< 5' }, 'condition is given beside `all`'],
      [{ ...BOTH, all: ['near'] }, 'all must name at least two different requirements'],
      [{ ...BOTH, all: ['near', 'near'] }, 'all must name at least two different requirements'],
      [
        { ...BOTH, all: ['near', 'slwo'] },
        'all names "slwo", which is not a requirement of the study; did you mean "slow"?',
      ],
      [{ ...BOTH, all: ['near', 'both'] }, 'all names "both", the requirement itself'],
      [{ ...BOTH, name: 'more', all: ['near', 'both'] }, 'all names "both", which has `all` itself'],
    ];
    for (const [requirement, expected] of rows) {
      const [fault] = contentFaults(requirement, STUDY);
      expect(`${fault?.member} ${fault?.detail}`).to.include(expected);
      expect(parseRequirement(requirement as Requirement, STUDY))
        .to.be.a('string')
        .that.includes(expected);
    }
    const broken = [{ ...NEAR, condition: 'about 5' }, SLOW];
    expect(parseRequirement(BOTH, broken)).to.match(/^all names "near", whose condition "about 5" is not a condition/);
    for (const it of STUDY) expect(contentFaults(it, STUDY)).to.deep.equal([]);
  });
});

/** The answer about a study: the first rule that applies decides the level, and the sentence says what happened. */
import { expect } from 'chai';
import type { AnswerLevel, Finding, Requirement, StudyAnswer } from '../../../src/contract/types.ts';
import { LEVEL_WORDS } from '../../../src/contract/enums.ts';
import { conclude, situationOf, type StudySituation } from '../../../src/analysis/conclusion/conclude.ts';
import { studyEvidence } from '../../../src/analysis/conclusion/evidence.ts';
import { parseWhere } from '../../../src/analysis/where/parse.ts';
import { evaluateWhere } from '../../../src/analysis/where/evaluate.ts';
import { whereColumns } from '../../../src/analysis/where/table-columns.ts';
import { type Run, tableOf, times } from '../tables.ts';

const BATCH = '019a0000-0000-8000-8000-000000000000';
const crash = (message: string): Run => ({ status: 'Failed', reason: 'exit', errorMessage: message });

const load: Requirement = { name: 'load', output: 'y', condition: '<= 14', probability: 0.9 };
const miss: Requirement = { name: 'miss', output: 'y', condition: '< 100', probability: 0.9 };
const finding = (code: string, severity: Finding['severity'] = 'blocked'): Finding => ({
  code,
  severity,
  message: `${code} is found`,
  remedy: 'act',
});

interface Case {
  runs: readonly Run[];
  requirements?: readonly Requirement[];
  situation?: Partial<StudySituation>;
}

const evidenceOf = ({ runs, requirements = [] }: Case) =>
  studyEvidence(tableOf(runs, { batchId: BATCH }), requirements, new Map([['y', 'g']]));

function answer(it: Case): StudyAnswer {
  const evidence = evidenceOf(it);
  return conclude(evidence, { ...situationOf(evidence), ...it.situation });
}

describe('analysis/conclusion', () => {
  const met = times(100, 1);
  const violated = [...times(50, 1), ...times(50, 20)];
  const rows: readonly (readonly [string, Case, AnswerLevel, string])[] = [
    [
      'all runs failed alike comes before cancelled',
      { runs: [...times(3, crash('ValueError: bad')), 'cancelled'], situation: { status: 'Cancelled' } },
      'not_ok',
      'Not OK: all 3 runs that ended by themselves failed alike: ValueError: bad; see its output with `simbatch logs 019a0000-0000/0`.',
    ],
    [
      'a message that has its remedy keeps it',
      { runs: times(4, crash('the function needs model; name it in modules=[...]')) },
      'not_ok',
      'Not OK: all 4 runs failed alike: the function needs model; name it in modules=[...].',
    ],
    [
      'a known cause has its remedy',
      { runs: times(4, crash("ModuleNotFoundError: No module named 'rocket'")) },
      'not_ok',
      "Not OK: all 4 runs failed alike: ModuleNotFoundError: No module named 'rocket'; install the module for the interpreter that executes the runs.",
    ],
    [
      'two messages are not alike',
      { runs: [...times(2, crash('ValueError: bad')), ...times(2, crash('KeyError: worse'))] },
      'not_ok',
      'Not OK: 4 of 4 runs did not complete: 4 runs crashed.',
    ],
    [
      'cancelled comes before violated, and says both',
      {
        runs: [...violated, ...times(2, 'cancelled')],
        requirements: [load],
        situation: { status: 'Cancelled', cancelReason: 'wrong model' },
      },
      'cancelled',
      'Cancelled: wrong model; 100 of 102 runs ended before. The requirement is violated: y exceeds 14 g in 50 % of runs (allowed 10 %).',
    ],
    [
      'blocked comes before violated',
      {
        runs: [...violated, 'open'],
        requirements: [load],
        situation: { status: 'Running', findings: [finding('no-runner')] },
      },
      'blocked',
      'Blocked: no-runner is found; act. 100 of 101 runs have ended. The requirement is violated: y exceeds 14 g in 50 % of runs (allowed 10 %).',
    ],
    [
      'a failed canary says how it failed',
      {
        runs: [crash('ValueError: bad'), ...times(9, 'open')],
        situation: { status: 'Running', findings: [finding('canary-failed')] },
      },
      'blocked',
      'Blocked: canary-failed is found. The failure: ValueError: bad; see its output with `simbatch logs 019a0000-0000/0`.',
    ],
    [
      'a failed canary study is said by its message alone; the next steps have its remedy',
      {
        runs: times(9, 'open'),
        situation: { status: 'Pending', findings: [{ ...finding('canary-failed'), study: 'c' }] },
      },
      'blocked',
      'Blocked: canary-failed is found.',
    ],
    [
      'a study that waits for its canary study says so, and nothing of its requirements',
      {
        runs: times(9, 'open'),
        requirements: [load],
        situation: {
          status: 'Pending',
          findings: [{ ...finding('canary-running'), severity: 'waiting', message: '9 runs must wait', study: 'c' }],
        },
      },
      'running',
      'Waiting for its canary study: 9 runs must wait.',
    ],
    [
      'a study that waits for its own first runs says so',
      {
        runs: times(9, 'open'),
        situation: { status: 'Running', findings: [{ ...finding('canary-running'), severity: 'waiting' }] },
      },
      'running',
      'Waiting for its canary runs: 0 of 9 runs have ended.',
    ],
    [
      'runs that were not executed are said',
      { runs: [...times(60, 1), ...times(40, { status: 'Completed', outputs: [['y', 1]], isReused: true })] },
      'ok',
      'OK: all 100 runs completed. 40 of 100 runs were not executed: they have the results of earlier runs.',
    ],
    [
      'a study that has ended is not blocked',
      { runs: met, situation: { findings: [finding('no-runner')] } },
      'ok',
      'OK: all 100 runs completed.',
    ],
    [
      'violated for certain comes before running',
      { runs: [...violated, 'open'], requirements: [load, miss] },
      'not_ok',
      'Not OK: 1 of 2 requirements is violated: y exceeds 14 g in 50 % of runs (allowed 10 %). 100 of 101 runs have ended.',
    ],
    [
      'running comes before not shown',
      { runs: [1, crash('ValueError: bad'), ...times(50, 'open')], requirements: [load] },
      'running',
      'Running: 2 of 52 runs have ended. No requirement is decided yet. 1 run crashed.',
    ],
    [
      'without requirements a running study says its progress',
      { runs: [1, 'open'] },
      'running',
      'Running: 1 of 2 runs have ended.',
    ],
    [
      'not shown is not enough, with the runs that would show it',
      { runs: times(20, 1), requirements: [load, { ...miss, probability: 0.5 }] },
      'not_enough',
      'Not enough runs: 1 of 2 requirements is undecided: y is at most 14 g in 100 % of 20 runs (required 90 %); 9 further runs without a failure would show it.',
    ],
    [
      'violated comes before not shown',
      { runs: violated, requirements: [{ ...miss, probability: 0.999 }, load] },
      'not_ok',
      'Not OK: 1 of 2 requirements is violated: y exceeds 14 g in 50 % of runs (allowed 10 %).',
    ],
    [
      'the violated requirement that exceeds its share the most is said, with the failures',
      {
        runs: [...violated, ...times(15, 'crashed'), 'timeout', 'lost', 'terminated'],
        requirements: [
          { ...load, probability: 0.8 },
          { ...load, name: 'strict', condition: '< 10', probability: 0.99 },
        ],
      },
      'not_ok',
      'Not OK: both requirements are violated: y is 10 g or more or a rule ends the run in 50 % of runs (allowed 1 %). 15 runs crashed, 1 run timed out, 1 run was lost.',
    ],
    ['ok without requirements', { runs: met }, 'ok', 'OK: all 100 runs completed.'],
    ['ok without runs', { runs: [] }, 'ok', 'OK: the study has no runs.'],
    [
      'not ok without requirements when a run did not complete',
      { runs: [...met, 'crashed', 'terminated'] },
      'not_ok',
      'Not OK: 2 of 102 runs did not complete: 1 run crashed, 1 run was ended by a rule.',
    ],
    [
      'ok when the requirement is met, with what crashed',
      { runs: [...met, 'crashed'], requirements: [load] },
      'ok',
      'OK: the requirement is met: y is at most 14 g in 100 % of 100 runs (required 90 %). 1 run crashed.',
    ],
    [
      'ok says the closest of several and what is doubtful',
      {
        runs: met,
        requirements: [load, { ...miss, probability: 0.5 }],
        situation: { findings: [finding('condition-never-seen', 'doubtful')] },
      },
      'ok',
      'OK: both requirements are met; the closest: y is at most 14 g in 100 % of 100 runs (required 90 %). This is doubtful: condition-never-seen is found.',
    ],
  ];
  for (const [title, given, level, sentence] of rows)
    it(title, () => {
      const { level: found, sentence: said, next, reasons } = answer(given);
      expect({ level: found, sentence: said }).to.deep.equal({ level, sentence });
      const isCanary = (given.situation?.findings ?? []).some(({ code }) => code === 'canary-running');
      expect(said.startsWith(isCanary ? 'Waiting for its canary' : LEVEL_WORDS[level])).to.equal(true);
      expect(next.length).to.be.within(1, 3);
      expect(reasons.every((it) => it !== '')).to.equal(true);
    });

  it('names an output as it is where its units are not known, else in words without them', () => {
    const runs: Run[] = times(100, { status: 'Completed', outputs: [['peak_load_g', 1]] });
    const requirement = { ...load, output: 'peak_load_g' };
    const sentenceWith = (units: Map<string, string>): string => {
      const evidence = studyEvidence(tableOf(runs, { batchId: BATCH }), [requirement], units);
      return conclude(evidence, situationOf(evidence)).sentence;
    };
    expect(sentenceWith(new Map())).to.include('met: peak_load_g is at most 14 in 100 %');
    expect(sentenceWith(new Map([['peak_load_g', 'g']]))).to.include('met: peak load is at most 14 g in 100 %');
    expect(sentenceWith(new Map([['peak_load_g', 'N']]))).to.include('met: peak load g is at most 14 N in 100 %');
  });

  it('the steps of a violated requirement show its runs, the cause, and rerun what crashed', () => {
    const runs = Array.from({ length: 200 }, (_, row): Run => ({
      status: 'Completed',
      parameters: { wind_speed: row / 8 },
      outputs: [['y', row >= 184 ? 20 : 1]],
    }));
    const { next } = answer({
      runs: [...runs, ...times(15, 'crashed')],
      requirements: [{ ...load, probability: 0.99 }],
    });
    expect(next.map((it) => it.label)).to.deep.equal([
      'Show the 16 violating runs',
      'Why: wind_speed >= 23',
      'Rerun the 15 that crashed',
    ]);
    expect(next.map((it) => it.action.command)).to.deep.equal([
      "simbatch table 019a0000-0000 --where 'outputs.y > 14 and class = ok'",
      'simbatch why 019a0000-0000 --failing load',
      'simbatch rerun 019a0000-0000 --failure-kind crashed',
    ]);
    expect(next[1]!.action.page).to.equal(`/#/batches/${BATCH}/explore?select=p.wind_speed%3A23..`);
  });

  it('the first step of a study that waits for its canary study shows that one', () => {
    const findings = [{ ...finding('canary-running'), severity: 'waiting' as const, study: BATCH }];
    const { next } = answer({ runs: times(9, 'open'), situation: { status: 'Pending', findings } });
    expect(next.map(({ action }) => action.command)).to.deep.equal([
      'simbatch status 019a0000-0000',
      'simbatch watch 019a0000-0000',
    ]);
  });

  it('the condition of the violating runs selects exactly these', () => {
    const values: Run[] = [1, 5, 9, 14, 20, Number.NaN, 'terminated', 'crashed', 'open'];
    for (const condition of ['<= 9', '< 9', '>= 9', '> 9', '== 9', '!= 9'])
      for (const terminated of ['fail', 'exclude'] as const) {
        const table = tableOf(values, { batchId: BATCH });
        const requirements = [{ ...load, condition, terminated }];
        const [found] = studyEvidence(table, requirements, new Map()).requirements;
        const selected = evaluateWhere(parseWhere(found!.where), whereColumns(table), table.rows);
        const title = `${condition}, ${terminated}`;
        expect(
          selected.reduce((sum, it) => sum + it, 0),
          title,
        ).to.equal(found!.violating);
      }
  });

  it('says in a reason what repeated attempts have cost', () => {
    const table = tableOf(times(10, 1), { batchId: BATCH });
    const reasonsOf = (repeated: { attempts: number; totalMs: number }, omittedAttempts = 0): string[] => {
      const moves = { counts: new Map(), stays: new Map(), repeated, omittedAttempts, firstMs: 0, lastMs: 0 };
      const evidence = studyEvidence(table, [], new Map(), moves);
      return conclude(evidence, situationOf(evidence)).reasons;
    };
    expect(reasonsOf({ attempts: 0, totalMs: 0 })).to.deep.equal([]);
    expect(reasonsOf({ attempts: 1, totalMs: 2_500 })).to.deep.equal([
      'retries: 1 attempt failed and was repeated, which cost 2.5s of running',
    ]);
    expect(reasonsOf({ attempts: 12, totalMs: 3 * 3_600_000 }, 2)).to.deep.equal([
      'retries: 12 attempts failed and were repeated, which cost 3h 00m of running, at least: 2 earlier attempts are no longer recorded',
    ]);
  });

  it('the situation of runs alone is that of the study', () => {
    const stopped = { ...load, look: 'continuous' } as const;
    const statuses: readonly (readonly [readonly Run[], readonly Requirement[], string])[] = [
      [[1, 'open', 'cancelled'], [], 'Running'],
      [[1, 'cancelled'], [], 'Cancelled'],
      [[1, 'crashed'], [], 'Completed'],
      [['crashed'], [], 'Failed'],
      [[...times(100, 20), 'cancelled'], [stopped], 'Completed'],
    ];
    for (const [runs, requirements, status] of statuses)
      expect(situationOf(evidenceOf({ runs, requirements })).status).to.equal(status);
  });
});

/** The figures of the evidence are those of the other answers, for studies some of whose runs failed, were ended or have not ended, and these are said. */
import { expect } from 'chai';
import type {
  BatchStatusResponse,
  Convergence,
  EvidenceReport,
  FailReason,
  Report,
  Requirement,
  RequirementVerdict,
  StudySummary,
  Uuid,
} from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { Scene } from '../../support/scene.ts';

const RULES = ['fail', 'unknown', 'exclude'] as const;
type Rule = (typeof RULES)[number];

/** How a run ends: `passes`, `violates` and `blank` are Completed, the last without the output. */
const ENDS = ['passes', 'violates', 'blank', 'crashed', 'timeout', 'lost', 'terminated', 'cancelled', 'open'] as const;
type End = (typeof ENDS)[number];
type Case = Partial<Record<End, number>>;

const FAILED: Partial<Record<End, FailReason>> = {
  crashed: 'exit',
  timeout: 'timeout',
  lost: 'infrastructure',
  terminated: 'early_termination',
};

/** The words of the limits by which a reader learns of such runs. */
const SAID: Partial<Record<End, RegExp>> = {
  crashed: /crashed/,
  timeout: /timed out/,
  lost: /lost/,
  terminated: /terminated early/,
  cancelled: /cancelled/,
  open: /have not ended|has not ended/,
};

const CASES: readonly Case[] = [
  { passes: 12, violates: 2 },
  { passes: 11, violates: 1, crashed: 3 },
  { passes: 11, timeout: 2, lost: 1 },
  { passes: 9, violates: 1, terminated: 4 },
  { passes: 8, blank: 2, violates: 1 },
  { passes: 8, cancelled: 3 },
  { passes: 7, violates: 1, open: 4 },
  { passes: 6, violates: 1, blank: 1, crashed: 1, timeout: 1, lost: 1, terminated: 2, cancelled: 1, open: 2 },
  { crashed: 3, timeout: 1 },
  { open: 3 },
];

const text = (given: Case): string =>
  ENDS.flatMap((end) => (given[end] === undefined ? [] : [`${given[end]} ${end}`])).join(', ');

describe('coordinator/reads: figures of the evidence', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
    await scene.register('r1', { slots: 100 });
  });
  afterEach(async () => {
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  const ask = async <T>(
    name: 'evidence' | 'summary' | 'verdicts' | 'convergence' | 'sensitivity',
    batchId: Uuid,
  ): Promise<T> => {
    const query = name === 'convergence' || name === 'sensitivity' ? { output: 'miss' } : {};
    const found = await scene.api.answer(
      { name, batchId, query },
      {
        waitMs: 1e6,
      },
    );
    if (found.state !== 'ready') throw new Error(`the answer is ${found.state}`);
    return JSON.parse(new TextDecoder().decode(found.body)) as T;
  };

  /** Executes a study whose runs end as the case says, mixed; runs that are lost are the last to end, and open ones are never claimed. */
  async function executed(given: Case, requirement: Requirement): Promise<Uuid> {
    const times = (end: End): End[] => Array.from({ length: given[end] ?? 0 }, () => end);
    const ends = ENDS.filter((end) => end !== 'lost' && end !== 'open').flatMap(times);
    // 11 and their number have no common divisor, so that each comes once.
    const mixed = ends.map((_, at) => ends[(at * 11) % ends.length]!);
    const order = [...(ends.length % 11 === 0 ? ends : mixed), ...times('lost'), ...times('open')];
    const batch = await scene.submit({
      runs: order.length,
      maxRetries: 0,
      requirements: [requirement],
      config: {
        early_termination: { enabled: true, conditions: [{ variable: 'nz', condition: '> 4', description: '' }] },
      },
    });
    await scene.claimRaw('r1', order.length - (given.open ?? 0));
    for (const [run, end] of order.entries()) {
      const own = { job_id: jobId(batch, run), attempt: 1 };
      if (end === 'open') continue;
      if (end === 'cancelled') {
        await scene.api.cancelJob(own.job_id);
        continue;
      }
      const reason = FAILED[end];
      const metadata = end === 'blank' ? {} : { miss: end === 'passes' ? run / 10 : 50 + run };
      const last: Report =
        reason === undefined
          ? { type: 'complete', ...own, result: { execution_time_secs: 1, output_files: [], metadata } }
          : { type: 'fail', ...own, reason, error_message: 'nz > 4 at 1 s' };
      await scene.api.reports('r1', { instance: scene.instance('r1'), reports: [{ type: 'start', ...own }, last] });
      // A run that its infrastructure has failed is given out again, until it has been lost too often.
      for (let attempt = 2; end === 'lost' && (await scene.jobStatus(batch, run)) === 'Pending'; attempt += 1) {
        await scene.running(batch, run, 'r1', attempt);
        await scene.fail(batch, run, 'r1', attempt, 'infrastructure', 'the disk of the machine is full');
      }
    }
    return batch;
  }

  for (const given of CASES)
    for (const terminated of given.terminated === undefined ? (['fail'] as const) : RULES)
      it(`${text(given)}${given.terminated === undefined ? '' : `, where a terminated run counts as \`${terminated}\``}`, async () => {
        const batch = await executed(given, near(terminated));
        const status = await scene.api.batch(batch);
        const evidence = await ask<EvidenceReport>('evidence', batch);
        const summary = await ask<StudySummary>('summary', batch);
        const { requirements } = await ask<{ requirements: RequirementVerdict[] }>('verdicts', batch);
        expect(evidence.status).to.equal(status.batch.status);

        // The same figures as each other answer.
        expect(evidence.results).to.deep.equal(summary);
        const [own] = evidence.results.requirements;
        const { course: _, ...verdict } = requirements[0]! as RequirementVerdict & { course?: unknown };
        expect(own).to.deep.include(withoutAbsent(verdict, own!));
        expect(evidence.sentence).to.contain(summary.sentence);
        for (const { output, course } of evidence.convergence) {
          expect(output).to.equal('miss');
          expect(course).to.deep.equal(await ask<Convergence>('convergence', batch));
        }
        for (const { sentence } of evidence.dependence)
          expect(sentence).to.equal((await ask<{ sentence: string }>('sensitivity', batch)).sentence);

        // The same counts as the runs themselves.
        checkCounts(given, terminated, { evidence, status });
      });
});

const near = (terminated: Rule): Requirement => ({
  name: 'near',
  output: 'miss',
  condition: '<= 10',
  probability: 0.5,
  confidence: 0.6,
  terminated,
});

/** The members that both have. */
const withoutAbsent = (verdict: object, own: object): object =>
  Object.fromEntries(Object.entries(verdict).filter(([name]) => Object.hasOwn(own, name)));

interface Found {
  evidence: EvidenceReport;
  status: BatchStatusResponse;
}

function checkCounts(given: Case, rule: Rule, { evidence, status }: Found): void {
  const n = (...ends: End[]): number => ends.reduce((sum, end) => sum + (given[end] ?? 0), 0);
  const total = n(...ENDS);
  const completed = n('passes', 'violates', 'blank');
  const classes = {
    ok: completed,
    terminated: n('terminated'),
    crashed: n('crashed'),
    timeout: n('timeout'),
    lost: n('lost'),
    cancelled: n('cancelled'),
    open: n('open'),
  };
  const counted = Object.fromEntries(evidence.counted.map((it) => [it.class, it.runs]));
  expect(counted).to.deep.equal(Object.fromEntries(Object.entries(classes).filter(([, runs]) => runs > 0)));
  const { Completed, Failed, Timeout, Cancelled } = status.jobs_by_status;
  expect({ Completed, Failed, Timeout, Cancelled }).to.deep.equal({
    Completed: completed,
    Failed: n('crashed', 'lost', 'terminated'),
    Timeout: n('timeout'),
    Cancelled: n('cancelled'),
  });
  expect(evidence.results).to.deep.include({ of: total, n_used: completed });

  const [verdict] = evidence.results.requirements;
  const passed = n('passes');
  const failed = n('violates') + (rule === 'fail' ? n('terminated') : 0);
  const unknown = n('blank', 'crashed', 'timeout', 'lost', 'cancelled') + (rule === 'unknown' ? n('terminated') : 0);
  expect(verdict).to.deep.include({ passed, failed, unknown, judged: passed + failed + unknown });
  expect(verdict!.estimate).to.equal(passed + failed === 0 ? null : passed / (passed + failed));
  const output = evidence.results.outputs.find(({ name }) => name === 'miss');
  expect(output?.count ?? 0).to.equal(n('passes', 'violates'));

  // Every run that is in no figure is said, with how it counts.
  const limits = evidence.limits.join('\n');
  for (const end of ENDS)
    if (SAID[end] !== undefined) expect(SAID[end].test(limits), `${end}: ${limits}`).to.equal(n(end) > 0);
  const how = Object.fromEntries(evidence.counted.map((it) => [it.class, it]));
  for (const name of ['crashed', 'timeout', 'lost', 'cancelled'])
    if (how[name] !== undefined) expect(how[name].verdicts).to.contain('unknown');
  if (how['terminated'] !== undefined)
    expect(how['terminated'].verdicts).to.contain({ fail: 'fails', unknown: 'unknown', exclude: 'left out' }[rule]);
  if (how['open'] !== undefined) expect(how['open'].verdicts).to.equal('not judged yet');
  for (const it of evidence.counted) expect(it.statistics.startsWith('in none')).to.equal(it.class !== 'ok');
}

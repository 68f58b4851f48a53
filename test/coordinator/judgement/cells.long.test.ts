/** A study with scenarios that stops when its requirements are settled: at the same run, with the same answers, in whatever order its runs end. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import type * as contract from '../../../src/contract/types.ts';
import { CountedValues, lowerMean } from '../../../src/analysis/requirements/cells/pooled.ts';
import { SequentialVerdict } from '../../../src/analysis/requirements/sequential-verdict.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { RESULT, Scene } from '../../support/scene.ts';
import { times } from '../../support/properties.ts';
import { study } from '../../support/studies.ts';

const REQUIREMENTS: contract.Requirement[] = [
  { name: 'each', output: 'miss', condition: '< 50', probability: 0.5, confidence: 0.9 },
  { name: 'pooled', output: 'miss', condition: '< 50', probability: 0.4, confidence: 0.9, in: 'pooled' },
];
const SAMPLES = 40;

/** The second of two cells fails in one sample of six. */
const missOf = (run: number): number => (run % 2 === 1 && Math.floor(run / 2) % 6 === 0 ? 99 : 1);

/** The run at which the last requirement is decided: by a test of each cell, and by the bound of the pooled share after each sample. */
function expectedStop(): number {
  const tests = [0, 1].map(() => new SequentialVerdict(0.5, 0.9));
  const shares = new CountedValues();
  let [each, pooled] = [Infinity, Infinity];
  for (let run = 0; run < 2 * SAMPLES; run++) {
    tests[run % 2]!.take(missOf(run) < 50 ? 'pass' : 'fail', run);
    if (tests.every((it) => it.verdict === 'met')) each = Math.min(each, run);
    if (run % 2 === 0) continue;
    shares.add(missOf(run) < 50 ? 1 : 0.5);
    if (lowerMean(shares, 0.9) >= 0.4) pooled = Math.min(pooled, run);
  }
  return Math.max(each, pooled);
}

interface End {
  status: string;
  stoppedAt: number | undefined;
  verdicts: unknown;
  stored: unknown;
}

/** Runs end in this order, with restarts after some of them, until the study stops. */
async function played(order: readonly number[], restarts: ReadonlySet<number>): Promise<End> {
  const scene = await Scene.open();
  const register = async (): Promise<void> => {
    const capabilities = {
      max_concurrent_jobs: 2 * SAMPLES,
      cpu_cores: 0,
      memory_gb: 0,
      gpu_available: false,
      supported_simulation_types: [],
      features: ['scenarios'],
    };
    await scene.api.register({ id: 'a', instance: 'a-1', capabilities });
  };
  await register();
  const scenarios = { site: { north: {}, south: {} } };
  const policy = { stop_when: 'settled' as const };
  const submission = study({ runs: SAMPLES, config: { scenarios }, requirements: REQUIREMENTS, policy });
  const { batch_id: batch } = await scene.api.submit(submission);
  await scene.api.claim('a', { instance: 'a-1', max_jobs: 2 * SAMPLES, wait_seconds: 0 });
  for (const [at, run] of order.entries()) {
    const about = { job_id: jobId(batch, run), attempt: 1 };
    const reports: contract.Report[] = [
      { type: 'start', ...about },
      { type: 'complete', ...about, result: { ...RESULT, metadata: { miss: missOf(run) } } },
    ];
    await scene.api.reports('a', { instance: 'a-1', reports });
    await scene.api.parts.judgements.idle();
    if (restarts.has(at)) await scene.restart();
  }
  await scene.api.parts.judgements.idle();
  const answer = await scene.api.answer({ name: 'verdicts', batchId: batch, query: { by: ['site'] } }, { waitMs: 1e6 });
  if (answer.state !== 'ready') throw new Error(answer.state);
  const { requirements } = JSON.parse(new TextDecoder().decode(answer.body)) as contract.StudyVerdicts;
  const { batch: found } = await scene.api.batch(batch);
  expect(scene.faults).to.deep.equal([]);
  const stored: unknown = JSON.parse(scene.store.get(keys.verdicts(batch)) ?? 'null');
  await scene.api.close();
  return { status: found.status, stoppedAt: found.stopped_at_run_id, verdicts: requirements, stored };
}

describe('coordinator/judgement of cells', () => {
  it('stops at the same run with the same answers, for any order of ends and restarts', async function () {
    this.timeout(0);
    const inOrder = Array.from({ length: 2 * SAMPLES }, (_, run) => run);
    const expected = await played(inOrder, new Set());
    const stop = expectedStop();
    expect(stop).to.be.below(SAMPLES);
    expect([expected.status, expected.stoppedAt]).to.deep.equal(['Completed', stop]);
    const [each, pooled] = expected.verdicts as contract.JudgedRequirement[];
    expect([each!.verdict, pooled!.verdict]).to.deep.equal(['met', 'met']);
    expect(Math.max(each!.settled_at_run_id!, pooled!.settled_at_run_id!)).to.equal(stop);
    expect(each!.by!.map((it) => it.verdict)).to.deep.equal(['met', 'met']);
    const shuffled = fc.shuffledSubarray(inOrder, { minLength: inOrder.length });
    // A study whose last open run decides has nothing to cancel.
    const { verdicts } = await played([...inOrder.slice(0, stop), ...inOrder.slice(stop + 1), stop], new Set());
    expect(verdicts).to.deep.equal(expected.verdicts);
    const restarts = fc.uniqueArray(fc.nat(2 * SAMPLES - 1), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(shuffled, restarts, async (order, at) => {
        fc.pre(order.at(-1)! > stop);
        expect(await played(order, new Set(at))).to.deep.equal(expected);
      }),
      { numRuns: times(8) },
    );
  });
});

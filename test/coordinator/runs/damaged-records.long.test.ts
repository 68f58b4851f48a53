/** A study of which any one record is missing or damaged: runners get the runs of all other studies, and the study says why it stands still. */
import { expect } from 'chai';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import { readBatch } from '../../../src/coordinator/kernel/records/read-batch.ts';
import { keys, type KeyKind } from '../../../src/coordinator/kernel/storage/keys.ts';
import type { AttemptRef, BatchSubmission, Uuid } from '../../../src/contract/types.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { DamagedStore } from '../../support/damaged-store.ts';
import { adaptiveStudy } from '../../support/rounds.ts';
import { codeOf } from '../../support/scene.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { study } from '../../support/studies.ts';

const capabilities = {
  max_concurrent_jobs: 100,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
};
const result = { execution_time_secs: 1, output_files: [], metadata: { miss: 1 } };
const requirements = [{ name: 'near', output: 'miss', condition: '< 50', probability: 0.9, confidence: 0.9 }];

/** The studies of which records are damaged. */
const STUDIES: Record<string, () => BatchSubmission> = {
  plain: () => study({ runs: 8, name: 'plain' }),
  'with selected runs': () => study({ runs: 100, name: 'selected', config: { monte_carlo: { run_ids: '0-4,20-22' } } }),
  'with requirements': () => study({ runs: 8, name: 'judged', requirements }),
  adaptive: () => adaptiveStudy({ runs: 8, name: 'adaptive' }),
};

/**
 * Records without which the coordinator does not know its own state: it does not start, and names the record. Those of jobs are the ones of runs
 * that a runner holds.
 */
const STATE: Partial<Record<KeyKind, readonly string[]>> = {
  batch: ['deleted', 'damaged'],
  open: ['damaged'],
  requeue: ['damaged'],
  job: ['deleted', 'damaged'],
};
/** The run that a runner holds. */
const HELD = 2;

describe('coordinator/runs/damaged-records', () => {
  /**
   * A disk with two studies. One has a Completed run, a Pending run with a failed attempt, a run that a runner holds, and a run that was
   * cancelled ahead; the other is submitted before or after it.
   */
  async function disk(submission: BatchSubmission, otherIsFirst: boolean) {
    const records = new Map<string, string>();
    const coordinator = await openCoordinator(new DamagedStore(records), new SimulatedClock());
    const submitOther = async () =>
      (await coordinator.submit(study({ runs: 2, name: 'other', config: { compute: { max_retries: 0 } } }))).batch_id;
    let other = otherIsFirst ? await submitOther() : '';
    const { batch_id: batch } = await coordinator.submit(submission);
    if (submission.config.adaptive !== undefined) {
      await coordinator.appendRound(batch, {
        key: 'a',
        rows: [
          { r: 1, x: 1 },
          { r: 2, x: 2 },
        ],
      });
      await coordinator.appendRound(batch, { key: 'b', rows: [3, 4, 5, 6].map((x) => ({ r: 1, x })) });
    }
    if (otherIsFirst) await coordinator.pauseBatch(other);
    await coordinator.keepView(batch, { name: 'a view', query: 'x=1' });
    await coordinator.register({ id: 'r1', instance: 'i1', capabilities });
    const { assignments } = await coordinator.claim('r1', { instance: 'i1', max_jobs: 3 });
    const [first, second] = assignments.map(({ job, attempt }) => ({ id: job.id, attempt }));
    for (const { id, attempt } of [first!, second!]) await coordinator.start(id, { runner_id: 'r1', attempt });
    await coordinator.complete(first!.id, { runner_id: 'r1', attempt: 1, result });
    await coordinator.fail(second!.id, { runner_id: 'r1', attempt: 1, reason: 'exit', error_message: 'broke' });
    await coordinator.cancelJob(jobId(batch, 4));
    await coordinator.parts.judgements.idle();
    if (otherIsFirst) await coordinator.resumeBatch(other);
    else other = await submitOther();
    await coordinator.close();
    return { records, batch, other };
  }

  const kindOf = (key: string): KeyKind => /^!([a-z-]+)!/.exec(key)![1] as KeyKind;

  /** Claims until nothing is left; returns the runs of the other study that were given out. */
  async function claimAll(coordinator: Coordinator, other: Uuid): Promise<number> {
    await coordinator.register({ id: 'r2', instance: 'i2', capabilities });
    const holding: AttemptRef[] = [];
    let ofOther = 0;
    for (let idle = 0; idle < 3;) {
      const { assignments } = await coordinator.claim('r2', { instance: 'i2', max_jobs: 2, holding });
      for (const { job, attempt } of assignments) holding.push({ job_id: job.id, attempt });
      ofOther += assignments.filter(({ job }) => job.batch_id === other).length;
      idle = assignments.length === 0 ? idle + 1 : 0;
    }
    await coordinator.demand();
    return ofOther;
  }

  for (const [name, submission] of Object.entries(STUDIES)) {
    for (const otherIsFirst of [false, true]) {
      it(`of a study ${name}, submitted ${otherIsFirst ? 'after' : 'before'} another one, keep no other study from the pool`, async () => {
        const made = await disk(submission(), otherIsFirst);
        const { batch, other } = made;
        const own = [...made.records.keys()].filter((key) => key.includes(batch.slice(0, 28)));
        expect(own.map(kindOf)).to.include.members([
          'batch',
          'submission',
          'open',
          'job',
          'result',
          'requeue',
          'views',
        ]);
        if (name === 'adaptive') expect(own.map(kindOf)).to.include.members(['round', 'rows', 'round-key']);
        for (const key of own) {
          for (const how of ['deleted', 'damaged'] as const) {
            for (const when of ['while it runs', 'before it starts'] as const) {
              const title = `${key} ${how} ${when}`;
              const store = new DamagedStore(new Map(made.records));
              const harm = (): void => void (how === 'deleted' ? store.disk.delete(key) : store.damaged.add(key));
              if (when === 'before it starts') harm();
              const opened = await openCoordinator(store, new SimulatedClock()).catch(
                (error: unknown) => error as Error,
              );
              if (opened instanceof Error) {
                expect(opened, title).to.include({ code: 'store-damaged' });
                expect(STATE[kindOf(key)], `${title}: ${opened.message}`).to.include(how);
                if (kindOf(key) === 'job') expect(key, title).to.equal(keys.job(jobId(batch, HELD)));
                expect(opened.message, title).to.contain(kindOf(key) === 'batch' ? batch : key.slice(-12));
                continue;
              }
              if (when === 'while it runs') harm();
              expect(await claimAll(opened, other), title).to.equal(2);
              if (key === keys.submission(batch) && when === 'before it starts') {
                const found = await opened.findings(batch);
                expect(
                  found.map(({ code }) => code),
                  title,
                ).to.include('submission-damaged');
                expect(await codeOf(opened.submission(batch)), title).to.equal('store-damaged');
              }
              // The damaged run was cancelled: nothing waits for it.
              if (key === keys.job(jobId(batch, 4)) && how === 'damaged')
                expect(
                  (await opened.findings(batch)).map(({ code }) => code),
                  title,
                ).not.to.include('runs-damaged');
              await opened.close();
            }
          }
        }
      });
    }
  }

  it('of a run that is Pending again: it is set aside, and the study says so', async () => {
    const { records, batch, other } = await disk(study({ runs: 8 }), false);
    const store = new DamagedStore(records, new Set([keys.job(jobId(batch, 1))]));
    const coordinator = await openCoordinator(store, new SimulatedClock());
    expect(await claimAll(coordinator, other)).to.equal(2);
    const found = (await coordinator.findings(batch)).find(({ code }) => code === 'runs-damaged');
    expect(found).to.deep.include({ severity: 'blocked', count: 1, runs: [1] });
    const { jobs_by_status: counts } = await coordinator.batch(batch);
    expect(counts).to.include({ Pending: 1, Completed: 1, Claimed: 5, Cancelled: 1 });
    expect((await coordinator.demand()).runs, 'runs that a further runner could claim').to.equal(0);
    expect(await codeOf(coordinator.cancelBatch(batch)), 'not cancelled without the run').to.equal('store-damaged');
    await coordinator.close();
  });

  it('of verdicts: they are computed again from the runs', async () => {
    const { records, batch, other } = await disk(study({ runs: 8, requirements }), false);
    records.set(keys.verdicts(batch), 'damaged');
    const coordinator = await openCoordinator(
      new DamagedStore(records, new Set([keys.verdicts(batch)])),
      new SimulatedClock(),
    );
    expect(await claimAll(coordinator, other)).to.equal(2);
    await coordinator.parts.judgements.idle();
    expect(coordinator.parts.judgements.verdictsOf(readBatch(coordinator.parts.store, batch))).to.have.length(1);
    await coordinator.close();
  });

  it('of a submission that leaves the cache: claimed runs are given back, and no further ones are claimed', async () => {
    const { records, batch, other } = await disk(study({ runs: 8 }), false);
    const store = new DamagedStore(records);
    const coordinator = await openCoordinator(store, new SimulatedClock());
    // Its resources are known, the study is not in the cache any more.
    await coordinator.demand();
    store.damaged.add(keys.submission(batch));
    expect(await claimAll(coordinator, other)).to.equal(2);
    const { jobs_by_status: counts } = await coordinator.batch(batch);
    expect(counts).to.include({ Pending: 5, Claimed: 1, Completed: 1, Cancelled: 1 });
    await coordinator.close();
  });
});

/** Extension of studies: an extended design equals the larger one, families, and that parent and children agree on disk. */
import { expect } from 'chai';
import type { SimbatchError } from '../../../../src/domain/errors.ts';
import type { BatchSubmission, SamplingMethod } from '../../../../src/contract/types.ts';
import { designEnd, extensionOf } from '../../../../src/domain/study/growth.ts';
import { familyOf } from '../../../../src/coordinator/kernel/records/family.ts';
import { openCoordinator, type Coordinator } from '../../../../src/coordinator/coordinator.ts';
import type { Snapshot, SnapshotRecord } from '../../../../src/coordinator/snapshots/format.ts';
import { importSnapshot } from '../../../../src/coordinator/snapshots/import.ts';
import { MemoryStore } from '../../../support/memory-store.ts';
import { readBatch } from '../../../../src/coordinator/kernel/records/read-batch.ts';
import { all, codeOf, Scene } from '../../../support/scene.ts';
import { settled } from '../../../support/simulated-clock.ts';
import { study } from '../../../support/studies.ts';

const sampled = (method: SamplingMethod, more: Partial<BatchSubmission['config']['monte_carlo']> = {}) => ({
  monte_carlo: { sampling_method: method, ...more },
});

/** The export of a coordinator as an open snapshot. */
async function exported(api: Coordinator): Promise<Snapshot> {
  const { head, records: listing } = await api.exportSnapshot();
  async function* records(): AsyncGenerator<SnapshotRecord> {
    for await (const chunk of listing.chunks) {
      for (const { key, json } of chunk) {
        yield { key: key as SnapshotRecord['key'], value: JSON.parse(json) as Record<string, unknown> };
      }
    }
  }
  return { ...head, records: records() };
}

describe('coordinator/studies/growth/extend', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.open();
  });
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  /** The samples of a batch, one line each. */
  async function samples(batch: string): Promise<string[]> {
    let text = '';
    for await (const part of await scene.api.samples(batch, 'ndjson')) text += part;
    return text.trimEnd().split('\n');
  }

  for (const method of ['quasi_monte_carlo', 'monte_carlo'] as const) {
    it(`continues a ${method} design: the extensions equal the larger study run by run`, async () => {
      const first = await scene.submit({ runs: 100, config: sampled(method) });
      const larger = await scene.submit({ runs: 257, config: sampled(method) });
      const second = await scene.api.extendBatch(first, { runs: 128 });
      expect(second).to.include({ mode: 'continued', run_ids: '100-127', total_jobs: 28 });
      const third = await scene.api.extendBatch(second.batch_id, { runs: 257 });
      expect(third).to.include({ mode: 'continued', run_ids: '128-256', total_jobs: 129 });
      const parts = [first, second.batch_id, third.batch_id];
      const grown = (await Promise.all(parts.map(samples))).flat();
      expect(grown).to.have.length(257);
      expect(grown).to.deep.equal(await samples(larger));
    });
  }

  it('continues after the runs of the whole family, whichever member is extended', async () => {
    const first = await scene.submit({ runs: 10, config: sampled('quasi_monte_carlo') });
    await scene.api.extendBatch(first, { runs: 20 });
    const { run_ids: runIds } = await scene.api.extendBatch(first, { runs: 30 });
    expect(runIds).to.equal('20-29');
    const both = [scene.api.extendBatch(first, { runs: 40 }), scene.api.extendBatch(first, { runs: 50 })];
    expect((await Promise.all(both)).map((it) => it.run_ids)).to.deep.equal(['30-39', '40-49']);
  });

  for (const method of ['latin_hypercube', 'quasi_monte_carlo'] as const) {
    it(`continues a ${method} study of replicates with further ones of the same size`, async () => {
      const first = await scene.submit({ runs: 24, config: sampled(method, { replicates: 3 }) });
      const larger = await scene.submit({ runs: 56, config: sampled(method, { replicates: 7 }) });
      const second = await scene.api.extendBatch(first, { runs: 56 });
      expect(second).to.include({ mode: 'continued', run_ids: '24-55', total_jobs: 32 });
      const grown = (await Promise.all([first, second.batch_id].map(samples))).flat();
      expect(grown).to.deep.equal(await samples(larger));
      for (const [runs, detail] of [
        [60, 'is 60, and the replicates of the study have 8 runs each; give 56 or 64'],
        [88_008, 'is 88008; a study has up to 10000 replicates, so give at most 80000'],
      ] as const) {
        const refusal = await scene.api.extendBatch(first, { runs }).catch((error: unknown) => error);
        expect(JSON.stringify(refusal)).to.include(detail);
      }
    });
  }

  it('gives a Latin hypercube the next replicate, of as many runs or of another number', async () => {
    const first = await scene.submit({ runs: 10, config: sampled('latin_hypercube') });
    const second = await scene.api.extendBatch(first, {});
    expect(second).to.include({ mode: 'replicate', replicate: 1, total_jobs: 10 }).and.not.have.property('run_ids');
    expect(await scene.api.extendBatch(first, { runs: 25 })).to.include({ replicate: 2, total_jobs: 25 });
    const alone = await scene.submit({ runs: 10, config: sampled('latin_hypercube', { replicate: 1 }) });
    expect(await samples(second.batch_id)).to.deep.equal(await samples(alone));
    expect(await samples(second.batch_id)).to.not.deep.equal(await samples(first));
  });

  it('completes a design that runs_override cut short, of every method', async () => {
    for (const method of ['latin_hypercube', 'quasi_monte_carlo'] as const) {
      const first = await scene.submit({ runs: 50, runsOverride: 20, config: sampled(method) });
      const whole = await scene.submit({ runs: 50, config: sampled(method) });
      const rest = await scene.api.extendBatch(first, { runs: 50 });
      expect(rest).to.include({ mode: 'continued', run_ids: '20-49' });
      expect([...(await samples(first)), ...(await samples(rest.batch_id))]).to.deep.equal(await samples(whole));
    }
  });

  it('inherits everything else of the submission, and takes another name', async () => {
    const submission: BatchSubmission = {
      ...study({ runs: 10, seed: null, policy: { canary_runs: 2, max_failures: '5%', priority: 3 } }),
      requirements: [{ name: 'hit', output: 'miss_m', condition: '< 5', probability: 0.9 }],
      outputs: { miss_m: { units: 'm' } },
      labels: { campaign: '2026-q4' },
    };
    const { batch_id: first } = await scene.api.submit(submission);
    const { batch_id: second } = await scene.api.extendBatch(first, { runs: 15, name: 'more' });
    const [before, after] = [await scene.api.submission(first), await scene.api.submission(second)];
    const design = { ...before.config.monte_carlo, runs: 15, run_ids: '10-14' };
    expect(after).to.deep.equal({ ...before, name: 'more', config: { ...before.config, monte_carlo: design } });
    expect((await scene.api.batch(second)).batch.labels).to.deep.equal({ campaign: '2026-q4' });
  });

  it('has the configuration hash of a study that is submitted with the same runs of the design', async () => {
    const first = await scene.submit({ runs: 10 });
    const { batch_id: second } = await scene.api.extendBatch(first, { runs: 15 });
    const alone = await scene.submit({ runs: 15, config: { monte_carlo: { run_ids: '10-14' } } });
    const hashes = await Promise.all(
      [first, second, alone].map(async (it) => (await scene.api.batch(it)).batch.config_hash),
    );
    expect(hashes[1]).to.equal(hashes[2]).and.not.equal(hashes[0]);
  });

  it('refuses runs that the family has, a missing number and a design that its data do not cover', async () => {
    const first = await scene.submit({ runs: 10 });
    for (const runs of [10, 9, 1]) {
      const error: unknown = await scene.api.extendBatch(first, { runs }).catch((it: unknown) => it);
      expect((error as SimbatchError).faults).to.deep.equal([
        {
          pointer: '/runs',
          detail: `is ${runs}; the study and its extensions have runs up to 9 of the design, so give more than 10`,
        },
      ]);
    }
    expect(await codeOf(scene.api.extendBatch(first, {}))).to.equal('invalid-request');
    expect(await codeOf(scene.api.extendBatch(first, { runs: 30 }, { maxRuns: 19 }))).to.equal('invalid-request');
    const table = { mass: { distribution: { type: 'table' as const, values: [1, 2, 3] }, units: '' } };
    const short = await scene.submit({ runs: 3, config: { dispersions: table } });
    expect(await codeOf(scene.api.extendBatch(short, { runs: 4 }))).to.equal('invalid-request');
    expect(await codeOf(scene.api.extendBatch(first.replace('0', 'f'), { runs: 11 }))).to.equal('unknown-batch');
    expect(await all(await scene.api.batches({}))).to.have.length(2);
    const most = await scene.api.extendBatch(first, { runs: 30 }, { maxRuns: 20 });
    expect(most.total_jobs, 'the most runs that a study may have').to.equal(20);
  });

  it('shows parent and children both ways, also after a restart and an import of its export', async () => {
    const first = await scene.submit({ runs: 4 });
    const { batch_id: second } = await scene.api.extendBatch(first, { runs: 6 });
    const { batch_id: third } = await scene.api.rerunBatch(second, { relation: 'comparison' });
    await scene.restart();
    const link = (batch_id: string, relation: string) => ({ batch_id, relation });
    const links = async (api: Pick<Coordinator, 'batches'>): Promise<object> =>
      Object.fromEntries(
        (await all(await api.batches({}))).map(({ id, parent, children }) => [id, { parent, children }]),
      );
    const expected = {
      [first]: { parent: undefined, children: [link(second, 'extension')] },
      [second]: { parent: link(first, 'extension'), children: [link(third, 'comparison')] },
      [third]: { parent: link(second, 'comparison'), children: undefined },
    };
    expect(await links(scene.api)).to.deep.equal(expected);
    const imported = new MemoryStore();
    await importSnapshot(await exported(scene.api), imported);
    expect([...imported.disk].filter(([key]) => key.startsWith('!family!'))).to.deep.equal(
      [...scene.store.disk].filter(([key]) => key.startsWith('!family!')),
    );
    expect(await links(await openCoordinator(imported, scene.world))).to.deep.equal(expected);
  });

  it('lists a family by replicate, newest last, without comparisons and deleted batches', async () => {
    const first = await scene.submit({ runs: 4, config: sampled('latin_hypercube') });
    const { batch_id: replicate } = await scene.api.extendBatch(first);
    const { batch_id: rerun } = await scene.api.rerunBatch(first);
    const { batch_id: comparison } = await scene.api.rerunBatch(first, { relation: 'comparison' });
    const { batch_id: compared } = await scene.api.rerunBatch(comparison);
    const family = async (batch: string): Promise<string[]> => {
      const view = scene.store.snapshot();
      const members = await familyOf(scene.api.parts.share, (key) => view.get(key), readBatch(view, batch).context);
      return members.map(({ state, replicate: number }) => `${number} ${state.context.batchId}`);
    };
    const whole = [`0 ${first}`, `0 ${rerun}`, `1 ${replicate}`];
    for (const member of [first, replicate, rerun]) expect(await family(member)).to.deep.equal(whole);
    expect(await family(compared)).to.deep.equal([`0 ${comparison}`, `0 ${compared}`]);
    const { batch_id: again } = await scene.api.rerunBatch(rerun);
    await scene.api.cancelBatch(rerun);
    await scene.api.deleteBatch(rerun);
    expect(await family(first), 'without a member in between').to.deep.equal([
      `0 ${first}`,
      `0 ${again}`,
      `1 ${replicate}`,
    ]);
    expect((await scene.api.batch(first)).batch.children?.map((it) => it.batch_id)).to.not.include(rerun);
    await scene.api.cancelBatch(first);
    await scene.api.deleteBatch(first);
    expect(await family(again), 'without the first').to.deep.equal([`0 ${again}`, `1 ${replicate}`]);
  });

  it('creates one batch for repeated requests with one key, and refuses the key for another request', async () => {
    const first = await scene.submit({ runs: 4 });
    const options = { idempotencyKey: 'k', bodyDigest: 'd' };
    const made = await scene.api.extendBatch(first, { runs: 6 }, options);
    await scene.restart();
    expect(await scene.api.extendBatch(first, { runs: 6 }, options)).to.deep.equal(made);
    expect(await all(await scene.api.batches({}))).to.have.length(2);
    const other = scene.api.rerunBatch(first, {}, { idempotencyKey: 'k', bodyDigest: 'e' });
    expect(await codeOf(other)).to.equal('idempotency-key-reused');
  });

  it('answers a repeated request after the batch of the first one is on disk, and never before', async () => {
    let release: (() => void) | undefined;
    let isHeld = false;
    scene = await Scene.open({
      beforeWrite: () => (isHeld ? new Promise((resolve) => (release = resolve)) : Promise.resolve()),
    });
    const first = await scene.submit({ runs: 4 });
    isHeld = true;
    const options = { idempotencyKey: 'k', bodyDigest: 'd' };
    const answers: string[] = [];
    const ask = async (): Promise<void> => {
      answers.push((await scene.api.extendBatch(first, { runs: 6 }, options)).batch_id);
    };
    const asked = [ask()];
    await settled();
    asked.push(ask());
    await settled();
    expect(answers, 'while the write is in flight').to.deep.equal([]);
    isHeld = false;
    release?.();
    await Promise.all(asked);
    expect(answers[1]).to.equal(answers[0]);
  });

  it('lists no child whose creation was lost in a crash', async () => {
    const first = await scene.submit({ runs: 4 });
    const lost = scene.api.extendBatch(first, { runs: 6 });
    void lost.catch(() => {});
    await scene.restart();
    expect((await scene.api.batch(first)).batch.children).to.equal(undefined);
    expect(await all(await scene.api.batches({}))).to.have.length(1);
    expect((await scene.api.extendBatch(first, { runs: 6 })).run_ids).to.equal('4-5');
  });
});

describe('domain/study/growth', () => {
  it('costs the same for any number of runs', () => {
    const large = study({ runs: 2_000_000_000, config: sampled('quasi_monte_carlo') });
    const extension = extensionOf(large, { runs: 2_100_000_000 }, { end: designEnd(large), replicate: 0 });
    expect(extension).to.include({ runIds: '2000000000-2099999999' });
  });
});

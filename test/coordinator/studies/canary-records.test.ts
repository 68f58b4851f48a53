/** Canary studies on disk: one write decides, and what an import, damage, retention and a store without them leave. */
import { expect } from 'chai';
import type { Uuid } from '../../../src/contract/types.ts';
import type { Changes } from '../../../src/coordinator/kernel/storage/store.ts';
import type { SnapshotRecord } from '../../../src/coordinator/snapshots/format.ts';
import { importSnapshot } from '../../../src/coordinator/snapshots/import.ts';
import { decodeBatch, isTerminal } from '../../../src/coordinator/kernel/actors/actor-kinds.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { endLostCanaries } from '../../../src/coordinator/studies/lost-canaries.ts';
import { SWEEP_MS } from '../../../src/domain/retention/sweep-times.ts';
import { MemoryStore, type MemoryStoreOptions } from '../../support/memory-store.ts';
import type { CoordinatorOptions } from '../../../src/coordinator/options.ts';
import { runs, Scene } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';

const HOUR_MS = 3_600_000;

describe('coordinator/studies/canary: records', () => {
  let scene: Scene;
  afterEach(() => {
    expect(scene.faults).to.deep.equal([]);
  });

  const open = async (options: MemoryStoreOptions & Partial<CoordinatorOptions> = {}): Promise<void> => {
    scene = await Scene.open(options);
    await scene.register('a', { slots: 50 });
  };
  const submitted = async (): Promise<[batch: Uuid, canary: Uuid]> => {
    const batch = await scene.submit({ runs: 4, maxRetries: 0, policy: { canary: 'corners' } });
    return [batch, (await scene.api.batch(batch)).batch.children![0]!.batch_id];
  };
  const claimed = async (): Promise<Uuid[]> =>
    (await scene.claimRaw('a', 50)).assignments.map(({ job }) => job.batch_id);
  /** Executes the runs of a study that were claimed; those named fail. */
  const execute = async (batch: Uuid, count: number, failing: readonly number[] = []): Promise<void> => {
    for (let run = 0; run < count; run++) {
      await scene.start(batch, run, 'a');
      if (failing.includes(run)) await scene.fail(batch, run, 'a', 1, 'invalid', `run ${run} broke`);
      else await scene.complete(batch, run, 'a');
    }
  };
  const finding = async (batch: Uuid) => (await scene.api.findings(batch)).find(({ code }) => code === 'canary-failed');
  /** Starts on an import of an export: of one study, or of all. */
  const reopenImported = async (batch?: Uuid): Promise<void> => {
    const { head, records: listing } = await scene.api.exportSnapshot(batch);
    async function* records(): AsyncGenerator<SnapshotRecord> {
      for await (const chunk of listing.chunks)
        for (const { key, json } of chunk) yield { key: key as SnapshotRecord['key'], value: JSON.parse(json) };
    }
    const imported = new MemoryStore();
    await importSnapshot({ ...head, records: records() }, imported);
    scene.store = imported;
    await scene.restart();
    await scene.register('a', { slots: 50 });
  };

  for (const [name, failing] of [
    ['passes', []],
    ['fails', [2]],
  ] as const)
    it(`is decided in the write in which it ends: a canary study that ${name} is never on disk beside a study that still waits`, async () => {
      const decided: boolean[] = [];
      let canary: Uuid = '';
      let batch: Uuid = '';
      const beforeWrite = async (changes: Changes): Promise<void> => {
        const written = new Map(changes);
        const record = written.get(keys.batch(canary));
        if (record == null || !isTerminal(decodeBatch(record).value)) return;
        const waiting = written.get(keys.batch(batch));
        const { releasedAtMs, canaryFailedAtMs } = decodeBatch(waiting ?? expect.fail('it is not written')).context;
        decided.push(releasedAtMs !== undefined, canaryFailedAtMs !== undefined);
      };
      await open({ beforeWrite });
      [batch, canary] = await submitted();
      await claimed();
      await execute(canary, 3, failing);
      expect(decided).to.deep.equal([failing.length === 0, failing.length > 0]);
      await scene.restart();
      expect(await claimed()).to.have.length(failing.length === 0 ? 4 : 0);
    });

  it('continues from an import of all studies while the canary study is open', async () => {
    await open();
    const [batch, canary] = await submitted();
    await reopenImported();
    expect(new Set(await claimed())).to.deep.equal(new Set([canary]));
    await execute(canary, 3);
    expect(await claimed()).to.deep.equal([batch, batch, batch, batch]);
  });

  it('waits for a release after an import of the study alone, and says why', async () => {
    await open();
    const [batch] = await submitted();
    await reopenImported(batch);
    expect(await claimed()).to.deep.equal([]);
    expect((await scene.api.batch(batch)).batch).to.include({ status: 'Pending', canary_failed: true });
    const { message, remedy, ...others } = (await finding(batch))!;
    expect(message).to.match(/^the canary study \S+ has not passed, and does not exist any more; 4 runs must wait$/);
    expect(remedy).to.match(
      /^cancel the study, correct the cause and submit a new one, or release its runs with `simbatch release \S+`$/,
    );
    expect(others).to.not.have.property('study');
    await scene.api.releaseBatch(batch);
    expect(await claimed()).to.deep.equal([batch, batch, batch, batch]);
    await reopenImported(batch);
    expect((await scene.api.batch(batch)).batch, 'it stays released').to.not.have.property('canary_failed');
  });

  it('does not make a canary study wait for a study that was not imported with it', async () => {
    await open();
    const [, canary] = await submitted();
    await reopenImported(canary);
    expect(new Set(await claimed())).to.deep.equal(new Set([canary]));
    await execute(canary, 3);
    expect(await scene.status(canary)).to.equal('Completed: 3 Completed');
  });

  for (const [name, failing] of [
    ['has passed', []],
    ['has failed', [1]],
  ] as const)
    it(`reads at the start that a canary study ${name} of which damage has lost the report`, async () => {
      await open();
      const [batch, canary] = await submitted();
      await claimed();
      const waiting = scene.store.disk.get(keys.batch(batch))!;
      await execute(canary, 3, failing);
      scene.store.disk.set(keys.batch(batch), waiting);
      await scene.restart();
      expect(await claimed()).to.have.length(failing.length === 0 ? 4 : 0);
      const { events } = await scene.api.batchHistory(batch);
      expect(events[1]?.type).to.equal(failing.length === 0 ? 'canary-passed' : 'canary-failed');
      const found = await finding(batch);
      if (failing.length === 0) expect(found).to.equal(undefined);
      else
        expect(found!.message).to.equal('the canary run with all inputs low has failed: run 1 broke; 4 runs must wait');
    });

  it('keeps the failure of a canary study that retention has deleted, and deletes each study by its own end', async () => {
    await open({ retainMs: HOUR_MS });
    const [batch, canary] = await submitted();
    await claimed();
    await execute(canary, 3, [0]);
    const { message } = (await finding(batch))!;
    expect(message).to.equal('the canary run with every input at its median has failed: run 0 broke; 4 runs must wait');
    for (let minutes = 0; minutes < 120; minutes += SWEEP_MS / 60_000) {
      await scene.world.advance(SWEEP_MS);
      await settled();
    }
    expect([...scene.store.disk.keys()].filter((key) => key.includes(canary.slice(0, 28)))).to.deep.equal([]);
    expect((await scene.api.batch(batch)).batch)
      .to.include({ canary_failed: true })
      .and.not.have.property('children');
    expect((await finding(batch))!.message).to.contain('does not exist any more; 4 runs must wait');
    await scene.restart();
    expect((await scene.api.batch(batch)).batch).to.include({ canary_failed: true });
    await scene.api.cancelBatch(batch);
    expect(await scene.status(batch)).to.equal('Cancelled: 4 Cancelled');
  });

  it('is on disk before the start continues that a study has lost its canary study', async () => {
    await open();
    const [batch] = await submitted();
    const { store, directory } = scene.api.parts;
    const batches = new Map([...directory.batches].filter(([id]) => id === batch));
    let write = (): void => {};
    const turns = { run: () => new Promise<void>((resolve) => (write = resolve)) };
    let isOver = false;
    const ended = endLostCanaries({ directory: { batches }, store, turns } as never).then(() => (isOver = true));
    await settled();
    expect(isOver).to.equal(false);
    write();
    await ended;
  });

  it('reads a store that knows no canary studies: a study without one has the records that it had', async () => {
    await open();
    const batch = await scene.submit({ runs: 2 });
    expect(scene.store.disk.get(keys.batch(batch))).to.not.match(/canary/i);
    await scene.restart();
    expect(runs(await scene.claimRaw('a', 50))).to.deep.equal([0, 1]);
  });
});

/** Histories in LevelDB: their size, a restart, a backup; and damage to them, which `verify` names and `repair` takes out. */
import { expect } from 'chai';
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import { repairStore } from '../../../src/coordinator/repair/repair.ts';
import { verifyStore } from '../../../src/coordinator/repair/verify.ts';
import { restoreBackup } from '../../../src/coordinator/kernel/storage/backup.ts';
import { GROUP_KEY } from '../../../src/coordinator/kernel/storage/integrity/group-chain.ts';
import { allOf, historiesOf, keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { openLevelEngine } from '../../../src/coordinator/kernel/storage/leveldb/level-engine.ts';
import { openStore } from '../../../src/coordinator/kernel/storage/open-store.ts';
import type { Operation } from '../../../src/coordinator/kernel/storage/engine.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { encodeHistory } from '../../../src/domain/histories/values.ts';
import { SWEEP_MS } from '../../../src/domain/retention/sweep-times.ts';
import { codeOf } from '../../support/scene.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { study } from '../../support/studies.ts';

const DAY_MS = 86_400_000;
/** Characters of a batch id that the ids of its runs share. */
const BATCH_PART = 28;
const POINTS = 2_000;
const RUNS = 40;
const capabilities = {
  max_concurrent_jobs: RUNS,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
  features: ['histories'],
};
/** Values that no compression makes shorter. */
const valuesOf = (run: number, place: number): number[] =>
  Array.from({ length: POINTS }, (_, at) => (at % 7 === 3 ? Number.NaN : Math.sin(run * 1e4 + place * 1e3 + at)));

describe('coordinator/histories: on disk', () => {
  let folder = '';
  let original = '';
  let directory = '';
  let batch = '';

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-histories-'));
    original = join(folder, 'original');
    const coordinator = await openCoordinator(await openStore(original), systemClock);
    const at = { from: 0, to: POINTS - 1, step: 1 };
    const config = { histories: ['a', 'b'].map((variable) => ({ variable, at })) };
    batch = (await coordinator.submit(study({ runs: RUNS, config }), {})).batch_id;
    await coordinator.register({ id: 'r1', instance: 'i1', capabilities });
    const { assignments } = await coordinator.claim('r1', { instance: 'i1', max_jobs: RUNS });
    for (const { job } of assignments) {
      const run = job.run_config.run_id;
      const histories = { a: encodeHistory(valuesOf(run, 0)), b: encodeHistory(valuesOf(run, 1)) };
      const result = { execution_time_secs: 1, output_files: [], metadata: {}, histories };
      await coordinator.start(job.id, { runner_id: 'r1', attempt: 1 });
      await coordinator.complete(job.id, { runner_id: 'r1', attempt: 1, result });
    }
    await coordinator.close();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  beforeEach(() => {
    directory = join(folder, 'data');
    cpSync(original, directory, { recursive: true });
  });
  afterEach(() => {
    for (const name of ['data', 'repaired', 'restored']) rmSync(join(folder, name), { recursive: true, force: true });
  });

  async function opened<T>(place: string, use: (coordinator: Coordinator) => Promise<T>): Promise<T> {
    const coordinator = await openCoordinator(await openStore(place), systemClock);
    try {
      return await use(coordinator);
    } finally {
      await coordinator.close();
    }
  }
  const shown = (coordinator: Coordinator, run: number) =>
    coordinator.jobHistories(jobId(batch, run)).then(({ histories }) => histories.map(({ values }) => values));
  const expected = (run: number) =>
    [0, 1].map((place) => valuesOf(run, place).map((it) => (Number.isNaN(it) ? null : it)));
  /** Changes records below the checksums, as damage does, and the chain of groups not at all. */
  async function write(operations: Operation[]): Promise<void> {
    const engine = await openLevelEngine(directory);
    const last = engine.get(GROUP_KEY)!;
    await engine.write([...operations, [GROUP_KEY, last]], { sync: true });
    // Into tables: the chain of groups is that of the logs.
    await engine.compact({ gte: '!', lt: '"' });
    await engine.close();
    await (await openLevelEngine(directory)).close();
  }
  async function sealed(place: number, run: number): Promise<string> {
    const engine = await openLevelEngine(directory);
    const text = engine.get(keys.history(batch, place, run))!;
    await engine.close();
    return text;
  }

  /** Reads one history of all runs to its end. */
  async function read(coordinator: Coordinator, format: 'ndjson' | 'parquet' | 'arrow'): Promise<void> {
    const answer = await coordinator.histories({ batchId: batch, name: 'a', format, wide: false });
    if (answer.state !== 'ready') throw new Error(answer.state);
    for await (const piece of answer.body as AsyncIterable<Uint8Array>) void piece;
  }

  it('are the same after a restart, in about 8 bytes a value', async () => {
    await opened(directory, async (coordinator) => {
      for (const run of [0, 1, RUNS - 1]) expect(await shown(coordinator, run)).to.deep.equal(expected(run));
    });
    const bytes = readdirSync(original).reduce((sum, name) => sum + statSync(join(original, name)).size, 0);
    const values = RUNS * 2 * POINTS * 8;
    expect(bytes).to.be.within(values, values * 1.25);
  });

  it('are one range for all runs of a history, in the order of runs', async () => {
    const engine = await openLevelEngine(directory);
    const view = engine.snapshot();
    const runs: string[] = [];
    for await (const chunk of view.entries(historiesOf(batch, 1, 10))) for (const [key] of chunk) runs.push(key);
    await view.close();
    await engine.close();
    expect(runs).to.deep.equal(Array.from({ length: RUNS - 10 }, (_, at) => keys.history(batch, 1, at + 10)));
  });

  it('are in a backup, whole', async () => {
    const restored = join(folder, 'restored');
    await opened(directory, async (coordinator) => {
      const pieces: string[] = [];
      for await (const piece of await coordinator.backup()) pieces.push(piece);
      async function* bytes() {
        yield Buffer.from(pieces.join(''));
      }
      await restoreBackup(bytes, restored);
    });
    await opened(restored, async (coordinator) => {
      expect(await shown(coordinator, 7)).to.deep.equal(expected(7));
    });
    expect((await verifyStore(restored)).faults).to.deep.equal([]);
  });

  /** The keys that name the study in any way. */
  async function keysOfStudy(): Promise<string[]> {
    const engine = await openLevelEngine(directory);
    const view = engine.snapshot();
    const found: string[] = [];
    for await (const chunk of view.entries({ gte: '', lt: '\u007F' }))
      for (const [key] of chunk) if (key.includes(batch.slice(0, BATCH_PART))) found.push(key);
    await view.close();
    await engine.close();
    return found;
  }

  for (const [title, remove] of [
    ['that is deleted', async (coordinator: Coordinator) => void (await coordinator.deleteBatch(batch))],
    [
      'that is older than the retention time',
      async (coordinator: Coordinator, world: SimulatedClock) => {
        await world.advance(SWEEP_MS);
        await coordinator.tick();
      },
    ],
  ] as const)
    it(`those of a study ${title} are gone, with every key of it`, async () => {
      const histories = (await keysOfStudy()).filter((key) => key.startsWith(allOf('history').gte));
      expect(histories).to.have.length(2 * RUNS);
      const world = new SimulatedClock({ nowMs: Date.now() + DAY_MS });
      const coordinator = await openCoordinator(await openStore(directory), world, { retainMs: DAY_MS / 2 });
      await remove(coordinator, world);
      await coordinator.parts.purges.idle();
      await coordinator.close();
      expect(await keysOfStudy()).to.deep.equal([]);
      expect((await verifyStore(directory)).faults).to.deep.equal([]);
    });

  it('whole ones are verified without a fault, also in the logs', async () => {
    expect((await verifyStore(directory)).faults).to.deep.equal([]);
  });

  for (const [title, damage] of [
    [
      'with a changed value',
      async () => (await sealed(0, 3)).replace(/(?<=^.{20})./, (it) => (it === 'A' ? 'B' : 'A')),
    ],
    ['under the key of another run', () => sealed(0, 4)],
    ['that is gone', async () => null],
  ] as [string, () => Promise<string | null>][])
    it(`one ${title} is named by verify, refused to readers, and taken out by repair`, async () => {
      const key = keys.history(batch, 0, 3);
      await write([[key, await damage()]]);
      const { faults } = await verifyStore(directory);
      const [isDamaged] = faults.filter((it) => it === `${key}: the checksum of the record does not match`);
      expect(isDamaged !== undefined).to.equal(title !== 'that is gone');
      const missing = `run 3 of study ${batch} misses 1 of the histories that its result says it left`;
      expect(faults)
        .to.include(missing)
        .and.have.length(isDamaged === undefined ? 1 : 2);
      await opened(directory, async (coordinator) => {
        expect(await codeOf(coordinator.jobHistories(jobId(batch, 3)))).to.equal('store-damaged');
        expect(await shown(coordinator, 4)).to.deep.equal(expected(4));
        // A stream verifies what it finds; without the record there is nothing to verify.
        for (const format of ['ndjson', 'parquet', 'arrow'] as const)
          expect(await codeOf(read(coordinator, format))).to.equal(isDamaged === undefined ? 'ok' : 'store-damaged');
      });

      const repaired = join(folder, 'repaired');
      const report = await repairStore(directory, repaired, Date.now());
      expect(report.losses).to.equal(isDamaged === undefined ? 1 : 2);
      expect(report.findings).to.include(`run 3 of study ${batch}: 1 of its histories are lost`);
      expect((await verifyStore(repaired)).faults).to.deep.equal([]);
      await opened(repaired, async (coordinator) => {
        expect(await shown(coordinator, 3)).to.deep.equal([null, expected(3)[1]]);
        expect((await coordinator.jobResult(jobId(batch, 3))).history_count).to.equal(1);
        expect(await shown(coordinator, 4)).to.deep.equal(expected(4));
      });
    });

  it('one without a result is found, and dropped by a repair', async () => {
    const engine = await openLevelEngine(directory);
    const result = keys.result(jobId(batch, 5));
    await engine.close();
    await write([[result, null]]);
    expect((await verifyStore(directory)).faults.join()).to.contain(
      `${keys.history(batch, 1, 5)} is of a run whose result`,
    );
    const repaired = join(folder, 'repaired');
    const report = await repairStore(directory, repaired, Date.now());
    expect(report.findings.join()).to.contain(
      `${keys.history(batch, 0, 5)} is of a run whose result says that it left none`,
    );
    await opened(repaired, async (coordinator) => {
      expect(await shown(coordinator, 5)).to.deep.equal([null, null]);
    });
  });
});

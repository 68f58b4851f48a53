/** `verify` and `repair` on damaged directories: what they find, what they save, and that a coordinator continues from it. */
import { expect } from 'chai';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { openCoordinator } from '../../../src/coordinator/coordinator.ts';
import { repairStore } from '../../../src/coordinator/repair/repair.ts';
import { verifyStore } from '../../../src/coordinator/repair/verify.ts';
import { seal, unseal } from '../../../src/coordinator/kernel/storage/integrity/checksum.ts';
import { GROUP_KEY } from '../../../src/coordinator/kernel/storage/integrity/group-chain.ts';
import { openLevelEngine } from '../../../src/coordinator/kernel/storage/leveldb/level-engine.ts';
import { openStore } from '../../../src/coordinator/kernel/storage/open-store.ts';
import type { Operation } from '../../../src/coordinator/kernel/storage/engine.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { all } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';

const capabilities = {
  max_concurrent_jobs: 8,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
};

describe('coordinator/repair', () => {
  let folder = '';
  let directory = '';
  let completed = '';
  let running = '';
  let selected = '';
  let grown = '';

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-repair-'));
    const original = join(folder, 'original');
    const coordinator = await openCoordinator(await openStore(original), systemClock);
    completed = (await coordinator.submit(study({ runs: 20, name: 'done', maxRetries: 0 }), {})).batch_id;
    await coordinator.register({ id: 'r1', instance: 'i1', capabilities, heartbeat_interval_secs: 5 });
    for (let round = 0; round < 6; round += 1) {
      if (round === 5) {
        running = (
          await coordinator.submit(study({ runs: 30, name: 'running' }), { idempotencyKey: 'k', bodyDigest: 'd' })
        ).batch_id;
      }
      const { assignments } = await coordinator.claim('r1', { instance: 'i1', max_jobs: 4 });
      for (const { job, attempt } of assignments) {
        const about = { runner_id: 'r1', attempt };
        await coordinator.start(job.id, about);
        // The last round stays Running.
        if (round === 5) continue;
        if (job.run_config.run_id === 3)
          await coordinator.fail(job.id, { ...about, reason: 'exit', error_message: 'no' });
        else {
          const result = { execution_time_secs: 1, output_files: [], metadata: { n: job.run_config.run_id } };
          await coordinator.complete(job.id, { ...about, result });
        }
      }
    }
    await coordinator.cancelJob(jobId(running, 25));
    // A batch that holds runs 10, 20, 30 and 40 of its design: one Completed, one Running, one untouched, one cancelled.
    const config = { monte_carlo: { run_ids: '10-40:10' } };
    selected = (await coordinator.submit(study({ runs: 100, name: 'selected', config }), {})).batch_id;
    await coordinator.register({ id: 'r3', instance: 'i3', capabilities, heartbeat_interval_secs: 5 });
    const { assignments: some } = await coordinator.claim('r3', { instance: 'i3', max_jobs: 2 });
    expect(some.map(({ job }) => job.id)).to.deep.equal([jobId(selected, 10), jobId(selected, 20)]);
    for (const { job } of some) await coordinator.start(job.id, { runner_id: 'r3', attempt: 1 });
    const result = { execution_time_secs: 1, output_files: [], metadata: {} };
    await coordinator.complete(jobId(selected, 10), { runner_id: 'r3', attempt: 1, result });
    await coordinator.cancelJob(jobId(selected, 40));
    grown = (await coordinator.rerunBatch(completed, { select: { run_ids: '3' } })).batch_id;
    await coordinator.close();
    // Once more, so that there are tables.
    await (await openStore(original)).close();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  beforeEach(() => {
    directory = join(folder, 'data');
    cpSync(join(folder, 'original'), directory, { recursive: true });
  });
  afterEach(() => {
    for (const name of ['data', 'new', 'new.unplaced.ndjson'])
      rmSync(join(folder, name), { recursive: true, force: true });
  });

  const contents = (): Map<string, string> =>
    new Map(readdirSync(directory).map((it) => [it, readFileSync(join(directory, it)).toString('latin1')]));

  /** Changes records below the store, as damage that its files' checksums do not show. */
  async function tamper(change: (get: (key: string) => string) => Operation[]): Promise<void> {
    const engine = await openLevelEngine(directory);
    const group = engine.get(GROUP_KEY) as string;
    const operations = change((key) => unseal(key, engine.get(key) ?? '') ?? '');
    await engine.write([...operations, [GROUP_KEY, group]], { sync: true });
    await engine.close();
    // Opened again, the changes are in a table, where the chain does not see them.
    await (await openLevelEngine(directory)).close();
  }

  /** Repairs, verifies the new directory and runs a coordinator on it to the end of all studies. */
  async function repaired(): Promise<{ findings: string[]; statuses: Record<string, string[]> }> {
    const before = contents();
    const target = join(folder, 'new');
    const { findings } = await repairStore(directory, target, Date.now());
    expect(contents()).to.deep.equal(before);
    expect((await verifyStore(target)).faults).to.deep.equal([]);
    const coordinator = await openCoordinator(await openStore(target), systemClock);
    await coordinator.register({ id: 'r2', instance: 'i2', capabilities, heartbeat_interval_secs: 5 });
    for (;;) {
      const { assignments } = await coordinator.claim('r2', { instance: 'i2', max_jobs: 4 });
      if (assignments.length === 0) break;
      for (const { job, attempt } of assignments) {
        await coordinator.start(job.id, { runner_id: 'r2', attempt });
        const result = { execution_time_secs: 1, output_files: [], metadata: {} };
        await coordinator.complete(job.id, { runner_id: 'r2', attempt, result });
      }
    }
    const statuses: Record<string, string[]> = {};
    for (const { id } of (await all(await coordinator.batches({}))) as { id: string }[]) {
      const jobs = await all(await coordinator.jobs({ batch_id: [id] }));
      statuses[id] = jobs.map((it) => it.status);
    }
    await coordinator.close();
    return { findings, statuses };
  }

  it('finds no fault in an undamaged directory and changes nothing', async () => {
    const before = contents();
    const report = await verifyStore(directory);
    expect(report.faults).to.deep.equal([]);
    expect(report.records).to.be.above(50);
    expect(contents()).to.deep.equal(before);
  });

  it('copies an undamaged directory without a finding', async () => {
    const { findings, statuses } = await repaired();
    expect(findings).to.deep.equal([]);
    expect(statuses[completed]?.filter((it) => it === 'Completed')).to.have.length(19);
    expect(statuses[running]?.filter((it) => it === 'Cancelled')).to.have.length(1);
    expect(statuses[selected]).to.deep.equal(['Completed', 'Running', 'Completed', 'Cancelled']);
  });

  it('reports a record of a family that does not agree with the batches, and writes it anew', async () => {
    const key = `!family!${completed}`;
    const other = JSON.stringify([{ batch_id: selected, parent: completed, relation: 'rerun' }]);
    for (const [record, fault] of [
      [null, /the record of the family of study .* is missing/],
      [seal(key, other), /the record of the family of study .* does not list the studies that came of it/],
    ] as const) {
      await tamper(() => [[key, record]]);
      expect((await verifyStore(directory)).faults.join('\n')).to.match(fault);
    }
    expect((await repaired()).findings).to.deep.equal([]);
    const coordinator = await openCoordinator(await openStore(join(folder, 'new')), systemClock);
    const { batch } = await coordinator.batch(completed);
    expect(batch.children).to.deep.equal([{ batch_id: grown, relation: 'rerun' }]);
    await coordinator.close();
  });

  it('refuses both while a coordinator serves the directory', async () => {
    const store = await openStore(directory);
    expect(await verifyStore(directory).catch((error: { code: string }) => error.code)).to.equal('store-locked');
    const repair = repairStore(directory, join(folder, 'new'), 0);
    expect(await repair.catch((error: { code: string }) => error.code)).to.equal('store-locked');
    await store.close();
    expect(existsSync(join(folder, 'new'))).to.equal(false);
  });

  const RECORDS: [string, (get: (key: string) => string) => Operation[], RegExp, RegExp][] = [
    [
      'a damaged job record',
      () => [[`!job!${jobId(completed, 5)}`, '00000000{"value":"Completed"}']],
      /!job!.*: the checksum of the record does not match/,
      /its record is lost with its attempts; it is Completed by its result/,
    ],
    [
      'a missing job record',
      () => [[`!job!${jobId(completed, 5)}`, null]],
      /the record of run 5 is missing/,
      /its record is lost with its attempts; it is Completed by its result/,
    ],
    [
      'a missing job record of a batch that selects runs',
      () => [[`!job!${jobId(selected, 10)}`, null]],
      /run .* has no record, and a result/,
      /its record is lost with its attempts; it is Completed by its result/,
    ],
    [
      'missing records of a run of a batch that selects runs',
      () => [
        [`!job!${jobId(selected, 10)}`, null],
        [`!result!${jobId(selected, 10)}`, null],
      ],
      /the record of run 10 is missing/,
      /\(run 10\): its record is lost; it is Failed now/,
    ],
    [
      'a wrong cursor of a batch that selects runs',
      (get) => {
        const key = `!batch!${selected}`;
        return [[key, seal(key, get(key).replace('"next":2', '"next":1'))]];
      },
      /counts 1 runs cancelled ahead, and its records have 2/,
      /its counters follow the records that are left: next 1 -> 2/,
    ],
    [
      'a missing result',
      () => [[`!result!${jobId(completed, 5)}`, null]],
      /is Completed, and its result is missing/,
      /its result is lost; it is Failed now/,
    ],
    [
      'a missing submission',
      () => [[`!submission!${completed}`, null]],
      /study .* has no submission/,
      /its submission is lost; the records of 20 runs are in .*new\.unplaced\.ndjson/,
    ],
    [
      'a missing batch record',
      () => [[`!batch!${completed}`, null]],
      /study .* has no record; 20 records of its runs/,
      /its record is lost; the records of 20 runs are in .*new\.unplaced\.ndjson/,
    ],
    [
      'a missing runner',
      () => [['!runner!r1', null]],
      /is Running on runner r1, which does not hold it/,
      /the runner that executed it is lost; it is Pending again/,
    ],
    [
      'a counter that is wrong',
      (get) => {
        const key = `!batch!${completed}`;
        return [[key, seal(key, get(key).replace('"completed":19', '"completed":18'))]];
      },
      /counts 18 Completed runs, and its records have 19/,
      /its counters follow the records that are left: completed 18 -> 19/,
    ],
    [
      'a count of telemetry that is wrong',
      (get) => {
        const key = `!result!${jobId(completed, 5)}`;
        const telemetry = { seen: [], samples: 3, lost: 1, refused: 0 };
        return [[key, seal(key, JSON.stringify({ ...(JSON.parse(get(key)) as object), telemetry }))]];
      },
      /counts the telemetry of 0 runs, and its results have that of 1/,
      /its counters follow the records that are left: runs with telemetry 0 -> 1/,
    ],
    ['a missing index record', () => [[`!open!${running}`, null]], /its index record of open studies is missing/, /^$/],
    [
      'a job that a runner holds and that has ended',
      (get) => {
        const key = `!job!${jobId(running, 2)}`;
        return [[key, seal(key, get(key).replace('"value":"Running"', '"value":"Completed"'))]];
      },
      /is Completed, and runner r1 holds it/,
      /its result is lost; it is Failed now/,
    ],
  ];
  for (const [name, change, fault, finding] of RECORDS) {
    it(`finds and repairs ${name}`, async () => {
      await tamper(change);
      expect((await verifyStore(directory)).faults.join('\n')).to.match(fault);
      const { findings, statuses } = await repaired();
      expect(findings.join('\n')).to.match(finding);
      const open = Object.values(statuses)
        .flat()
        .filter((it) => it === 'Pending');
      expect(open).to.deep.equal([]);
    });
  }

  it('saves what LevelDB can still read when a file is deleted or damaged, and names the file', async () => {
    const [manifest = ''] = readdirSync(directory).filter((it) => it.startsWith('MANIFEST'));
    const [table = ''] = readdirSync(directory).filter((it) => it.endsWith('.ldb'));
    for (const [file, damage] of [
      ['CURRENT', (path: string) => rmSync(path)],
      [manifest, (path: string) => rmSync(path)],
      [
        table,
        (path: string) => {
          const bytes = readFileSync(path);
          bytes[Math.floor(bytes.length / 3)]! ^= 4;
          writeFileSync(path, bytes);
        },
      ],
    ] as const) {
      rmSync(directory, { recursive: true });
      cpSync(join(folder, 'original'), directory, { recursive: true });
      damage(join(directory, file));
      expect((await verifyStore(directory)).faults[0]).to.contain(file);
      const { findings } = await repaired();
      expect(findings[0]).to.contain(file);
      if (file !== table) expect(findings).to.have.length(1);
      rmSync(join(folder, 'new'), { recursive: true });
    }
  });
});

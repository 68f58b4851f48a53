/** `repair` on a table of LevelDB that is damaged in one place: every record whose block is whole is saved, and the others are named. */
import { expect } from 'chai';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { openCoordinator } from '../../../src/coordinator/coordinator.ts';
import { openLevelEngine } from '../../../src/coordinator/kernel/storage/leveldb/level-engine.ts';
import { salvageTable } from '../../../src/coordinator/kernel/storage/leveldb/salvage.ts';
import { dataBlocksOf, tableFault } from '../../../src/coordinator/kernel/storage/leveldb/table.ts';
import { openStore } from '../../../src/coordinator/kernel/storage/open-store.ts';
import { repairStore } from '../../../src/coordinator/repair/repair.ts';
import { EVERYTHING, verifyStore } from '../../../src/coordinator/repair/verify.ts';
import { study } from '../../support/studies.ts';

const [STUDIES, RUNS] = [8, 250];
const capabilities = {
  max_concurrent_jobs: RUNS,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
};

describe('coordinator/repair: damaged tables', () => {
  let folder = '';
  let directory = '';
  let table = '';
  let whole: Buffer;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-salvage-'));
    const original = join(folder, 'original');
    const coordinator = await openCoordinator(await openStore(original), systemClock);
    await coordinator.register({ id: 'r1', instance: 'i1', capabilities, heartbeat_interval_secs: 60 });
    for (let n = 0; n < STUDIES; n++) {
      await coordinator.submit(study({ runs: RUNS, name: `study ${String(n)}` }), {});
      const { assignments } = await coordinator.claim('r1', { instance: 'i1', max_jobs: RUNS });
      const reports = assignments.flatMap(({ job, attempt }) => [
        { type: 'start' as const, job_id: job.id, attempt },
        {
          type: 'complete' as const,
          job_id: job.id,
          attempt,
          result: { execution_time_secs: 1, output_files: [], metadata: { n: job.run_config.run_id, study: n } },
        },
      ]);
      await coordinator.reports('r1', { instance: 'i1', reports });
    }
    await coordinator.close();
    // Opened and compacted: all records are in one table, in the order of their keys.
    const engine = await openLevelEngine(original);
    await engine.compact(EVERYTHING);
    await engine.close();
    const tables = readdirSync(original).filter((it) => it.endsWith('.ldb'));
    expect(tables).to.have.length(1);
    table = tables[0]!;
    whole = readFileSync(join(original, table));
    expect((await verifyStore(original)).faults).to.deep.equal([]);
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

  const zeroed = (bytes: Buffer, from: number, length: number): Buffer => {
    const damaged = Buffer.from(bytes);
    damaged.fill(0, from, from + length);
    return damaged;
  };
  const middle = (): number => Math.floor(whole.length / 2);
  const flipped = (bytes: Buffer, at: number): Buffer => {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1;
    return damaged;
  };

  /** The keys of results whose blocks are not touched by the damage, by the index of the undamaged table. */
  function untouched(damaged: Buffer): Set<string> {
    const keys = new Set<string>();
    for (const place of dataBlocksOf(whole)!) {
      const end = place.offset + place.size + 5;
      if (!whole.subarray(place.offset, end).equals(damaged.subarray(place.offset, end))) continue;
      const { entries } = salvageTable(whole.subarray(place.offset, end));
      expect(entries.length).to.be.greaterThan(0);
      for (const { key } of entries) keys.add(key.toString());
    }
    return keys;
  }
  const rows: [string, () => Buffer, { isLossless?: boolean }][] = [
    ['has 500 bytes of junk appended', () => Buffer.concat([whole, Buffer.alloc(500, 'junk')]), { isLossless: true }],
    ['has a footer with a flipped bit', () => flipped(whole, whole.length - 20), { isLossless: true }],
    ['has its last 4 KiB zeroed', () => zeroed(whole, whole.length - 4096, 4096), {}],
    ['has lost a third of its end', () => whole.subarray(0, Math.floor((whole.length * 2) / 3)), {}],
    ['has its first byte flipped', () => flipped(whole, 0), {}],
    ['has 64 bytes zeroed in the middle', () => zeroed(whole, middle(), 64), {}],
    [
      'has 64 bytes zeroed in the middle, and its end cut off',
      () => zeroed(whole.subarray(0, whole.length - 100), middle(), 64),
      {},
    ],
    [
      'has its first byte flipped, 4 KiB zeroed in the middle, and no end',
      () => flipped(zeroed(whole.subarray(0, whole.length - 4096), middle(), 4096), 0),
      {},
    ],
  ];
  for (const [name, damage, { isLossless = false }] of rows) {
    it(`saves what is whole of a table that ${name}`, async () => {
      const damaged = damage();
      writeFileSync(join(directory, table), damaged);
      const target = join(folder, 'new');
      const report = await repairStore(directory, target, Date.now());
      expect((await verifyStore(target)).faults).to.deep.equal([]);
      const saved = new Set<string>();
      const engine = await openLevelEngine(target);
      const view = engine.snapshot();
      for await (const chunk of view.entries({ gte: '!result!', lt: '!result"' }))
        for (const [key, value] of chunk) if (value.includes('"study":')) saved.add(key);
      await view.close();
      await engine.close();
      if (existsSync(`${target}.unplaced.ndjson`)) {
        const lines = readFileSync(`${target}.unplaced.ndjson`, 'utf8').trimEnd().split('\n');
        for (const { key } of lines.map((it) => JSON.parse(it) as { key: string }))
          if (key.startsWith('!result!')) saved.add(key);
      }
      const kept = untouched(damaged);
      const entries = salvageTable(damaged).entries.map(({ key }) => key.toString());
      expect([...new Set(entries)].toSorted()).to.deep.equal([...kept].toSorted());
      const expected = [...kept].filter((it) => it.startsWith('!result!'));
      expect([...saved].toSorted()).to.deep.equal(expected.toSorted());
      if (isLossless) expect(expected).to.have.length(STUDIES * RUNS);
      expect(report.losses > 0, report.findings.join('\n')).to.equal(!isLossless);
      expect(report.findings.some((it) => it.startsWith(`${table}: the records in bytes`))).to.equal(!isLossless);
    });
  }

  it('finds no record in what is none: the blocks of the index and the filter, and noise', () => {
    expect(tableFault(whole)).to.equal(undefined);
    const last = dataBlocksOf(whole)!.at(-1)!;
    const rest = whole.subarray(last.offset + last.size + 5);
    expect(salvageTable(rest.subarray(0, -8)).entries).to.deep.equal([]);
    const noise = Buffer.from(systemClock.random(100_000));
    expect(salvageTable(noise)).to.deep.include({ entries: [] });
    expect(salvageTable(Buffer.alloc(0))).to.deep.equal({ entries: [], lost: [] });
  });
});

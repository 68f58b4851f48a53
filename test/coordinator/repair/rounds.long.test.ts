/** Damaged rounds in real LevelDB directories: what `verify` and `repair` say and save, and that no claim stops at them. */
import { expect } from 'chai';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import { keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { seal, unseal } from '../../../src/coordinator/kernel/storage/integrity/checksum.ts';
import { GROUP_KEY } from '../../../src/coordinator/kernel/storage/integrity/group-chain.ts';
import { openLevelEngine } from '../../../src/coordinator/kernel/storage/leveldb/level-engine.ts';
import { openStore } from '../../../src/coordinator/kernel/storage/open-store.ts';
import { repairStore } from '../../../src/coordinator/repair/repair.ts';
import { verifyStore } from '../../../src/coordinator/repair/verify.ts';
import { jobId, runIdOf } from '../../../src/domain/ids.ts';
import type { AttemptRef, Uuid } from '../../../src/contract/types.ts';
import { adaptiveStudy } from '../../support/rounds.ts';
import { all } from '../../support/scene.ts';
import { study } from '../../support/studies.ts';

const capabilities = {
  max_concurrent_jobs: 6_000,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
};
const result = { execution_time_secs: 1, output_files: [], metadata: {} };
/** Rounds of 2, 1, 3 and 5,000 runs; runs 0 and 1 are Completed, run 2 is Claimed. */
const COUNTS = [2, 1, 3, 5_000];
const rowsFrom = (first: number, count: number) => Array.from({ length: count }, (_, at) => ({ r: 1, x: first + at }));

describe('coordinator/repair/rounds', () => {
  let folder = '';
  let directory = '';
  let batch: Uuid = '';
  let other: Uuid = '';

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-repair-rounds-'));
    const coordinator = await openCoordinator(await openStore(join(folder, 'original')), systemClock);
    batch = (await coordinator.submit(adaptiveStudy({ runs: 6_000 }))).batch_id;
    let first = 0;
    for (const [round, count] of COUNTS.entries()) {
      await coordinator.appendRound(batch, { key: `k/${round}`, rows: rowsFrom(first, count), label: 'a label' });
      first += count;
    }
    await coordinator.register({ id: 'r1', instance: 'i1', capabilities, heartbeat_interval_secs: 5 });
    const { assignments } = await coordinator.claim('r1', { instance: 'i1', max_jobs: 3 });
    for (const { job, attempt } of assignments.slice(0, 2)) {
      await coordinator.start(job.id, { runner_id: 'r1', attempt });
      await coordinator.complete(job.id, { runner_id: 'r1', attempt, result });
    }
    other = (await coordinator.submit(study({ runs: 2, name: 'other' }))).batch_id;
    await coordinator.close();
    await (await openStore(join(folder, 'original'))).close();
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

  /** Deletes records (null) or damages them below the store. */
  async function damage(changes: Record<string, null | 'damaged'>): Promise<void> {
    const engine = await openLevelEngine(directory);
    const group = engine.get(GROUP_KEY)!;
    const operations = Object.entries(changes).map(([key, change]): [string, string | null] => {
      const value = engine.get(key);
      expect(value, key).to.be.a('string');
      return [key, change === null ? null : `00000000${unseal(key, value!)!}`];
    });
    await engine.write([...operations, [GROUP_KEY, group]], { sync: true });
    await engine.close();
    // Opened again, the changes are in a table, where the chain does not see them.
    await (await openLevelEngine(directory)).close();
  }

  async function repaired(): Promise<{ findings: string[]; losses: number }> {
    const target = join(folder, 'new');
    const report = await repairStore(directory, target, Date.now());
    expect((await verifyStore(target)).faults).to.deep.equal([]);
    directory = target;
    return report;
  }

  async function on<T>(use: (coordinator: Coordinator) => Promise<T>): Promise<T> {
    const coordinator = await openCoordinator(await openStore(directory), systemClock);
    try {
      return await use(coordinator);
    } finally {
      await coordinator.close();
    }
  }

  /** Claims all runs that are left but run 2, which the runner r1 holds, and returns those of the adaptive study with their parameter `x`. */
  async function claimAll(coordinator: Coordinator): Promise<Map<number, number | undefined>> {
    const claimed = new Map<number, number | undefined>();
    await coordinator.register({ id: 'r2', instance: 'i2', capabilities, heartbeat_interval_secs: 5 });
    const holding: AttemptRef[] = [];
    let isOtherClaimed = false;
    for (let idle = 0; idle < 6;) {
      const { assignments } = await coordinator.claim('r2', { instance: 'i2', max_jobs: 6_000, holding });
      for (const { job, attempt } of assignments) holding.push({ job_id: job.id, attempt });
      idle = assignments.length === 0 ? idle + 1 : 0;
      for (const { job } of assignments) {
        if (job.batch_id === other) isOtherClaimed = true;
        else claimed.set(runIdOf(job.id), job.run_config.parameters['x']);
      }
    }
    expect(isOtherClaimed, 'the other study is claimed').to.equal(true);
    return claimed;
  }

  const statusOf = async (coordinator: Coordinator, run: number) => (await coordinator.job(jobId(batch, run))).status;

  it('cancels the open runs whose rows are lost, names them, and gives out all others', async () => {
    await damage({
      [keys.rows(batch, 3, 0)]: 'damaged',
      [keys.rows(batch, 1, 0)]: null,
      [keys.rows(batch, 0, 0)]: null,
    });
    const { faults } = await verifyStore(directory);
    expect(faults.join('\n')).to.contain('block 0 of round 1 is missing').and.to.contain('!rows!');
    const { findings, losses } = await repaired();
    expect(losses).to.be.above(2);
    expect(findings.join('\n'))
      .to.contain('the rows of runs 0 to 1 (round 0) are lost')
      .and.to.contain('the rows of run 2 (round 1) are lost')
      .and.to.contain('the rows of runs 6 to 4101 (round 3) are lost');
    await on(async (coordinator) => {
      expect([
        await statusOf(coordinator, 0),
        await statusOf(coordinator, 2),
        await statusOf(coordinator, 6),
      ]).to.deep.equal(['Completed', 'Cancelled', 'Cancelled']);
      const found = await coordinator.findings(batch);
      expect(found.find(({ code }) => code === 'rows-lost')).to.include({ severity: 'doubtful', count: 4_099 });
      const claimed = await claimAll(coordinator);
      const expected = [3, 4, 5, ...Array.from({ length: 904 }, (_, at) => 4_102 + at)];
      expect([...claimed]).to.deep.equal(expected.map((run) => [run, run]));
      const check = await coordinator.checkRounds(batch);
      expect(check).to.include({ verdict: 'differs', rounds: 4, runs: 5_006 });
      expect(check.faults).to.have.length(3);
      const first = await coordinator.roundResults(batch, 0);
      if (!('pieces' in first)) throw new Error('round 0 is open');
      const { results } = JSON.parse(first.pieces.join('')) as { results: object[] };
      expect(results[0]).to.deep.include({ run_id: 0, class: 'ok', parameters: {} }).and.not.have.property('draw');
      const answer = await coordinator.appendRound(batch, { key: 'again', rows: [{ r: 1, x: 2 }] });
      expect(answer).to.include({ round: 4, first_run_id: 5_006 });
      const { assignments } = await coordinator.claim('r2', { instance: 'i2', max_jobs: 6_000, holding: [] });
      expect(assignments.map(({ job }) => runIdOf(job.id))).to.include(5_006);
      expect((await coordinator.appendRound(batch, { key: 'k/2', rows: rowsFrom(3, 3) })).repeated).to.equal(true);
    });
  });

  it('makes a lost record of a round again from its rows, with its key, and loses no run', async () => {
    await damage({ [keys.round(batch, 1)]: 'damaged', [keys.round(batch, 3)]: null });
    expect((await verifyStore(directory)).faults.join('\n')).to.contain('the record of round 3 is missing');
    const { findings } = await repaired();
    expect(findings.join('\n')).to.contain('the record of round 1 is lost; it was made again from its rows');
    await on(async (coordinator) => {
      expect((await coordinator.findings(batch)).map(({ code }) => code)).not.to.include('rows-lost');
      expect((await claimAll(coordinator)).size).to.equal(5_003);
      const rounds = await all(await coordinator.rounds(batch));
      expect(rounds.map(({ count, key, label }) => [count, key, label])).to.deep.equal([
        [2, 'k/0', 'a label'],
        [1, 'k/1', null],
        [3, 'k/2', 'a label'],
        [5_000, 'k/3', null],
      ]);
      expect((await coordinator.appendRound(batch, { key: 'k/1', rows: rowsFrom(2, 1) })).repeated).to.equal(true);
      expect((await coordinator.checkRounds(batch)).faults).to.have.length(2);
    });
  });

  it('cancels the runs of rounds of which neither the records nor the rows are left', async () => {
    const both = (round: number) => ({ [keys.round(batch, round)]: null, [keys.rows(batch, round, 0)]: null });
    await damage({ ...both(1), ...both(2) });
    const { findings } = await repaired();
    expect(findings.join('\n')).to.contain(
      'the record of round 2 is lost; it was made again from the rounds around it',
    );
    await on(async (coordinator) => {
      const rounds = await all(await coordinator.rounds(batch));
      expect(rounds.map((it) => it.first_run_id)).to.deep.equal([0, 2, 3, 6]);
      const claimed = await claimAll(coordinator);
      expect([...claimed.keys()].slice(0, 2)).to.deep.equal([6, 7]);
      expect(claimed.size).to.equal(5_000);
    });
  });

  it('claims around a missing or damaged row of a directory that was not repaired', async () => {
    await damage({ [keys.rows(batch, 1, 0)]: null, [keys.round(batch, 2)]: null, [keys.rows(batch, 3, 1)]: 'damaged' });
    await on(async (coordinator) => {
      const claimed = await claimAll(coordinator);
      expect([...claimed]).to.deep.equal(Array.from({ length: 4_096 }, (_, at) => [6 + at, 6 + at]));
      const { attempts } = await coordinator.jobHistory(jobId(batch, 3));
      expect(attempts[0]).to.include({ outcome: 'cancelled' });
      expect(attempts[0]!.reason).to.contain('its row cannot be read: the record of the round of run 3');
      const { jobs_by_status: counts } = await coordinator.batch(batch);
      expect(counts).to.include({ Pending: 0, Completed: 2, Claimed: 4_097, Cancelled: 907 });
    });
  });

  for (const how of [null, 'damaged'] as const) {
    it(`executes other studies beside one whose submission is ${how ?? 'missing'}; verify and repair name it`, async () => {
      const key = keys.submission(batch);
      await damage({ [key]: how });
      const { faults } = await verifyStore(directory);
      expect(faults.join('\n')).to.contain(how === null ? `study ${batch} has no submission` : key);
      await on(async (coordinator) => {
        expect((await claimAll(coordinator)).size, 'no run of the damaged study').to.equal(0);
        expect((await coordinator.demand()).runs).to.equal(0);
        const found = (await coordinator.findings(batch)).find(({ code }) => code === 'submission-damaged');
        expect(found).to.include({ severity: 'blocked' });
        expect(found!.message).to.contain(how === null ? `submission of study ${batch} is missing` : key);
        const { jobs_by_status: counts } = await coordinator.batch(batch);
        expect(counts).to.include({ Pending: 5_003, Claimed: 1, Completed: 2 });
      });
      const { findings } = await repaired();
      expect(findings.join('\n')).to.contain(`study ${batch}: its submission is lost`);
      await on(async (coordinator) => expect((await claimAll(coordinator)).size).to.equal(0));
    });
  }

  it('reports rounds without their batch, rows without their round and keys without theirs', async () => {
    await damage({ [keys.batch(batch)]: null });
    expect((await verifyStore(directory)).faults.join('\n')).to.contain(`study ${batch} has no record, and 4 rounds`);
    const { findings } = await repairStore(directory, join(folder, 'new'), Date.now());
    expect(findings.join('\n')).to.contain(`study ${batch}: it is lost, and a round of it is in`);
    const unplaced = readFileSync(join(folder, 'new.unplaced.ndjson'), 'utf8').trim().split('\n');
    const kinds = unplaced.map((line) => /^!([a-z-]+)!/.exec((JSON.parse(line) as { key: string }).key)![1]);
    expect(kinds.filter((it) => it === 'rows')).to.have.length(5);
    rmSync(join(folder, 'new'), { recursive: true });
    rmSync(directory, { recursive: true });
    cpSync(join(folder, 'original'), directory, { recursive: true });
    await damage({ [keys.round(batch, 2)]: null });
    const { faults } = await verifyStore(directory);
    expect(faults).to.include(`study ${batch} has rows of round 2, which has no record`);
    expect(faults.join('\n')).to.contain('the key "k/2" names round 2, which has another one or no record');
    expect(existsSync(join(folder, 'new'))).to.equal(false);
  });

  it('adopts rounds that an older record of their batch does not count', async () => {
    const engine = await openLevelEngine(directory);
    const key = keys.batch(batch);
    const older = unseal(key, engine.get(key)!)!
      .replace('"rounds":4', '"rounds":3')
      .replace('"totalJobs":5006', '"totalJobs":6');
    const group = engine.get(GROUP_KEY)!;
    await engine.write(
      [
        [key, seal(key, older)],
        [GROUP_KEY, group],
      ],
      { sync: true },
    );
    await engine.close();
    await (await openLevelEngine(directory)).close();
    const { findings } = await repaired();
    expect(findings.join('\n')).to.contain('it counts 3 rounds with 6 runs; by its records it has 4 with 5006 now');
    await on(async (coordinator) => expect((await claimAll(coordinator)).size).to.equal(5_003));
  });
});

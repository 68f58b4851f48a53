/** Deletion by age and a clock that is wrong: a start with a clock that is days ahead deletes nothing for an hour. */
import { expect } from 'chai';
import { openCoordinator, type Coordinator } from '../../src/coordinator/coordinator.ts';
import { LEAP_MS, SWEEP_MS, type ClockLeap } from '../../src/domain/retention/sweep-times.ts';
import { DamagedStore } from '../support/damaged-store.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { study } from '../support/studies.ts';

const DAY_MS = 86_400_000;

describe('coordinator: deletion by age', () => {
  let disk: Map<string, string>;
  let clock: SimulatedClock;
  let coordinator: Coordinator;
  let leaps: (ClockLeap | undefined)[];
  beforeEach(() => {
    disk = new Map();
    clock = new SimulatedClock();
  });
  afterEach(() => coordinator.close().catch(() => {}));

  async function start(nowMs: number): Promise<void> {
    leaps = [];
    clock = new SimulatedClock({ nowMs, seed: nowMs % 1_000_003 });
    const hooks = { clockLeapt: (leap: ClockLeap | undefined) => void leaps.push(leap) };
    coordinator = await openCoordinator(new MemoryStore(disk), clock, { retainMs: 30 * DAY_MS, hooks });
    await coordinator.tick();
    await rest();
  }
  /** As a power failure: nothing is closed in order. */
  async function crashAndStart(nowMs: number): Promise<void> {
    const left = new Map(disk);
    await coordinator.close();
    disk = left;
    await start(nowMs);
  }
  const rest = async () => {
    for (let n = 0; n < 50; n++) await new Promise((resolve) => setImmediate(resolve));
  };
  const endedStudy = async (): Promise<string> => {
    const { batch_id: batchId } = await coordinator.submit(study({ runs: 3 }));
    await coordinator.cancelBatch(batchId);
    return batchId;
  };
  const isThere = (batchId: string): boolean => disk.has(`!batch!${batchId}`);
  const tickAfter = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    await coordinator.tick();
    await rest();
  };

  it('waits for an hour when the clock is 60 days ahead, and says so', async () => {
    await start(Date.UTC(2026, 0, 1));
    expect(leaps).to.deep.equal([]);
    const batchId = await endedStudy();
    await tickAfter(60_000);
    const knownMs = clock.now() - 60_000;
    const wrongMs = clock.now() + 60 * DAY_MS;
    await crashAndStart(wrongMs);
    expect(leaps).to.deep.equal([{ knownMs, nowMs: wrongMs, untilMs: wrongMs + SWEEP_MS }]);
    await tickAfter(SWEEP_MS - 2_000);
    expect(isThere(batchId)).to.equal(true);
    // With the right clock again nothing has happened.
    await crashAndStart(knownMs + 120_000);
    expect(leaps).to.deep.equal([]);
    await tickAfter(2 * SWEEP_MS);
    expect(isThere(batchId)).to.equal(true);
  });

  it('deletes old studies beside a damaged one, and starts with it where no instant was noted', async () => {
    await start(Date.UTC(2026, 0, 1));
    const [first, second, third] = [await endedStudy(), await endedStudy(), await endedStudy()];
    disk.delete('!meta!instant');
    const left = new Map(disk);
    await coordinator.close();
    disk = left;
    const damaged = new Set([second, third].map((it) => `!batch!${it}`));
    clock = new SimulatedClock({ nowMs: Date.UTC(2026, 1, 15), seed: 1 });
    coordinator = await openCoordinator(new DamagedStore(disk, damaged), clock, { retainMs: 30 * DAY_MS });
    await tickAfter(2 * SWEEP_MS);
    await tickAfter(2 * SWEEP_MS);
    expect([first, second, third].map(isThere)).to.deep.equal([false, true, true]);
  });

  it('waits again after each restart within the hour, also when studies were submitted meanwhile', async () => {
    await start(Date.UTC(2026, 0, 1));
    const batchId = await endedStudy();
    for (let n = 0; n < 3; n++) {
      await crashAndStart(Date.UTC(2026, 3, 1) + n * 1_800_000);
      expect(leaps, String(n)).to.have.length(1);
      await endedStudy();
      await coordinator.register({ id: 'r1', instance: `i${String(n)}`, capabilities: CAPABILITIES });
      await tickAfter(1_700_000);
      expect(isThere(batchId), String(n)).to.equal(true);
    }
    await tickAfter(SWEEP_MS);
    expect(leaps.at(-1)).to.equal(undefined);
    expect(isThere(batchId)).to.equal(false);
    await crashAndStart(clock.now() + 60_000);
    expect(leaps).to.deep.equal([]);
  });

  it('deletes at once when the clock is less than a day ahead, however long the study is over', async () => {
    await start(Date.UTC(2026, 0, 1));
    const batchId = await endedStudy();
    for (let day = 0; day < 31; day++) {
      await crashAndStart(clock.now() + LEAP_MS);
      expect(leaps, String(day)).to.deep.equal([]);
    }
    expect(isThere(batchId)).to.equal(false);
  });

  it('counts the hours in which it ran without anything to do', async () => {
    await start(Date.UTC(2026, 0, 1));
    await endedStudy();
    for (let hour = 0; hour < 30; hour++) await tickAfter(SWEEP_MS);
    await crashAndStart(clock.now() + LEAP_MS - SWEEP_MS);
    expect(leaps).to.deep.equal([]);
  });

  it('takes the latest study or runner for the last instant where an older version has noted none', async () => {
    for (const isLeap of [false, true]) {
      disk = new Map();
      await start(Date.UTC(2026, 0, 1));
      await endedStudy();
      await tickAfter(1_000);
      disk.delete('!meta!instant');
      const store = disk;
      await coordinator.close();
      disk = store;
      disk.delete('!meta!instant');
      await start(clock.now() + LEAP_MS + (isLeap ? 60_000 : -60_000));
      expect(leaps.length, String(isLeap)).to.equal(isLeap ? 1 : 0);
    }
  });
});

const CAPABILITIES = {
  max_concurrent_jobs: 1,
  cpu_cores: 0,
  memory_gb: 0,
  gpu_available: false,
  supported_simulation_types: [],
};

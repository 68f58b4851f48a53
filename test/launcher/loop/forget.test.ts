/** Old allocations: their logs and folders, their records, a clock that is wrong, and engines that cannot delete now. */
import { expect } from 'chai';
import { SWEEP_MS } from '../../../src/domain/retention/sweep-times.ts';
import type { Cleaned, EndedAllocation, Engine } from '../../../src/launcher/engine.ts';
import { Launcher } from '../../../src/launcher/loop/launcher.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { Site, isQuiet } from './support.ts';

const DAY_MS = 86_400_000;

describe('launcher: old allocations', () => {
  let site: Site;
  let clock: SimulatedClock;
  let asked: string[];
  let answer: (ended: readonly EndedAllocation[]) => Cleaned;
  beforeEach(async () => {
    // A study of ten runs leaves some ended allocations on the disk.
    site = new Site({ runs: 10 });
    await site.until(isQuiet(site));
    clock = new SimulatedClock({ nowMs: site.clock.now() });
    asked = [];
    answer = (ended) => ({ count: ended.length, bytes: 1024 * ended.length, kept: [] });
  });

  const records = (): string[] => [...site.disk.keys()].filter((it) => it.startsWith('!allocation!'));

  /** A launcher that finds nothing to do, on the disk of the first one. */
  async function open(keepDays: number | undefined): Promise<Launcher> {
    const engine: Partial<Engine> = {
      settleMs: 0,
      list: async () => ({ allocations: [], silent: [] }),
      clean: async (ended) => {
        asked.push(...ended.map((it) => `${it.queue} ${it.id}`));
        return answer(ended);
      },
    };
    return await Launcher.open({
      config: site.config,
      engines: new Map([['main', engine as Engine]]),
      coordinator: {
        demand: async () => ({ demand: [] }) as never,
        runners: async () => [],
        timeLimits: async () => new Map(),
        makeTokens: async () => new Map(),
        revokeTokens: async () => {},
      },
      store: new MemoryStore(site.disk),
      clock,
      inbox: { take: async () => ({ commands: [], done: async () => {} }) },
      log: (level, message) => site.logged.push(`${level}: ${message}`),
      onStatus: async () => {},
      isDryRun: false,
      keepDays,
    });
  }
  async function pass(launcher: Launcher, ms: number): Promise<void> {
    await clock.advance(ms);
    await launcher.round();
  }
  const said = (pattern: RegExp): string[] => site.logged.filter((it) => pattern.test(it));

  it('deletes logs, folders and records so many days after the recorded end, and says how much', async () => {
    const ids = records().map((it) => it.slice('!allocation!'.length));
    expect(ids).to.not.be.empty;
    const launcher = await open(30);
    await pass(launcher, 29 * DAY_MS);
    expect([records().length, asked]).to.deep.equal([ids.length, []]);
    await pass(launcher, 2 * DAY_MS);
    expect(asked.toSorted()).to.deep.equal(ids.map((it) => `main ${it}`).toSorted());
    expect(records()).to.deep.equal([]);
    expect(said(/deleted the logs/)).to.deep.equal([
      `info: deleted the logs and folders of ${String(ids.length)} allocations (${String(ids.length)}.0 KiB) that ended more than 30 days ago`,
    ]);
    const record = JSON.parse(site.disk.get('!launcher!') ?? '{}') as { forgottenCoreMs: number };
    expect(record.forgottenCoreMs).to.be.greaterThan(0);
  });

  it('forgets records after a week where nothing is to be deleted', async () => {
    const launcher = await open(undefined);
    await pass(launcher, 6 * DAY_MS);
    expect(records()).to.not.be.empty;
    await pass(launcher, 2 * DAY_MS);
    expect([records(), asked]).to.deep.equal([[], []]);
  });

  it('keeps the records of allocations whose folders cannot be deleted now, and asks again; after two weeks it gives up', async () => {
    answer = (ended) => ({ count: 0, bytes: 0, kept: ended.map((it) => it.id), why: 'node1 gives no answer' });
    const launcher = await open(1);
    const before = records().length;
    await pass(launcher, 2 * DAY_MS);
    expect([records().length, asked.length]).to.deep.equal([before, before]);
    expect(
      said(
        /^warn: what \d+ old allocations left cannot be deleted now: node1 gives no answer; tries again in an hour$/,
      ),
    ).to.have.length(1);
    await pass(launcher, SWEEP_MS - 1);
    expect(asked.length, 'not before an hour has passed').to.equal(before);
    await pass(launcher, SWEEP_MS);
    expect(asked.length).to.equal(2 * before);
    await pass(launcher, 14 * DAY_MS);
    expect(records()).to.deep.equal([]);
  });

  it('deletes nothing for an hour when the clock is far ahead at its start, also after another start, and nothing when it is set back', async () => {
    const before = records().length;
    const rightMs = clock.now();
    await (await open(1)).round();
    const wrongMs = rightMs + 60 * DAY_MS;
    clock = new SimulatedClock({ nowMs: wrongMs });
    await pass(await open(1), SWEEP_MS - 1);
    expect(
      said(
        /^warn: the clock shows .*, 60.0 days after the last instant that the state folder knows: nothing is deleted/,
      ),
    ).to.have.length(1);
    await pass(await open(1), SWEEP_MS - 1);
    expect([records().length, asked]).to.deep.equal([before, []]);
    clock = new SimulatedClock({ nowMs: rightMs - 60 * DAY_MS });
    await pass(await open(1), 2 * SWEEP_MS);
    expect([records().length, asked]).to.deep.equal([before, []]);
    clock = new SimulatedClock({ nowMs: wrongMs });
    await pass(await open(1), SWEEP_MS + 1);
    expect([records(), asked.length]).to.deep.equal([[], before]);
  });
});

import { expect } from 'chai';
import { keys } from '../../src/coordinator/kernel/storage/keys.ts';
import { openCoordinator } from '../../src/coordinator/coordinator.ts';
import { importSnapshot } from '../../src/coordinator/snapshots/import.ts';
import { nextEvents } from '../../src/coordinator/snapshots/next-events.ts';
import { replaySnapshot } from '../../src/coordinator/snapshots/replay.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { recordAll } from '../support/record/record.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { open, recordings } from './support.ts';

const OVER = ['Completed', 'Failed', 'Timeout', 'Cancelled', 'Stopped', 'Delivered', 'GivenUp'];

describe('the recordings', () => {
  const all = recordings();

  it('are there for every machine and for whole studies', () => {
    for (const kind of ['job', 'batch', 'runner', 'notification', 'supervisor', 'study'])
      expect(all.filter((it) => it.name.includes(`/${kind}-`)).length, kind).to.be.greaterThan(2);
  });

  for (const { name, text } of all) {
    it(`${name} replays step by step`, async () => {
      const report = await replaySnapshot(await open(text));
      expect(report.divergences).to.deep.equal([]);
      expect(report.events).to.be.greaterThan(0);
    });

    it(`${name} restores`, async () => {
      const snapshot = await open(text);
      if (snapshot.kind === 'scenario') {
        const isOver = OVER.includes(snapshot.end.value);
        // A study that grew may be extended after its end.
        const next = nextEvents(snapshot.machine, snapshot.end).filter(({ event }) => !event.startsWith('EXTEND'));
        expect(next.length === 0).to.equal(isOver);
        return;
      }
      const store = new MemoryStore(new Map([[keys.meta('format'), '1']]));
      const { batches } = await importSnapshot(snapshot, store);
      const coordinator = await openCoordinator(store, new SimulatedClock());
      expect(batches).to.be.greaterThan(0);
      const listing = await coordinator.batches({});
      let found = 0;
      for await (const chunk of listing.chunks) {
        for (const { id, total_jobs: total } of chunk) {
          found += 1;
          const { jobs_by_status: counts } = await coordinator.batch(id);
          expect(Object.values(counts).reduce((sum, it) => sum + it, 0)).to.equal(total);
        }
      }
      expect(found).to.equal(batches);
      await coordinator.close();
    });
  }

  it('study-histories restores the histories of each run, and which derived outputs had no value', async () => {
    const { text } = all.find((it) => it.name.endsWith('/study-histories.json'))!;
    const store = new MemoryStore(new Map([[keys.meta('format'), '1']]));
    await importSnapshot(await open(text), store);
    const coordinator = await openCoordinator(store, new SimulatedClock());
    const found: unknown[] = [];
    for await (const chunk of (await coordinator.jobs({})).chunks)
      for (const { id } of chunk) {
        const { histories } = await coordinator.jobHistories(id);
        const result = await coordinator.jobResult(id);
        found.push([histories.map((it) => it.values), result?.metadata['peak'], result?.derived_missing]);
      }
    expect(found).to.deep.equal([
      [
        [
          [1, 3.5, -0],
          [12.5, 0],
        ],
        3.5,
        undefined,
      ],
      [
        [
          [1, 4, null],
          [null, null],
        ],
        4,
        undefined,
      ],
      [
        [
          [2, null, null],
          [null, null],
        ],
        2,
        { margin: 'the run failed' },
      ],
      [[null, null], undefined, undefined],
    ]);
    await coordinator.close();
  });

  it('equal a new recording (after a change of a machine, run `npm run record`)', async () => {
    const recorded = await recordAll();
    const committed = new Map(
      all.filter((it) => it.name.startsWith('format-1/')).map((it) => [it.name.slice('format-1/'.length), it.text]),
    );
    expect([...recorded.keys()].sort()).to.deep.equal([...committed.keys()].sort());
    for (const [name, text] of recorded) expect(text, name).to.equal(committed.get(name));
  });
});

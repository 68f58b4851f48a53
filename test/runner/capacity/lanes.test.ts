/** Lanes: slots that runs of one kind take one after the other, with a few more that are started ahead. */
import { expect } from 'chai';
import { Lanes, type LaneSlot } from '../../../src/runner/capacity/lanes.ts';
import { Slots } from '../../../src/runner/capacity/slots.ts';
import { silentLog } from '../../../src/runner/log.ts';

const REQUEST = { priority: 0, cpuMilli: 1000, memoryBytes: 0 };

class Lab {
  nowMs = 0;
  readonly slots: Slots;
  readonly lanes: Lanes;
  /** The runs that may be started, in their order. */
  readonly started: { name: string; slot: LaneSlot }[] = [];

  constructor(slots: number) {
    this.slots = new Slots({ slots, cpuCores: 0, memoryGb: 0, log: silentLog, onChange: () => {} });
    this.lanes = new Lanes(this.slots, { monotonicMs: () => this.nowMs });
  }
  async ask(kind: string, count: number, timeLimitMs = 0): Promise<void> {
    for (let it = 0; it < count; it += 1) {
      void this.lanes.take(kind, REQUEST, timeLimitMs).then((slot) => this.started.push({ name: kind, slot }));
    }
    await this.settle();
  }
  async settle(): Promise<void> {
    for (let it = 0; it < 20; it += 1) await Promise.resolve();
  }
  /** Ends the first run that has not ended, after so many milliseconds. */
  async end(ms: number): Promise<void> {
    const { slot } = this.started.shift()!;
    slot.note(ms);
    slot.free();
    slot.close(undefined, {});
    await this.settle();
  }
  get laneNumbers(): number[] {
    return [...new Set(this.started.map(({ slot }) => slot.lane))];
  }
}

describe('runner/capacity/lanes', () => {
  it('starts one run a lane until it is known how long runs take', async () => {
    const lab = new Lab(2);
    await lab.ask('a', 10);
    expect(lab.started).to.have.length(2);
    expect(lab.laneNumbers).to.have.length(2);
    expect(lab.lanes.waiting).to.equal(8);
  });

  const depths: [what: string, ms: number, timeLimitMs: number, started: number, slots?: number][] = [
    ['of a millisecond: as many as fit into 800 ms, at most 256', 1, 0, 256],
    ['of a millisecond on 4 slots: at most 512 in all', 1, 0, 128, 4],
    ['of a millisecond on 64 slots: at most 80 for each', 1, 0, 80, 64],
    ['of 20 ms: as many as fit into 800 ms', 20, 0, 41],
    ['of a millisecond with a time limit of 1 s: as many as fit into a twentieth of it', 1, 1000, 51],
    ['of a tenth of a second: as many as fit', 100, 0, 9],
    ['longer than a tenth of a second: one', 101, 0, 1],
    ['longer than a twentieth of their time limit: one', 60, 1000, 1],
  ];
  for (const [what, ms, timeLimitMs, started, slots = 1] of depths) {
    it(`starts runs ahead ${what}`, async () => {
      const lab = new Lab(slots);
      // Other slots are taken by runs that share nothing.
      for (let taken = 1; taken < slots; taken += 1) await lab.slots.take(REQUEST);
      await lab.ask('a', 300, timeLimitMs);
      expect(lab.started).to.have.length(1);
      await lab.end(ms);
      expect(lab.started).to.have.length(started);
      expect(lab.laneNumbers).to.have.length(1);
    });
  }

  it('gives its slot to another study after its turn, and both get all their runs', async () => {
    const lab = new Lab(1);
    await lab.ask('a', 200);
    await lab.end(20);
    await lab.ask('b', 200);
    const began = new Set<string>();
    let most = 0;
    for (let ended = 0; lab.started.length > 0; ended += 1) {
      began.add(lab.started[0]!.name);
      if (began.size === 1) most = ended;
      expect(lab.laneNumbers, 'one slot').to.have.length(1);
      lab.nowMs += 20;
      await lab.end(20);
    }
    expect(began.size).to.equal(2);
    expect(most).to.be.lessThan(100);
    expect([lab.lanes.waiting, lab.slots.waiting]).to.deep.equal([0, 0]);
    expect(lab.slots.hasRoom(REQUEST)).to.equal(true);
  });

  it('loses the slot of a lane with remains, and its other runs end without it', async () => {
    const lab = new Lab(1);
    await lab.ask('a', 3);
    await lab.end(1);
    expect(lab.started).to.have.length(2);
    const [first] = lab.started.splice(0, 1);
    let release = (): void => {};
    first!.slot.close({ what: 'a process', gone: new Promise((resolve) => (release = resolve)) }, {});
    expect(lab.slots.lost).to.equal(1);
    await lab.end(1);
    await lab.ask('a', 1);
    expect(lab.started).to.have.length(0);
    release();
    await lab.settle();
    expect([lab.started.length, lab.slots.lost]).to.deep.equal([1, 0]);
  });

  it('frees a place once, however often a slot is freed and closed', async () => {
    const lab = new Lab(1);
    await lab.ask('a', 5);
    const { slot } = lab.started[0]!;
    slot.note(500);
    for (let it = 0; it < 2; it += 1) slot.free();
    for (let it = 0; it < 2; it += 1) slot.close(undefined, {});
    await lab.settle();
    expect(lab.started).to.have.length(2);
  });
});

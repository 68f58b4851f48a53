import { expect } from 'chai';
import * as fc from 'fast-check';
import { Slots, type Slot, type SlotRequest } from '../../../src/runner/capacity/slots.ts';
import { silentLog } from '../../../src/runner/log.ts';

const GB = 1024 ** 3;
const request = (changes: Partial<SlotRequest> = {}): SlotRequest => ({
  cpuMilli: 0,
  memoryBytes: 0,
  priority: 0,
  ...changes,
});

describe('runner/capacity/slots', () => {
  const started: string[] = [];
  const slots = new Map<string, Slot>();
  beforeEach(() => {
    started.length = 0;
    slots.clear();
  });
  const open = (size: number, cpuCores = 0, memoryGb = 0): Slots =>
    new Slots({ slots: size, cpuCores, memoryGb, log: silentLog, onChange: () => {} });
  const ask = async (pool: Slots, name: string, changes?: Partial<SlotRequest>): Promise<void> => {
    void pool.take(request(changes)).then((slot) => {
      started.push(name);
      slots.set(name, slot);
    });
    await settled();
  };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string): Promise<void> => {
    slots.get(name)?.close(undefined, {});
    await settled();
  };

  it('starts as many as there are slots, the others in their order', async () => {
    const pool = open(2);
    for (const name of ['a', 'b', 'c', 'd']) await ask(pool, name);
    expect(started).to.deep.equal(['a', 'b']);
    expect(pool.waiting).to.equal(2);
    await end('b');
    expect(started).to.deep.equal(['a', 'b', 'c']);
  });

  it('starts runs of higher priority first', async () => {
    const pool = open(1);
    await ask(pool, 'a');
    await ask(pool, 'b');
    await ask(pool, 'urgent', { priority: 5 });
    await ask(pool, 'urgent too', { priority: 5 });
    for (const name of ['a', 'urgent', 'urgent too']) await end(name);
    expect(started).to.deep.equal(['a', 'urgent', 'urgent too', 'b']);
  });

  it('keeps the sums of cores and memory within the machine, and none overtakes', async () => {
    const pool = open(4, 2, 8);
    await ask(pool, 'a', { cpuMilli: 1500 });
    await ask(pool, 'b', { cpuMilli: 1000 });
    await ask(pool, 'c', { cpuMilli: 100 });
    expect(started).to.deep.equal(['a']);
    await end('a');
    expect(started).to.deep.equal(['a', 'b', 'c']);
    await ask(pool, 'd', { memoryBytes: 9 * GB });
    expect(started).to.not.include('d');
    await end('b');
    await end('c');
    expect(started, 'alone, it may start: the coordinator assigned it').to.include('d');
  });

  it('starts the next run when the processes have ended, and bounds the attempts that are being concluded', async () => {
    const pool = open(1);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await ask(pool, name);
      slots.get(name)?.free();
      await settled();
    }
    expect(started).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
    await end('a');
    expect(started.at(-1)).to.equal('f');
  });

  it('frees a slot once, however often it is freed', async () => {
    const pool = open(1);
    await ask(pool, 'a');
    slots.get('a')?.free();
    slots.get('a')?.free();
    await end('a');
    await end('a');
    await ask(pool, 'b');
    await ask(pool, 'c');
    expect(started).to.deep.equal(['a', 'b']);
  });

  it('loses a slot until the remains are gone, also when it was given to the next run', async () => {
    const pool = open(1);
    let gone = (): void => {};
    await ask(pool, 'a');
    slots.get('a')?.free();
    await ask(pool, 'b');
    slots.get('a')?.close({ what: 'a hung file', gone: new Promise<void>((resolve) => (gone = resolve)) }, {});
    expect(pool.lost).to.equal(1);
    await ask(pool, 'c');
    await end('b');
    expect(started).to.deep.equal(['a', 'b']);
    gone();
    await settled();
    expect(pool.lost).to.equal(0);
    expect(started).to.deep.equal(['a', 'b', 'c']);
  });

  it('gives no device to two runs, and each run as many as it asks for', async () => {
    const steps = fc.array(
      fc.oneof(fc.record({ ask: fc.nat({ max: 3 }) }), fc.record({ end: fc.nat(), remains: fc.boolean() })),
      {
        maxLength: 40,
      },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const devices = ['0', '1', 'GPU-2'];
        const pool = new Slots({
          slots: 4,
          cpuCores: 0,
          memoryGb: 0,
          resources: { gpu: 3 },
          devices,
          log: silentLog,
          onChange: () => {},
        });
        const live: { slot: Slot; wants: number }[] = [];
        // A run with remains keeps its devices until they are gone.
        const stuck: { slot: Slot; gone: () => void }[] = [];
        for (const step of all) {
          if ('ask' in step) {
            const wants = step.ask;
            const asked = request(wants === 0 ? {} : { resources: { gpu: wants } });
            void pool.take(asked).then((slot) => live.push({ slot, wants }));
          } else if (step.remains || stuck.length === 0) {
            const [it] = live.splice(step.end % Math.max(1, live.length), 1);
            let free = (): void => {};
            const gone = new Promise<void>((resolve) => (free = resolve));
            it?.slot.close(step.remains ? { what: 'a process', gone } : undefined, {});
            if (it !== undefined && step.remains) stuck.push({ slot: it.slot, gone: free });
          } else stuck.shift()?.gone();
          await settled();
          const used = [...live, ...stuck].flatMap((it) => it.slot.devices ?? []);
          expect(new Set(used).size).to.equal(used.length);
          for (const it of live) expect(it.slot.devices).to.have.length(it.wants);
        }
      }),
      { numRuns: 200 },
    );
  });
});

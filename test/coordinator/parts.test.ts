import { expect } from 'chai';
import type { Fact } from '../../machines/protocol.ts';
import { openCoordinator } from '../../src/coordinator/coordinator.ts';
import { allOf } from '../../src/coordinator/kernel/storage/keys.ts';
import { PartList, type Part } from '../../src/coordinator/parts.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { study } from '../support/studies.ts';

/** A part of its own, in one file: it counts the studies that were opened, and survives a restart by reading the store. */
class OpenedStudies implements Part {
  readonly calls: string[] = [];
  readonly #count: () => Promise<number>;
  known = 0;

  constructor(count: () => Promise<number>) {
    this.#count = count;
  }

  async restore(): Promise<void> {
    this.calls.push('restore');
    this.known = await this.#count();
  }

  committed(facts: readonly Fact[]): void {
    for (const fact of facts) if (fact.type === 'batch.opened') this.known += 1;
  }

  tick(now: number): void {
    this.calls.push(`tick ${String(now)}`);
  }

  close(): void {
    this.calls.push('close');
  }
}

describe('coordinator/parts', () => {
  async function batchesIn(store: MemoryStore): Promise<number> {
    let count = 0;
    const view = store.snapshot();
    for await (const chunk of view.entries(allOf('batch'))) count += chunk.length;
    await view.close();
    return count;
  }

  it('a new part is added by one file, and a coordinator without it reads the same store', async () => {
    const clock = new SimulatedClock();
    const disk = new Map<string, string>();
    let added: OpenedStudies | undefined;
    const open = (store: MemoryStore) =>
      openCoordinator(store, clock, {
        further: ({ directory }) => {
          expect(directory.batches.size, 'made before anything is restored').to.equal(0);
          return [(added = new OpenedStudies(() => batchesIn(store)))];
        },
      });
    const first = await open(new MemoryStore(disk));
    await first.submit(study());
    expect(added?.known).to.equal(1);
    await first.tick();
    await first.close();
    expect(added?.calls).to.deep.equal(['restore', `tick ${String(clock.now())}`, 'close']);

    const second = await open(new MemoryStore(disk));
    expect(added?.known, 'restored').to.equal(1);
    await second.close();

    const without = await openCoordinator(new MemoryStore(disk), clock);
    await without.submit(study());
    expect(added?.known, 'removed: it takes no facts any more').to.equal(1);
    expect((await without.batches({}, { limit: 10 })).total).to.equal(2);
    await without.close();
  });

  it('are restored and take facts and ticks in the order of the list, and close in the reverse order', async () => {
    const calls: string[] = [];
    const part = (name: string): Part => ({
      restore: async () => {
        await Promise.resolve();
        calls.push(`${name} restores`);
      },
      committed: () => void calls.push(`${name} takes facts`),
      tick: () => void calls.push(`${name} ticks`),
      close: async () => {
        await Promise.resolve();
        calls.push(`${name} closes`);
      },
    });
    const list = new PartList([part('a'), {}, part('b')]);
    await list.restore();
    list.committed([]);
    await list.tick(0);
    await list.close();
    expect(calls).to.deep.equal([
      'a restores',
      'b restores',
      'a takes facts',
      'b takes facts',
      'a ticks',
      'b ticks',
      'b closes',
      'a closes',
    ]);
  });

  it('a tick waits for the changes of all parts', async () => {
    let isWritten = false;
    const slow: Part = {
      tick: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        isWritten = true;
      },
    };
    await new PartList([slow, {}]).tick(0);
    expect(isWritten).to.equal(true);
  });
});

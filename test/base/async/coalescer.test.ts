/** Batches of items gathered while the batch before was being sent. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Coalescer } from '../../../src/base/async/coalescer.ts';

describe('base/async/coalescer', () => {
  it('sends the items of one turn together, then those that arrived meanwhile, in order', async () => {
    const batches: number[][] = [];
    let inFlight = 0;
    const coalescer = new Coalescer<number>(async (batch) => {
      inFlight += 1;
      expect(inFlight).to.equal(1);
      batches.push([...batch]);
      await pause(5);
      inFlight -= 1;
    });
    coalescer.add(1);
    coalescer.add(2);
    await pause(2);
    coalescer.add(3);
    coalescer.add(4);
    await pause(20);
    expect(batches).to.deep.equal([
      [1, 2],
      [3, 4],
    ]);
    coalescer.add(5);
    await pause(10);
    expect(batches.at(-1)).to.deep.equal([5]);
  });

  it('limits a batch to the length it is given', async () => {
    const lengths: number[] = [];
    const coalescer = new Coalescer<number>(
      async (batch) => void lengths.push(batch.length),
      () => 3,
    );
    for (let item = 0; item < 7; item++) coalescer.add(item);
    await pause(5);
    expect(lengths).to.deep.equal([3, 3, 1]);
  });
});

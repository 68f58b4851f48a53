import { expect } from 'chai';
import { inParallel } from '../../../src/base/async/in-parallel.ts';

describe('base/async/in-parallel', () => {
  it('returns the results in the order of the items, and runs no more than its number at once', async () => {
    let running = 0;
    let most = 0;
    const results = await inParallel([30, 0, 20, 10, 0], 2, async (ms) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, ms));
      running -= 1;
      return ms;
    });
    expect([results, most]).to.deep.equal([[30, 0, 20, 10, 0], 2]);
  });

  it('rejects with the first error after the operations in flight, and begins no further one', async () => {
    const begun: number[] = [];
    const settled: number[] = [];
    const outcome = await inParallel([1, 2, 3, 4], 2, async (item) => {
      begun.push(item);
      if (item === 1) throw new Error('no');
      await new Promise((resolve) => setTimeout(resolve, 20));
      settled.push(item);
    }).then(String, (error: Error) => error.message);
    expect([outcome, begun, settled]).to.deep.equal(['no', [1, 2], [2]]);
  });
});

import { expect } from 'chai';
import { EventLoopShare, SLICE_MS, stringifyInSlices } from '../../src/base/event-loop-share.ts';

/** A loop of which a test runs each iteration; each look at the clock takes a millisecond. */
class SteppedLoop {
  nowMs = 0;
  #soon: (() => void)[] = [];

  monotonicMs(): number {
    return (this.nowMs += 1);
  }

  soon(action: () => void): void {
    this.#soon.push(action);
  }

  after(): never {
    throw new Error('no request waits');
  }

  /** Runs the actions that are due in this iteration and what follows from them. Returns how many there were. */
  async iterate(): Promise<number> {
    const due = this.#soon.splice(0);
    for (const action of due) action();
    await new Promise((resolve) => setImmediate(resolve));
    return due.length;
  }
}

async function iterateUntil(loop: SteppedLoop, isDone: () => boolean): Promise<number> {
  let iterations = 0;
  for (; !isDone() && iterations < 1_000; iterations += 1) await loop.iterate();
  return iterations;
}

describe('base/event-loop-share', () => {
  it('gives one slice in an iteration, in the order of asking, to all long work together', async () => {
    const loop = new SteppedLoop();
    const share = new EventLoopShare(loop);
    const worked: string[] = [];
    let finished = 0;
    for (const name of ['a', 'b', 'c']) {
      void (async () => {
        for await (const item of share.paced([1, 2, 3, 4, 5, 6, 7, 8, 9])) worked.push(`${name}${item}`);
        finished += 1;
      })();
    }
    const perIteration: number[] = [];
    while (finished < 3) {
      const before = worked.length;
      await loop.iterate();
      perIteration.push(worked.length - before);
    }
    expect(Math.max(...perIteration)).to.be.at.most(SLICE_MS);
    expect(worked).to.have.length(27);
    const firsts = ['a1', 'b1', 'c1'].map((it) => worked.indexOf(it));
    expect(firsts).to.deep.equal([...firsts].sort((x, y) => x - y));
    // The second slice of a comes after the first of c: no stream waits for another one's end.
    expect(worked.indexOf('c1')).to.be.lessThan(worked.indexOf('a9'));
  });

  it('cuts a long list into parts that end with the slice, and loses no item', async () => {
    const loop = new SteppedLoop();
    const share = new EventLoopShare(loop);
    const parts: number[][] = [];
    let isDone = false;
    const items = Array.from({ length: 100 }, (_, at) => at);
    void (async () => {
      for await (const part of share.mapped(items, (it) => it * 2)) parts.push(part);
      isDone = true;
    })();
    const iterations = await iterateUntil(loop, () => isDone);
    expect(parts.flat()).to.deep.equal(items.map((it) => it * 2));
    expect(Math.max(...parts.map((it) => it.length))).to.be.at.most(SLICE_MS);
    expect(iterations).to.be.at.least(100 / SLICE_MS);
  });

  it('does not wait while its slice lasts', () => {
    let nowMs = 100;
    const soon: (() => void)[] = [];
    const after = (): never => expect.fail('no request waits');
    const share = new EventLoopShare({ monotonicMs: () => nowMs, soon: (action) => soon.push(action), after });
    expect(share.slice()).to.be.a('promise');
    soon.shift()!();
    nowMs += SLICE_MS - 1;
    expect(share.slice()).to.equal(undefined);
    nowMs += 1;
    expect(share.slice()).to.be.a('promise');
    // Work that asks while other work waits does not overtake it.
    expect(share.slice()).to.be.a('promise');
  });

  it('writes the arrays of an object in slices, as JSON.stringify does', async () => {
    const loop = new SteppedLoop();
    const value = { list: [1, { a: [2] }, null, undefined], empty: [], text: 'é"', none: undefined, nested: { a: 1 } };
    let text: string | undefined;
    void stringifyInSlices(new EventLoopShare(loop), value).then((it) => (text = it));
    await iterateUntil(loop, () => text !== undefined);
    expect(text).to.equal(JSON.stringify(value));
  });
});

/** LevelDB's threads, which reads of views and writes share. */
import { expect } from 'chai';
import type { Level } from 'level';
import { LevelEngine } from '../../../../src/coordinator/storage/leveldb/level-engine.ts';

/** A database whose reads end when the test says so. */
class SlowLevel {
  readonly reads: (() => void)[] = [];
  writes = 0;

  snapshot() {
    return { close: async () => {} };
  }

  iterator() {
    let chunks = 2;
    const nextv = async (): Promise<[string, string][]> => {
      await new Promise<void>((resolve) => this.reads.push(resolve));
      return (chunks -= 1) < 0 ? [] : [['key', 'value']];
    };
    return { nextv, close: async () => {} };
  }

  batch() {
    return { put: () => {}, write: async () => void (this.writes += 1) };
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('coordinator/storage/leveldb/level-engine', () => {
  it('reads two chunks of views at a time, each view in its turn, so that a write finds a thread', async () => {
    const level = new SlowLevel();
    const engine = new LevelEngine(level as unknown as Level<string, string>);
    const found: number[] = [];
    const readers = Array.from({ length: 5 }, async (_, reader) => {
      for await (const chunk of engine.snapshot().entries({ gte: 'a', lt: 'z' })) found.push(reader + chunk.length);
    });
    await settled();
    await engine.write([['key', 'value']], { sync: true });
    expect(level.writes).to.equal(1);
    let isOver = false;
    void Promise.all(readers).then(() => (isOver = true));
    for (; !isOver; await settled()) {
      expect(level.reads.length).to.be.at.most(2);
      level.reads.shift()?.();
    }
    expect(found).to.deep.equal([1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
  });
});

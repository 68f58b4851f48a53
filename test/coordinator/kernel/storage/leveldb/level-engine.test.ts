/** LevelDB's threads, which reads of views and writes share. */
import { expect } from 'chai';
import type { Level } from 'level';
import { LevelEngine } from '../../../../../src/coordinator/kernel/storage/leveldb/level-engine.ts';

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

const engineOver = (level: object): LevelEngine => new LevelEngine(level as Level<string, string>);

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('coordinator/kernel/storage/leveldb/level-engine', () => {
  it('reads two chunks of views at a time, each view in its turn, so that a write finds a thread', async () => {
    const level = new SlowLevel();
    const engine = engineOver(level);
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

  it('reads a chunk ahead from the second on, and throws an error in its place', async () => {
    const results = [['a'], ['b'], ['c'], new Error('damaged')];
    let reads = 0;
    let isClosed = false;
    const nextv = async (): Promise<[string, string][]> => {
      const next = results[reads++]!;
      if (next instanceof Error) throw next;
      return next.map((key) => [key, '']);
    };
    const level = { snapshot: () => ({}), iterator: () => ({ nextv, close: async () => void (isClosed = true) }) };
    const engine = engineOver(level);
    const seen: string[] = [];
    let failure: unknown;
    try {
      for await (const [entry] of engine.snapshot().entries({ gte: 'a', lt: 'z' })) {
        seen.push(`${entry?.[0]}, ${reads} read`);
        await settled();
      }
    } catch (error) {
      failure = error;
    }
    expect(seen).to.deep.equal(['a, 1 read', 'b, 3 read', 'c, 4 read']);
    expect(failure).to.equal(results[3]);
    expect(isClosed).to.equal(true);
  });

  it('closes the iterator of a reader that leaves, whose next chunk cannot be read', async () => {
    let reads = 0;
    let isClosed = false;
    const nextv = async (): Promise<[string, string][]> => {
      if ((reads += 1) > 2) throw new Error('closed');
      return [['a', '']];
    };
    const level = { snapshot: () => ({}), iterator: () => ({ nextv, close: async () => void (isClosed = true) }) };
    let chunks = 0;
    for await (const _ of engineOver(level).snapshot().entries({ gte: 'a', lt: 'z' })) {
      if ((chunks += 1) === 2) break;
    }
    await settled();
    expect({ reads, isClosed }).to.deep.equal({ reads: 3, isClosed: true });
  });
});

/** The store over an engine that can be held: what is synced, and what a reading may show. */
import { expect } from 'chai';
import type { Engine, Operation } from '../../../../src/coordinator/kernel/storage/engine.ts';
import { CheckedStore } from '../../../../src/coordinator/kernel/storage/integrity/checked-store.ts';

describe('coordinator/kernel/storage/checked-store', () => {
  /** An engine whose writes end on demand. */
  function held() {
    const disk = new Map<string, string>();
    const writes: { sync: boolean; operations: readonly Operation[]; end(error?: Error): void }[] = [];
    const reads: string[] = [];
    const engine: Engine = {
      get: (key) => {
        reads.push(key);
        return disk.get(key);
      },
      write: (operations, { sync }) =>
        new Promise((resolve, reject) => {
          const end = (error?: Error): void => {
            if (error !== undefined) return reject(error);
            for (const [key, value] of operations) {
              if (value === null) disk.delete(key);
              else disk.set(key, value);
            }
            resolve();
          };
          writes.push({ sync, operations, end });
        }),
      snapshot: () => ({
        get: (key) => disk.get(key),
        async *entries({ gte, lt }) {
          yield [...disk].filter(([key]) => key >= gte && key < lt);
        },
        sealed: () => [] as never,
        close: async () => {},
      }),
      close: async () => {},
    };
    const marks: number[] = [];
    const onWritten = ({ number }: { number: number }): void => void marks.push(number);
    const parts = { engine, directory: 'here', store: 's', last: undefined, sequence: 0, onWritten };
    return { store: new CheckedStore(parts), writes, marks, disk, reads };
  }
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };

  it('syncs every group, and acknowledges and marks it afterwards only', async () => {
    const { store, writes, marks } = held();
    let isAcknowledged = false;
    const written = store.write([['!job!1', 'a']]).then(() => (isAcknowledged = true));
    await turns();
    expect(writes.map((it) => it.sync)).to.deep.equal([true]);
    expect(isAcknowledged).to.equal(false);
    expect(marks).to.deep.equal([]);
    writes[0]!.end();
    await written;
    expect(marks).to.deep.equal([1]);
  });

  it('looks for the family of a batch once, and shows a new one when it is on disk', async () => {
    const { store, writes, reads } = held();
    expect([store.get('!family!b'), store.get('!family!b')]).to.deep.equal([undefined, undefined]);
    expect(reads).to.deep.equal(['!family!b']);
    for (const value of ['first', 'second', null]) {
      const before = store.get('!family!b');
      const written = store.write([['!family!b', value]]);
      await turns();
      expect(store.get('!family!b')).to.equal(before);
      writes.at(-1)!.end();
      await written;
      expect(store.get('!family!b')).to.equal(value ?? undefined);
    }
    expect(reads).to.deep.equal(['!family!b']);
  });

  it('shows no batch before it is on disk', async () => {
    const { store, writes } = held();
    const first = store.write([['!batch!b', 'old']]);
    await turns();
    expect(store.get('!batch!b')).to.equal(undefined);
    writes[0]!.end();
    await first;
    const second = store.write([['!batch!b', 'new']]);
    await turns();
    expect(store.get('!batch!b')).to.equal('old');
    writes[1]!.end();
    await second;
    expect(store.get('!batch!b')).to.equal('new');
  });

  it('writes one group at a time, each with the hash of the one before', async () => {
    const { store, writes } = held();
    const all = [1, 2, 3].map((n) => store.write([[`!job!${n}`, String(n)]]));
    const groups: string[][] = [];
    for (let at = 0; at < 3; at += 1) {
      await turns();
      expect(writes).to.have.length(at + 1);
      groups.push((writes[at]!.operations.at(-1)?.[1] ?? '').slice(8).split(' '));
      writes[at]!.end();
    }
    await Promise.all(all);
    expect(groups.map(([number]) => number)).to.deep.equal(['1', '2', '3']);
    expect(groups.slice(1).map(([, before]) => before)).to.deep.equal(groups.slice(0, 2).map(([, , hash]) => hash));
  });

  it('writes nothing after a failed write', async () => {
    const { store, writes } = held();
    const first = store.write([['!job!1', 'a']]);
    const second = store.write([['!job!2', 'b']]);
    await turns();
    writes[0]!.end(new Error('the disk is full'));
    const errors = await Promise.all([first, second].map((it) => it.catch((error: Error) => error.message)));
    expect(errors).to.deep.equal(['the disk is full', 'the disk is full']);
    expect(writes).to.have.length(1);
  });

  it('leaves damaged records out of a range where it is asked to, and names them', async () => {
    const { store, writes, disk } = held();
    const written = store.write(['1', '2', '3'].map((at) => [`!batch!${at}`, at] as const));
    await turns();
    writes[0]!.end();
    await written;
    disk.set('!batch!2', disk.get('!batch!1')!);
    const view = store.snapshot();
    const named: string[] = [];
    const found: (readonly [string, string])[] = [];
    for await (const chunk of view.entries({ gte: '!batch!', lt: '!batch"' }, { onDamage: (key) => named.push(key) }))
      found.push(...chunk);
    expect(found.map(([, value]) => value)).to.deep.equal(['1', '3']);
    expect(named).to.deep.equal(['!batch!2']);
  });

  it('refuses a record whose value or key was changed, and names it', async () => {
    const { store, writes, disk } = held();
    const written = store.write([['!job!1', '{"mass":1234.5}']]);
    await turns();
    writes[0]!.end();
    await written;
    const sealed = disk.get('!job!1') as string;
    disk.set('!job!2', sealed);
    disk.set('!job!1', sealed.replace('1234.5', '5234.5'));
    for (const key of ['!job!1', '!job!2']) {
      const message = `the record "${key}" in here is damaged: its checksum does not match`;
      expect(() => store.get(key)).to.throw(message);
      for (const kind of ['entries', 'lines'] as const) {
        const chunks: AsyncIterable<unknown> = store.snapshot()[kind]({ gte: key, lt: `${key}~` });
        const read = chunks[Symbol.asyncIterator]().next();
        expect(await read.catch((error: Error) => error.message)).to.contain(message);
      }
    }
  });
});

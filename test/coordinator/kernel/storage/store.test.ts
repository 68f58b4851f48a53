/** One suite that every store must pass, and tests of the real one on its disk. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SimbatchError } from '../../../../src/domain/errors.ts';
import { encodeHistory } from '../../../../src/domain/histories/values.ts';
import { allOf, historiesOf, keys, ofBatch } from '../../../../src/coordinator/kernel/storage/keys.ts';
import { openStore } from '../../../../src/coordinator/kernel/storage/open-store.ts';
import { unpacked } from '../../../../src/coordinator/kernel/storage/sealed-bytes.ts';
import {
  STORE_FORMAT,
  type Changes,
  type Entry,
  type Store,
  type StoreView,
} from '../../../../src/coordinator/kernel/storage/store.ts';
import { MemoryStore } from '../../../support/memory-store.ts';
import { codeOf } from '../../../support/scene.ts';
import { times } from '../../../support/properties.ts';

const changes = (it: Record<string, string | null>): Changes => new Map(Object.entries(it));

async function read(snapshot: StoreView, range: { gte: string; lt: string }, options = {}): Promise<Entry[][]> {
  const chunks: Entry[][] = [];
  for await (const chunk of snapshot.entries(range, options)) chunks.push([...chunk]);
  return chunks;
}

function conformance(name: string, open: () => Promise<Store>): void {
  describe(name, () => {
    let store: Store;
    before(async () => {
      store = await open();
    });
    after(() => store.close());

    it('keeps written records and removes deleted ones', async () => {
      await store.write(changes({ a: '1', b: '2', c: '' }));
      await store.write(changes({ a: null, b: '3' }));
      expect([store.get('a'), store.get('b'), store.get('c'), store.get('d')]).to.deep.equal([
        undefined,
        '3',
        '',
        undefined,
      ]);
    });

    it('takes the last of several changes of a write in their order', async () => {
      await store.write([
        ['once', '1'],
        ['once', '2'],
      ]);
      expect(store.get('once')).to.equal('2');
      await store.write(changes({}));
    });

    it('returns the last write for many batches, and nothing for a deleted one', async () => {
      const [first, ...others] = Array.from({ length: 1_200 }, (_, at) => keys.batch(`b${at}`)) as [
        string,
        ...string[],
      ];
      await store.write(others.map((key) => [key, 'old'] as const));
      await store.write([[first, 'first'], ...others.map((key) => [key, `new ${key}`] as const)]);
      expect(store.get(first)).to.equal('first');
      for (const key of others) expect(store.get(key)).to.equal(`new ${key}`);
      await store.write([[first, 'again']]);
      await store.write([
        [first, null],
        [others[0]!, null],
        [others[1]!, 'x'],
        [others[1]!, null],
      ]);
      for (const key of [first, others[0]!, others[1]!]) expect(store.get(key)).to.equal(undefined);
    });

    it('reads ranges in key order, forwards and backwards, in chunks', async () => {
      await store.write(changes({ r3: 'c', r1: 'a', r2: 'b', 'r!': 'x', s: 'beyond' }));
      const snapshot = store.snapshot();
      const range = { gte: 'r1', lt: 's' };
      expect(await read(snapshot, range)).to.deep.equal([
        [
          ['r1', 'a'],
          ['r2', 'b'],
          ['r3', 'c'],
        ],
      ]);
      expect(await read(snapshot, range, { chunkSize: 2 })).to.deep.equal([
        [
          ['r1', 'a'],
          ['r2', 'b'],
        ],
        [['r3', 'c']],
      ]);
      expect(await read(snapshot, range, { reverse: true, chunkSize: 9 })).to.deep.equal([
        [
          ['r3', 'c'],
          ['r2', 'b'],
          ['r1', 'a'],
        ],
      ]);
      expect(await read(snapshot, { gte: 'x', lt: 'y' })).to.deep.equal([]);
      await snapshot.close();
    });

    it('reads the same ranges as lines, in chunks', async () => {
      await store.write(changes({ l1: 'a', l2: '{"text":"é"}', l3: '' }));
      const snapshot = store.snapshot();
      const lines = async (chunkSize: number): Promise<string[]> => {
        const chunks: string[] = [];
        for await (const chunk of snapshot.lines({ gte: 'l1', lt: 'l4' }, { chunkSize }))
          chunks.push(new TextDecoder().decode(chunk));
        return chunks;
      };
      expect(await lines(1)).to.deep.equal(['l1\ta', 'l2\t{"text":"é"}', 'l3\t']);
      expect(await lines(9)).to.deep.equal(['l1\ta\nl2\t{"text":"é"}\nl3\t']);
      await snapshot.close();
    });

    it('reads ranges of histories as bytes, in chunks, which another thread verifies', async () => {
      const batch = '0195a1b2-c3d4-8e5f-a012-345600000000';
      const values = new Map([0, 1, 2].map((run) => [keys.history(batch, 1, run), encodeHistory([run, NaN])]));
      await store.write([...values, [keys.history(batch, 2, 0), encodeHistory([9])]]);
      const snapshot = store.snapshot();
      const records = async (chunkSize: number): Promise<string[][][]> => {
        const chunks: string[][][] = [];
        for await (const chunk of snapshot.sealed(historiesOf(batch, 1), { chunkSize }))
          chunks.push([...unpacked(chunk)].map(({ key, value }) => [key, value.toString('base64')]));
        return chunks;
      };
      const all = [...values];
      expect(await records(9)).to.deep.equal([all]);
      expect(await records(2)).to.deep.equal([all.slice(0, 2), all.slice(2)]);
      for await (const chunk of snapshot.sealed(historiesOf(batch, 1))) {
        for (const [at, part] of [
          [12, 'key'],
          [66, 'checksum'],
          [74, 'value'],
        ] as const) {
          const damaged = chunk.slice();
          damaged[at]! ^= 1;
          expect(() => [...unpacked(damaged)], part).to.throw(SimbatchError, 'its checksum does not match');
        }
      }
      await snapshot.close();
    });

    it('shows a snapshot nothing of what is written later', async () => {
      await store.write(changes({ t1: 'old' }));
      const snapshot = store.snapshot();
      await store.write(changes({ t1: 'new', t2: 'more' }));
      expect(snapshot.get('t1')).to.equal('old');
      expect(snapshot.get('t2')).to.equal(undefined);
      expect(await read(snapshot, { gte: 't', lt: 'u' })).to.deep.equal([[['t1', 'old']]]);
      await snapshot.close();
      await snapshot.close();
      expect(store.get('t1')).to.equal('new');
    });

    it('may be left in the middle of a range', async () => {
      await store.write(new Map(Array.from({ length: 50 }, (_, at) => [`u${at}`, 'x'] as const)));
      const snapshot = store.snapshot();
      for await (const chunk of snapshot.entries({ gte: 'u', lt: 'v' }, { chunkSize: 5 })) {
        expect(chunk).to.have.length(5);
        break;
      }
      await snapshot.close();
    });

    it('keeps any text', async () => {
      const text = fc.string({ unit: 'grapheme', maxLength: 50 });
      await fc.assert(
        fc.asyncProperty(text, text, async (key, value) => {
          await store.write(new Map([[`any${key}`, value]]));
          expect(store.get(`any${key}`)).to.equal(value);
        }),
        { numRuns: times(30) },
      );
    });

    it('keeps the kinds of records, and the records of batches, apart', async () => {
      const batch = '01900000-0000-8000-8000-000000000000';
      const next = '01900000-0000-8000-8000-000100000000';
      const first = `${batch.slice(0, 28)}00000001`;
      const last = `${batch.slice(0, 28)}ffffffff`;
      await store.write(
        changes({
          [keys.job(first)]: '1',
          [keys.job(last)]: '2',
          [keys.job(`${next.slice(0, 28)}00000001`)]: 'of the next',
          [keys.runner('job!x"')]: 'r',
          [keys.result(first)]: 'result',
        }),
      );
      const snapshot = store.snapshot();
      const values = async (range: { gte: string; lt: string }) =>
        (await read(snapshot, range)).flat().map((it) => it[1]);
      expect(await values(ofBatch('job', batch))).to.deep.equal(['1', '2']);
      expect(await values(allOf('job'))).to.deep.equal(['1', '2', 'of the next']);
      expect(await values(allOf('runner'))).to.deep.equal(['r']);
      await snapshot.close();
    });
  });
}

describe('coordinator/kernel/storage/open-store', () => {
  const made: string[] = [];
  const directory = async (): Promise<string> => {
    const path = await mkdtemp(join(tmpdir(), 'simbatch-store-'));
    made.push(path);
    return path;
  };
  after(() => Promise.all(made.map((path) => rm(path, { recursive: true, force: true }))));

  conformance('in memory', async () => new MemoryStore());
  conformance('LevelDB', async () => openStore(await directory()));

  it('has its records when it is opened again', async () => {
    const path = join(await directory(), 'made', 'on the way');
    const store = await openStore(path);
    await store.write(changes({ a: '1' }));
    await store.close();
    const again = await openStore(path);
    expect(again.get('a')).to.equal('1');
    expect(again.get(keys.meta('format'))).to.equal(String(STORE_FORMAT));
    await again.close();
  });

  it('refuses a second process with a message that names the directory', async () => {
    const path = await directory();
    const store = await openStore(path);
    const second = openStore(path);
    expect(await codeOf(second)).to.equal('store-locked');
    expect(await second.catch((it: Error) => it.message)).to.contain(`another process uses the data directory ${path}`);
    await store.close();
  });

  it('refuses a second process also when the LOCK file was deleted', async function () {
    if (process.platform !== 'linux') this.skip();
    const path = await directory();
    const store = await openStore(path);
    await rm(join(path, 'LOCK'));
    expect(await codeOf(openStore(path))).to.equal('store-locked');
    await store.close();
    await (await openStore(path)).close();
  });

  it('closes the directory and its files to other users', async () => {
    const path = join(await directory(), 'data');
    await mkdir(path, { mode: 0o755 });
    await (await openStore(path)).close();
    await (await openStore(path)).close();
    const modeOf = async (it: string): Promise<number> => (await stat(it)).mode & 0o777;
    expect(await modeOf(path)).to.equal(0o700);
    const names = (await readdir(path)).filter((it) => /^(\d+\.ldb|MANIFEST|CURRENT|high)/.test(it));
    expect(names).to.have.length.above(2);
    expect(await modeOf(join(path, 'high-water-mark'))).to.equal(0o600);
  });

  it('refuses a store of a newer version, foreign files, and a path that is not a directory', async () => {
    for (const [format, code] of [
      ['3', 'store-newer'],
      ['soon', 'store-unusable'],
      ['', 'store-unusable'],
      ['0', 'store-unusable'],
      ['1.5', 'store-unusable'],
    ] as const) {
      const path = await directory();
      const store = await openStore(path);
      await store.write(changes({ [keys.meta('format')]: format }));
      await store.close();
      expect(await codeOf(openStore(path)), format).to.equal(code);
    }
    const file = join(await directory(), 'a file');
    await writeFile(file, 'hello');
    expect(await codeOf(openStore(file))).to.equal('store-unusable');
    expect(await codeOf(openStore(join(file, 'below')))).to.equal('store-unusable');
    // A file system that takes no directories and says that they are missing: a recursive mkdir never ends there.
    if (process.platform === 'linux') expect(await codeOf(openStore('/proc/simbatch/data'))).to.equal('store-unusable');
  });

  it('migrates an older one step by step, each step whole', async () => {
    const path = await directory();
    const store = await openStore(path);
    await store.write(changes({ a: '1' }));
    await store.close();
    const step = (name: string) => async (it: Store) => changes({ a: `${it.get('a')}${name}`, [name]: 'new' });
    const migrations = new Map([
      [2, step('x')],
      [3, step('y')],
    ]);
    const migrated = await openStore(path, { format: 4, migrations });
    expect([migrated.get('a'), migrated.get('x'), migrated.get('y')]).to.deep.equal(['1xy', 'new', 'new']);
    expect(migrated.get(keys.meta('format'))).to.equal('4');
    await migrated.close();
    expect(await codeOf(openStore(path, { format: 6, migrations })), 'no way there').to.equal('store-unusable');
    expect(await codeOf(openStore(path)), 'no way back').to.equal('store-newer');
    const broken = new Map([[4, async () => Promise.reject(new Error('no'))]]);
    expect(await openStore(path, { format: 5, migrations: broken }).catch((it: Error) => it.message)).to.equal('no');
    const whole = await openStore(path, { format: 4, migrations });
    expect(whole.get('a'), 'a step that fails leaves nothing').to.equal('1xy');
    await whole.close();
  });
});

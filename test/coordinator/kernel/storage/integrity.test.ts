/** Damage to a data directory: what a start, a read and a migration do with it. */
import { expect } from 'chai';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32c, unmasked } from '../../../../src/coordinator/kernel/storage/leveldb/crc32c.ts';
import { decompressed } from '../../../../src/coordinator/kernel/storage/leveldb/table.ts';
import { openLevelEngine } from '../../../../src/coordinator/kernel/storage/leveldb/level-engine.ts';
import { sealRecords } from '../../../../src/coordinator/kernel/storage/integrity/seal-migration.ts';
import { openStore } from '../../../../src/coordinator/kernel/storage/open-store.ts';
import { packageRoot } from '../../../../src/base/package.ts';
import { CheckedStore } from '../../../../src/coordinator/kernel/storage/integrity/checked-store.ts';
import { SimbatchError } from '../../../../src/domain/errors.ts';
import type { Store } from '../../../../src/coordinator/kernel/storage/store.ts';

const FORMAT_1 = join(packageRoot, 'test/coordinator/kernel/storage/data/format-1');

async function allRecords(store: Store): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const view = store.snapshot();
  for await (const chunk of view.entries({ gte: '!', lt: '"' }))
    for (const [key, value] of chunk) if (!key.startsWith('!meta!')) found.set(key, value);
  await view.close();
  return found;
}

describe('coordinator/kernel/storage/integrity', () => {
  let folder = '';
  let directory = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'simbatch-integrity-'));
    directory = join(folder, 'data');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A store with tables and a log: some groups, closed and opened in between. */
  async function filled(): Promise<Map<string, string>> {
    for (let life = 0; life < 3; life += 1) {
      const store = await openStore(directory);
      for (let group = 0; group < 5; group += 1) {
        const name = `${life}-${group}`;
        await store.write([
          [`!job!${name}`, JSON.stringify({ name, text: 'x'.repeat(100) })],
          [`!job!changing`, name],
          [`!requeue!${life}-${group - 1}`, null],
          [`!requeue!${name}`, ''],
        ]);
      }
      await store.close();
    }
    const store = await openStore(directory);
    const records = await allRecords(store);
    await store.write([['!job!last', 'the last group']]);
    await store.close();
    return records.set('!job!last', 'the last group');
  }

  const refusal = async (): Promise<string> =>
    openStore(directory).then(
      async (store) => {
        await store.close();
        return 'opened';
      },
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    );
  const files = (pattern: RegExp): string[] => readdirSync(directory).filter((it) => pattern.test(it));
  const contents = (): Map<string, string> =>
    new Map(
      files(/^(\d|MANIFEST|CURRENT|high)/).map((it) => [it, readFileSync(join(directory, it)).toString('latin1')]),
    );

  it('refuses a record whose block the engine cannot read', () => {
    const get = (): never => {
      throw Object.assign(new Error('corrupted compressed block contents'), { code: 'LEVEL_CORRUPTION' });
    };
    const none = () => [] as never;
    const view = { get, entries: none, sealed: none, close: () => Promise.resolve() };
    const engine = { ...view, write: () => Promise.resolve(), snapshot: () => view };
    const store = new CheckedStore({ engine, directory, store: 'an id', last: undefined, sequence: 0 });
    for (const read of [() => store.get('!job!a'), () => store.snapshot().get('!job!a')])
      expect(read)
        .to.throw(SimbatchError, /"!job!a".*corrupted.*simbatch repair/)
        .with.property('code', 'store-damaged');
  });

  it('computes CRC-32C and its mask as LevelDB does', () => {
    // RFC 3720, appendix B.4, and LevelDB's own mask of the check value.
    expect(crc32c(Buffer.from('123456789'))).to.equal(0xe3069283);
    expect(crc32c(Buffer.alloc(32))).to.equal(0x8a9136aa);
    expect(crc32c(Buffer.alloc(32, 0xff))).to.equal(0x62a8ab43);
    expect(unmasked((((0xe3069283 >>> 15) | (0xe3069283 << 17)) + 0xa282ead8) >>> 0)).to.equal(0xe3069283);
  });

  it('decompresses Snappy, with literals and overlapping copies', () => {
    // "abcabcabcabc": a literal of 3 bytes and a copy of 9 from offset 3.
    expect(decompressed(Buffer.from([12, 0x08, 97, 98, 99, 0x15, 3])).toString()).to.equal('abcabcabcabc');
    expect(() => decompressed(Buffer.from([12, 0x08, 97, 98, 99]))).to.throw(RangeError);
    expect(() => decompressed(Buffer.from([12, 0x08, 97, 98, 99, 0x15, 9]))).to.throw(RangeError);
  });

  it('opens an undamaged store with all its records, as often as asked', async () => {
    const records = await filled();
    for (let times = 0; times < 2; times += 1) {
      const store = await openStore(directory);
      expect(await allRecords(store)).to.deep.equal(records);
      await store.close();
    }
  });

  const DAMAGES: [string, () => string[]][] = [
    ['CURRENT', () => ['CURRENT']],
    ['the manifest', () => files(/^MANIFEST/)],
    ['a table', () => files(/\.ldb$/).slice(0, 1)],
    ['the log', () => files(/\.log$/)],
    ['the high-water mark', () => ['high-water-mark']],
    ['everything but the high-water mark', () => files(/^(\d|MANIFEST|CURRENT)/)],
  ];
  for (const [name, chosen] of DAMAGES) {
    it(`refuses the store when ${name} was deleted, names it and changes no file`, async () => {
      await filled();
      const gone = chosen();
      expect(gone).to.have.length.above(0);
      for (const file of gone) rmSync(join(directory, file));
      const before = contents();
      const message = await refusal();
      expect(message).to.match(/^store-damaged: /);
      expect(message).to.contain(gone.includes('CURRENT') ? 'CURRENT' : gone[0]);
      // A missing mark is known to be missing only when the records have been read.
      if (name !== 'the high-water mark') expect(contents()).to.deep.equal(before);
    });

    it(`refuses the store when ${name} was truncated or emptied, and names it`, async () => {
      await filled();
      const [file = ''] = chosen();
      const path = join(directory, file);
      const size = readFileSync(path).length;
      for (const length of [Math.floor(size / 2), 0]) {
        truncateSync(path, length);
        const before = contents();
        const message = await refusal();
        // Half of the mark is one of its two slots, which is all it needs.
        if (name === 'the high-water mark' && length > 0) continue;
        expect(message, `${file} of ${length} bytes`).to.match(/^store-damaged: /);
        expect(message).to.contain(file);
        expect(contents()).to.deep.equal(before);
      }
    });
  }

  it('refuses a log that was replaced by an older copy of itself', async () => {
    await filled();
    let store = await openStore(directory);
    await store.write([['!job!a', '1']]);
    const [log = ''] = files(/\.log$/).slice(-1);
    const older = readFileSync(join(directory, log));
    await store.write([['!job!a', '2']]);
    await store.close();
    writeFileSync(join(directory, log), older);
    expect(await refusal()).to.match(
      new RegExp(`^store-damaged: .*${log}: its end is missing: group \\d+ was written`, 's'),
    );
    writeFileSync(join(directory, log), Buffer.concat([older, older.subarray(0, 7)]));
    expect(await refusal()).to.match(
      new RegExp(`^store-damaged: .*${log}: it is damaged from byte ${older.length}`, 's'),
    );
    store = await openStore(join(folder, 'other'));
    await store.close();
  });

  it('refuses files of LevelDB that belong to another store', async () => {
    await filled();
    const mine = readFileSync(join(directory, 'high-water-mark'));
    rmSync(directory, { recursive: true });
    await filled();
    writeFileSync(join(directory, 'high-water-mark'), mine);
    expect(await refusal()).to.match(/^store-damaged: .*(high-water-mark: it is of store|and high-water-mark has)/s);
  });

  it('drops a write that a power cut interrupted, and nothing else', async () => {
    const records = await filled();
    const store = await openStore(directory);
    const mark = readFileSync(join(directory, 'high-water-mark'));
    await store.write([['!job!torn', 'y'.repeat(300)]]);
    await store.close();
    const [log = ''] = files(/\.log$/).slice(-1);
    truncateSync(join(directory, log), readFileSync(join(directory, log)).length - 20);
    // The mark is written after the log is synced, so it knows nothing of this write.
    writeFileSync(join(directory, 'high-water-mark'), mark);
    const again = await openStore(directory);
    expect(await allRecords(again)).to.deep.equal(records);
    await again.close();
  });

  const FORMAT_1_RECORDS = JSON.parse(readFileSync(`${FORMAT_1}.json`, 'utf8')) as Record<string, string>;
  const expected = new Map(Object.entries(FORMAT_1_RECORDS).filter(([key]) => !key.startsWith('!meta!')));

  it('migrates a directory of format 1 with all its records', async () => {
    cpSync(FORMAT_1, directory, { recursive: true });
    for (let times = 0; times < 2; times += 1) {
      const store = await openStore(directory);
      expect(store.get('!meta!format')).to.equal('2');
      expect(await allRecords(store)).to.deep.equal(expected);
      await store.close();
    }
  });

  it('continues a migration that was interrupted after any of its writes', async () => {
    let writes = 0;
    for (let limit = 0, isWhole = false; !isWhole; limit += 1) {
      rmSync(directory, { recursive: true, force: true });
      cpSync(FORMAT_1, directory, { recursive: true });
      const engine = await openLevelEngine(directory);
      const write = engine.write.bind(engine);
      let left = limit;
      engine.write = async (...args) => {
        if (left === 0) throw new Error('the power fails');
        left -= 1;
        writes += 1;
        return write(...args);
      };
      isWhole = await sealRecords(engine, 3).then(
        () => true,
        () => false,
      );
      await engine.close();
      const store = await openStore(directory);
      expect(await allRecords(store), `after ${limit} writes`).to.deep.equal(expected);
      await store.close();
    }
    expect(writes).to.be.above(20);
  });

  it('does not migrate a damaged directory of format 1', async () => {
    cpSync(FORMAT_1, directory, { recursive: true });
    const [table = ''] = files(/\.ldb$/);
    const bytes = readFileSync(join(directory, table));
    bytes[100]! ^= 1;
    writeFileSync(join(directory, table), bytes);
    const before = contents();
    expect(await refusal()).to.match(new RegExp(`${table}: it is damaged: the checksum of its data block at byte 0`));
    expect(contents()).to.deep.equal(before);
  });
});

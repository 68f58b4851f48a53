import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { copyFlushed } from '../../../src/runner/telemetry/recover.ts';
import { cleanUp, readTable, send, start, temporaryDirectory } from './support.ts';

const samples = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ timestamp_ns: from + i, values: { x: from + i } }));

describe('runner/telemetry/flushed', () => {
  afterEach(cleanUp);

  it('is every sample up to the last flush, in journal and row groups, and leaves the run alone', async () => {
    const { telemetry, client, directory } = await start({
      limits: { rowGroupRows: 300, rowGroupValuesAtFlush: 1000 },
    });
    const target = temporaryDirectory();
    for (const [at, end] of [50, 400, 1000, 1001].entries()) {
      const from = [0, 50, 400, 1000][at] ?? 0;
      await send((done) => client.StreamBatch(done), [{ samples: samples(from, end) }]);
      await telemetry.flush();
      const before = readdirSync(directory).map((name) => [name, readFileSync(join(directory, name)).length]);
      const file = join(target, `${at}.parquet`);
      expect(await copyFlushed(directory, file)).to.equal(end);
      expect((await readTable(file)).map((row) => row.x)).to.deep.equal(Array.from({ length: end }, (_, i) => i));
      expect(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name)).length])).to.deep.equal(
        before,
      );
    }
    expect(readdirSync(target)).to.deep.equal(['0.parquet', '1.parquet', '2.parquet', '3.parquet']);
    const { location } = await telemetry.close();
    expect(await readTable(location)).to.have.length(1001);
    expect(await copyFlushed(directory, join(target, 'late.parquet'))).to.equal(null);
  });

  it('is nothing before the first flush', async () => {
    const { client, directory } = await start();
    await send((done) => client.Stream(done), [{ values: { x: 1 } }]);
    const file = join(temporaryDirectory(), 'file.parquet');
    expect(await copyFlushed(directory, file)).to.equal(null);
    expect(existsSync(file)).to.equal(false);
  });

  it('is a whole prefix at any moment of a flood', async () => {
    const { client, directory, telemetry } = await start({ limits: { rowGroupRows: 500, rowGroupValuesAtFlush: 400 } });
    const target = temporaryDirectory();
    let over = false;
    const messages = Array.from({ length: 400 }, (_, i) => ({ samples: samples(i * 100, (i + 1) * 100) }));
    const flood = send((done) => client.StreamBatch(done), messages).finally(() => (over = true));
    let copies = 0;
    for (let index = 0; !over || index === 0; index += 1) {
      await telemetry.flush();
      const file = join(target, `${index}.parquet`);
      const rows = await copyFlushed(directory, file);
      if (rows === null || rows === 0) continue;
      copies += 1;
      expect((await readTable(file)).map((row) => row.x)).to.deep.equal(Array.from({ length: rows }, (_, i) => i));
    }
    await flood;
    expect(copies).to.be.greaterThan(0);
  });
});

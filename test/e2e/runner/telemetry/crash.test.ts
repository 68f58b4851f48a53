import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { recoverTelemetry } from '../../../../src/runner/telemetry/recover.ts';
import {
  atEnd,
  cleanUp,
  connect,
  readTable,
  send,
  start,
  temporaryDirectory,
  type Table,
} from '../../../runner/telemetry/support.ts';
import { startElsewhere } from './processes.ts';

function samples(from: number, to: number, late = `y${from}`) {
  return Array.from({ length: to - from }, (_, i) => ({
    timestamp_ns: from + i,
    values: { x: from + i, [late]: 1 },
  }));
}

/** Rows must be the first of what was sent, in order, none twice. */
function expectPrefix(table: Table): void {
  expect(table.map((row) => [Number(row.timestamp_ns), row.x])).to.deep.equal(table.map((_, i) => [i, i]));
}

describe('runner/telemetry after SIGKILL of the runner', () => {
  afterEach(cleanUp);

  it('everything flushed is recovered: journal, row groups, columns that came late', async () => {
    const directory = temporaryDirectory();
    const { url, child, exited, ask } = await startElsewhere(directory, 'small');
    const client = connect(url);
    atEnd(() => client.close());
    for (let from = 0; from < 1000; from += 250) {
      await send((done) => client.StreamBatch(done), [{ samples: samples(from, from + 250) }]);
      await ask('flush');
    }
    child.kill('SIGKILL');
    await exited;
    const recovered = await recoverTelemetry(directory);
    expect(recovered).to.deep.equal({ location: join(directory, 'telemetry.parquet'), rows: 1000 });
    const table = await readTable(recovered?.location ?? null);
    expectPrefix(table);
    expect(table[0]).to.deep.equal({ timestamp_ns: 0n, x: 0, y0: 1, y250: null, y500: null, y750: null });
    expect(readdirSync(directory)).to.deep.equal(['telemetry.parquet']);
    expect(await recoverTelemetry(directory)).to.equal(null);
  });

  it('killed in the middle of a flood, at any moment: a whole prefix is recovered', async () => {
    let recoveredRows = 0;
    for (const bytes of [1, 50_000, 300_000]) {
      const directory = temporaryDirectory();
      const { url, child, exited } = await startElsewhere(directory, 'small');
      const client = connect(url);
      atEnd(() => client.close());
      const messages = Array.from({ length: 1000 }, (_, i) => ({
        samples: samples(i * 100, (i + 1) * 100, `y${i >> 6}`),
      }));
      const path = join(directory, 'telemetry.parquet');
      const watching = setInterval(() => {
        if (existsSync(path) && statSync(path).size >= bytes) child.kill('SIGKILL');
      }, 1);
      atEnd(() => clearInterval(watching));
      await send((done) => client.StreamBatch(done), messages).catch(() => undefined);
      child.kill('SIGKILL');
      clearInterval(watching);
      await exited;
      const recovered = await recoverTelemetry(directory);
      const table = await readTable(recovered?.location ?? null);
      expect(table).to.have.length(recovered?.rows ?? 0);
      expectPrefix(table);
      recoveredRows += table.length;
    }
    expect(recoveredRows).to.be.greaterThan(0);
  });

  it('a file cut at any byte of its last writes is recovered up to the last whole one', async () => {
    // Rows 0-999 in a row group with a footer, 1000-1039 in the journal in two frames.
    const { telemetry, client, directory } = await start({ limits: { rowGroupValuesAtFlush: 150 } });
    for (const [from, to] of [
      [0, 1000],
      [1000, 1020],
      [1020, 1040],
    ] as const) {
      await send(
        (done) => client.StreamBatch(done),
        [
          {
            samples: samples(from, to).map(({ timestamp_ns, values: { x } }) => ({
              timestamp_ns,
              values: { x, z: 1 },
            })),
          },
        ],
      );
      await telemetry.flush();
    }
    const files = Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))]));
    expect(Object.keys(files).sort()).to.deep.equal(['telemetry.journal', 'telemetry.parquet']);
    const { 'telemetry.journal': journal = Buffer.alloc(0), 'telemetry.parquet': parquet = Buffer.alloc(0) } = files;
    const rowsOf = async (name: string, content: Buffer, tail = Buffer.alloc(0)): Promise<number> => {
      const copy = join(temporaryDirectory(), 'job');
      mkdirSync(copy);
      for (const file of Object.keys(files)) copyFileSync(join(directory, file), join(copy, file));
      writeFileSync(join(copy, name), Buffer.concat([content, tail]));
      const recovered = await recoverTelemetry(copy);
      const table = await readTable(recovered?.location ?? null);
      expectPrefix(table);
      return table.length;
    };
    expect(await readTable(join(directory, 'telemetry.parquet'))).to.have.length(1000);
    expect(await rowsOf('telemetry.journal', journal)).to.equal(1040);
    const counts = new Set<number>();
    for (let cut = journal.length - 1; cut > 200; cut -= 37)
      counts.add(await rowsOf('telemetry.journal', journal.subarray(0, cut)));
    expect([...counts].sort((a, b) => a - b)).to.deep.equal([1000, 1020]);
    const flipped = Buffer.from(journal);
    flipped[flipped.length - 5] = (flipped[flipped.length - 5] ?? 0) ^ 1;
    expect(await rowsOf('telemetry.journal', flipped)).to.equal(1020);
    // A row group or a footer that was being appended.
    expect(await rowsOf('telemetry.parquet', parquet, Buffer.alloc(1000, 'PAR1'))).to.equal(1040);
    expect(await rowsOf('telemetry.parquet', parquet, parquet.subarray(4, 300))).to.equal(1040);
    // The crash came between a footer and the new journal: rows are not doubled.
    appendFileSync(join(directory, 'telemetry.journal.next'), 'torn');
    const { location } = await telemetry.close();
    expect(await readTable(location)).to.have.length(1040);
    writeFileSync(join(directory, 'telemetry.journal'), journal);
    expect(await recoverTelemetry(directory)).to.deep.equal({ location, rows: 1040 });
    expect(await readTable(location)).to.have.length(1040);
    expect(readdirSync(directory)).to.deep.equal(['telemetry.parquet']);
  });

  it('a file that vanished or was cut short is an error that leaves the journal', async () => {
    const { telemetry, client, directory } = await start({ limits: { rowGroupValuesAtFlush: 150 } });
    await send((done) => client.StreamBatch(done), [{ samples: samples(0, 1000) }]);
    await telemetry.flush();
    truncateSync(join(directory, 'telemetry.parquet'), 50);
    let message = '';
    await recoverTelemetry(directory).catch((error: Error) => (message = error.message));
    expect(message).to.include('has no footer where one was written');
    expect(existsSync(join(directory, 'telemetry.journal'))).to.equal(true);
  });
});

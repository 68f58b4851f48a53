import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  cleanUp,
  conditions,
  expectSoon,
  readMetadata,
  readTable,
  send,
  start,
  telemetryConfig,
  timers,
} from './support.ts';

describe('runner/telemetry: what a client sends is what a reader finds', () => {
  afterEach(cleanUp);

  it('batched, NaN and infinities, negative times, times that run backwards', async () => {
    const { telemetry, client } = await start();
    const times = [-1n, -(2n ** 63n), 2n ** 63n - 1n, 0n, 5n];
    const values = [NaN, Infinity, -Infinity, -0, 5e-324];
    const samples = times.map((time, i) => ({ timestamp_ns: time.toString(), values: { x: values[i] } }));
    const ack = await send(
      (done) => client.StreamBatch(done),
      [{ samples }, { samples: [] }, { samples: samples.slice(0, 1) }],
    );
    expect(ack.accepted).to.equal(6);
    const { location } = await telemetry.close();
    const table = await readTable(location);
    const statistics = readMetadata(location ?? '').row_groups[0]?.columns.map(
      (column) => column.meta_data?.statistics,
    );
    expect(statistics?.[0]).to.include({ min_value: -(2n ** 63n), max_value: 2n ** 63n - 1n, null_count: 0n });
    expect(statistics?.[1]).to.include({ min_value: -Infinity, max_value: Infinity, null_count: 0n });
    expect(table.map((row) => row.timestamp_ns)).to.deep.equal([...times, -1n]);
    expect(table.map((row) => row.x)).to.deep.equal([...values, NaN]);
  });

  it('several streams of different variables at the same times make one table', async () => {
    const { telemetry, client } = await start();
    for (const name of ['a', 'b'])
      await send((done) => client.Stream(done), [{ timestamp_ns: 7, values: { [name]: 1 } }]);
    await send(
      (done) => client.Stream(done),
      [
        { timestamp_ns: 8, values: { a: 2 } },
        { timestamp_ns: 8, values: { b: 3 } },
        { timestamp_ns: 8, values: { b: 4 } },
      ],
    );
    expect(await readTable((await telemetry.close()).location)).to.deep.equal([
      { timestamp_ns: 7n, a: 1, b: 1 },
      { timestamp_ns: 8n, a: 2, b: 3 },
      { timestamp_ns: 8n, a: null, b: 4 },
    ]);
  });

  it('only the variables the batch names are stored', async () => {
    const { telemetry, client } = await start({
      telemetry: telemetryConfig({ variables: ['b', '__proto__', 'absent'] }),
    });
    const values = Object.fromEntries([
      ['a', 1],
      ['b', 2],
      ['__proto__', 3],
    ]);
    await send(
      (done) => client.Stream(done),
      [
        { timestamp_ns: 1, values: { a: 9 } },
        { timestamp_ns: 2, values },
      ],
    );
    const { location, rows, accepted } = await telemetry.close();
    expect({ rows, accepted }).to.deep.equal({ rows: 1, accepted: 2 });
    const names = readMetadata(location ?? '').schema.map((element) => element.name);
    expect(names).to.deep.equal(['root', 'timestamp_ns', 'b', '__proto__']);
  });

  it('leaves no file when nothing came', async () => {
    const { telemetry, directory } = await start();
    const summary = await telemetry.close();
    expect(summary).to.deep.equal({
      location: null,
      rows: 0,
      problem: null,
      accepted: 0,
      refused: 0,
      refusedValues: 0,
      lost: 0,
      detail: '',
      seen: [],
      hit: null,
      shadow: false,
    });
    expect(await telemetry.close()).to.equal(summary);
    expect(readdirSync(directory)).to.deep.equal([]);
  });

  it('leaves one file, beside one of the same name that the simulation made', async () => {
    const { telemetry, client, directory } = await start();
    writeFileSync(join(directory, 'telemetry.parquet'), 'mine');
    await send((done) => client.Stream(done), [{ values: { x: 1 } }]);
    const { location } = await telemetry.close();
    expect(location).to.equal(join(directory, 'telemetry-2.parquet'));
    expect(await readTable(location)).to.deep.equal([{ timestamp_ns: 0n, x: 1 }]);
    expect(readFileSync(join(directory, 'telemetry.parquet'), 'utf8')).to.equal('mine');
    expect(readdirSync(directory).sort()).to.deep.equal(['telemetry-2.parquet', 'telemetry.parquet']);
  });

  it('reports the first condition met, once, from samples that are not stored', async () => {
    const { telemetry, client, hits } = await start({
      telemetry: telemetryConfig({ variables: ['other'], sampling_rate_hz: 1 }),
      earlyTermination: conditions(['altitude', '< 0', 'below ground'], ['speed', '> 10', 'too fast']),
    });
    const dip = [1, NaN, -3.5, 2, -4].map((altitude, i) => ({ timestamp_ns: i, values: { altitude, speed: i * 4 } }));
    await send((done) => client.Stream(done), dip);
    await expectSoon(() => hits.length > 0);
    const { hit, location } = await telemetry.close();
    const expected = {
      condition: '< 0',
      variable: 'altitude',
      value: -3.5,
      timestampNs: 2n,
      description: 'below ground',
    };
    expect([hits, hit, location]).to.deep.equal([[expected], expected, null]);
  });

  it('in shadow a hit is recorded and nothing is ended', async () => {
    const { telemetry, client, hits } = await start({
      earlyTermination: { ...conditions(['x', '> 1', 'large']), shadow: true },
    });
    await send((done) => client.Stream(done), [{ timestamp_ns: 5, values: { x: 2 } }]);
    const { hit, shadow } = await telemetry.close();
    expect(hit).to.deep.equal({ condition: '> 1', variable: 'x', value: 2, timestampNs: 5n, description: 'large' });
    expect([shadow, hits]).to.deep.equal([true, []]);
  });

  it('reports the variables that were seen: of conditions only those of which a number came', async () => {
    const { telemetry, client } = await start({
      telemetry: telemetryConfig({ variables: ['y', 'never'] }),
      earlyTermination: conditions(['x', '> 1', ''], ['silent', '> 1', ''], ['nan', '> 1', '']),
    });
    await send((done) => client.Stream(done), [{ values: { y: 1, x: 0, nan: NaN, unwanted: 3 } }]);
    expect((await telemetry.close()).seen).to.deep.equal(['x', 'y']);
  });

  it('mentions at most 32 variables without a condition', async () => {
    const { telemetry, client } = await start();
    const values = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`v${i}`, i]));
    await send((done) => client.Stream(done), [{ values }]);
    expect((await telemetry.close()).seen).to.have.length(32);
  });

  it('adds up the samples that clients lost', async () => {
    const { telemetry, client } = await start();
    const ack = await send(
      (done) => client.StreamBatch(done),
      [{ samples: [{ values: { x: 1 } }], lost: 326_000 }, { lost: 3 }],
    );
    expect(ack).to.include({ accepted: 1, refused: 0 });
    expect(await telemetry.close()).to.include({ accepted: 1, lost: 326_003 });
  });

  it('judges a last time when it is closed, however low the frequency', async () => {
    const { telemetry, client, hits } = await start({
      earlyTermination: { ...conditions(['x', '== 1', 'one']), check_frequency_hz: 1e-6 },
    });
    await send((done) => client.Stream(done), [{ values: { x: 1 } }]);
    expect(hits).to.deep.equal([]);
    await telemetry.close();
    expect(hits).to.have.length(1);
  });

  it('a stream that never ends does not hold up the end of the job', async () => {
    const { telemetry, client } = await start({ limits: { closeGraceMs: 50 } });
    const call = client.Stream(() => undefined);
    call.on('error', () => undefined);
    call.write({ timestamp_ns: 1, values: { x: 1 } });
    await expectSoon(() => telemetry.tally().accepted === 1);
    expect((await telemetry.close()).rows).to.equal(1);
  });

  it('slows a sender while the disk is too slow, and loses nothing', async () => {
    // The writer looks up between columns by way of this timer: while it does not fire, the disk is too slow.
    const held: (() => void)[] = [];
    let holding = true;
    const world = {
      ...timers,
      after: (ms: number, action: () => void) => {
        if (ms > 0 || !holding) return timers.after(ms, action);
        held.push(action);
        return () => undefined;
      },
    };
    const { telemetry, client } = await start({ world });
    let sent = 0;
    function* batches() {
      for (let i = 0; i < 400; i += 1) {
        sent += 1000;
        yield { samples: Array.from({ length: 1000 }, (_, k) => ({ timestamp_ns: i * 1000 + k, values: { a: k } })) };
      }
    }
    const answer = send((done) => client.StreamBatch(done), batches());
    await expectSoon(() => telemetry.tally().accepted >= 131_072);
    let before = -1;
    while (telemetry.tally().accepted !== before) {
      before = telemetry.tally().accepted;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    // Two row groups, and what is in the pipe between.
    expect([before < 160_000, sent < 300_000]).to.deep.equal([true, true]);
    holding = false;
    for (const action of held) action();
    expect(await answer).to.include({ accepted: 400_000 });
    expect((await telemetry.close()).rows).to.equal(400_000);
  });
});

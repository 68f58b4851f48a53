import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { DEFAULT_LIMITS, MAX_STREAMS } from '../../../src/runner/telemetry/limits.ts';
import { Sample, SampleReader, Tally } from '../../../src/runner/telemetry/sample.ts';
import { VariableTable } from '../../../src/runner/telemetry/variables.ts';
import {
  atEnd,
  cleanUp,
  conditions,
  connect,
  expectSoon,
  readMetadata,
  readTable,
  send,
  start,
  telemetryConfig,
  temporaryDirectory,
} from './support.ts';
import { times } from '../../support/properties.ts';

const SERVICE = '/svc.telemetry.v1.Telemetry';
const raw = (bytes: Buffer): Buffer => bytes;

function* manyNames() {
  for (let i = 0; i < 200; i += 1) {
    yield {
      samples: Array.from({ length: 1000 }, (_, k) => ({ timestamp_ns: i, values: { [`name ${i * 1000 + k}`]: 1 } })),
    };
  }
  yield { samples: [{ timestamp_ns: 200, values: { altitude: -1 } }] };
}

function read(bytes: Uint8Array): Tally {
  const tally = new Tally();
  const table = new VariableTable([], [], () => undefined, DEFAULT_LIMITS);
  const reader = new SampleReader(table, DEFAULT_LIMITS, tally, new Sample(DEFAULT_LIMITS.maxValuesPerSample));
  reader.readSample(Buffer.from(bytes), () => undefined);
  reader.readBatch(Buffer.from(bytes), () => undefined);
  expect(tally.accepted > 0 || table.columns.length === 0).to.equal(true);
  return tally;
}

describe('runner/telemetry and hostile messages', () => {
  afterEach(cleanUp);

  it('names that are dangerous elsewhere are names here', async () => {
    const { telemetry, client } = await start();
    const names = ['__proto__', 'constructor', 'toString', 'a.b', '../../x', 'x\u0000y', '"; drop', 'длина', '🚀', ' '];
    const values = Object.fromEntries(names.map((name, i) => [name, i]));
    const ack = await send((done) => client.Stream(done), [{ timestamp_ns: 1, values }]);
    expect(ack).to.include({ accepted: 1, refused: 0, refused_values: 0 });
    const { location } = await telemetry.close();
    const columns = readMetadata(location ?? '')
      .schema.slice(2)
      .map((element) => element.name);
    expect(columns).to.have.members(names);
    expect(({} as Record<string, unknown>).polluted).to.equal(undefined);
  });

  const refusals: [what: string, sample: object, counts: object, saying: string][] = [
    ['an empty name', { values: { '': 1, x: 1 } }, { accepted: 1, refused_values: 1 }, 'without a name'],
    [
      'the name of the time column',
      { values: { timestamp_ns: 1, x: 1 } },
      { accepted: 1, refused_values: 1 },
      'reserved',
    ],
    ['a long name', { values: { ['n'.repeat(257)]: 1, x: 1 } }, { accepted: 1, refused_values: 1 }, '257 bytes'],
    [
      'too many values',
      { values: Object.fromEntries(Array.from({ length: 4097 }, (_, i) => [`v${i}`, i])) },
      { accepted: 0, refused: 1 },
      'more than 4096 values',
    ],
    [
      'too many variables',
      { values: Object.fromEntries(Array.from({ length: 1005 }, (_, i) => [`v${i}`, i])) },
      { accepted: 1, refused: 0, refused_values: 5 },
      'the limit is 1000',
    ],
  ];
  for (const [what, sample, counts, saying] of refusals) {
    it(`${what}: refused and counted, the stream continues`, async () => {
      const { telemetry, client } = await start();
      const ack = await send((done) => client.Stream(done), [sample]);
      expect(ack).to.include(counts);
      expect(ack.detail).to.include(saying);
      expect(await send((done) => client.Stream(done), [{ timestamp_ns: 9 }])).to.include({ accepted: 1, refused: 0 });
      const summary = await telemetry.close();
      expect(summary.detail).to.include(saying);
    });
  }

  it('refuses and counts malformed bytes, and takes the samples before and after', async () => {
    const { telemetry, client } = await start();
    const good = Buffer.from('0801120c0a017811000000000000f03f', 'hex');
    const bad = [
      'ff',
      '08',
      '0a',
      '0880808080808080808080',
      '12ff',
      '120b0a017811000000000000f0',
      '0b',
      '1201',
      '08ffffffffffffffffffffff01',
    ];
    const open = (done: unknown) => client.makeClientStreamRequest(`${SERVICE}/Stream`, raw, raw, done);
    await send(open, [good, ...bad.map((hex) => Buffer.from(hex, 'hex')), good]);
    const batches = (done: unknown) => client.makeClientStreamRequest(`${SERVICE}/StreamBatch`, raw, raw, done);
    await send(batches, [
      Buffer.from('0a02ff', 'hex'),
      Buffer.concat([Buffer.from([0x0a, 1, 0xff, 0x0a, good.length]), good]),
    ]);
    const { location, accepted, refused, problem } = await telemetry.close();
    expect({ accepted, refused, problem }).to.deep.equal({ accepted: 3, refused: bad.length + 2, problem: null });
    expect(await readTable(location)).to.have.length(3);
  });

  it('an oversized message ends its stream, not the telemetry', async () => {
    const { telemetry, client } = await start();
    const samples = Array.from({ length: 300_000 }, (_, i) => ({ timestamp_ns: i, values: { x: i } }));
    let code: unknown;
    await send((done) => client.StreamBatch(done), [{ samples }]).catch(
      (error: { code: unknown }) => (code = error.code),
    );
    expect(code).to.equal(status.RESOURCE_EXHAUSTED);
    expect(await send((done) => client.Stream(done), [{ values: { x: 1 } }])).to.include({ accepted: 1 });
    expect((await telemetry.close()).rows).to.equal(1);
  });

  it('200,000 distinct names cost no more than the limit, and do not blind the watchdog', async () => {
    const { telemetry, client, hits } = await start({ earlyTermination: conditions(['altitude', '< 0', 'down']) });
    const ack = await send((done) => client.StreamBatch(done), manyNames());
    expect(ack).to.include({ accepted: 200_001, refused: 0, refused_values: 199_000 });
    const { location } = await telemetry.close();
    expect(hits).to.have.length(1);
    expect(readMetadata(location ?? '').schema).to.have.length(1002);
  });

  it('streams beyond the limit are refused, and a place that becomes free can be taken', async () => {
    const { telemetry, client } = await start();
    const one = [{ timestamp_ns: 1, values: { x: 1 } }];
    const clients = [client, connect(telemetry.url), connect(telemetry.url)];
    atEnd(() => {
      for (const each of clients) each.close();
    });
    const calls = Array.from({ length: MAX_STREAMS }, (_, i) => clients[i % 2]?.Stream(() => undefined));
    for (const call of calls) {
      call?.on('error', () => undefined);
      call?.write(one[0]);
    }
    await expectSoon(() => telemetry.tally().accepted === MAX_STREAMS);
    const refused = await send((done) => clients[2]?.Stream(done) ?? client.Stream(done), one).catch(
      (error: { code: unknown }) => error.code,
    );
    expect(refused).to.equal(status.RESOURCE_EXHAUSTED);
    for (const call of calls.slice(0, 32)) call?.cancel();
    for (const call of calls.slice(32)) call?.end();
    let answer: unknown;
    await expectSoon(() => {
      void send((done) => clients[2]?.Stream(done) ?? client.Stream(done), one).then(
        (ack) => (answer = ack),
        () => undefined,
      );
      return answer !== undefined;
    });
    expect(answer).to.include({ accepted: 1 });
  });

  it('any bytes at all are read or refused, never thrown at the runner', () => {
    const likely = fc.constantFrom(0x08, 0x12, 0x0a, 0x11, 0x01, 0x02, 0x0c, 0x78, 0x80, 0xff, 0x00);
    fc.assert(
      fc.property(fc.array(fc.oneof(likely, fc.nat(255)), { maxLength: 60 }), (bytes) => {
        expect(read(Uint8Array.from(bytes)).accepted).to.be.at.least(0);
      }),
      { numRuns: times(2000) },
    );
  });

  it('continues the job in an unusable directory, and says so in the summary', async () => {
    const { telemetry, client, directory, hits } = await start({ earlyTermination: conditions(['x', '> 1', 'large']) });
    rmSync(directory, { recursive: true });
    symlinkSync('/dev/null', directory);
    await send((done) => client.Stream(done), [{ values: { x: 1 } }]);
    await telemetry.flush();
    await send((done) => client.Stream(done), [{ values: { x: 2 } }]);
    const { location, problem } = await telemetry.close();
    expect(location).to.equal(null);
    expect(problem).to.match(/could not be stored/);
    expect(hits).to.have.length(1);
  });

  it('a simulation that empties its output directory first keeps its telemetry', async () => {
    const { telemetry, client, directory } = await start();
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
    await send((done) => client.Stream(done), [{ values: { x: 1 } }]);
    expect((await telemetry.close()).rows).to.equal(1);
    expect(readdirSync(directory)).to.deep.equal(['telemetry.parquet']);
  });

  it('links in the place of our files are not followed', async () => {
    const { telemetry, client, directory } = await start();
    const elsewhere = join(temporaryDirectory(), 'victim');
    symlinkSync(elsewhere, join(directory, 'telemetry.journal.next'));
    await send((done) => client.Stream(done), [{ values: { x: 1 } }]);
    await telemetry.close();
    expect(readdirSync(join(elsewhere, '..'))).to.deep.equal([]);
  });

  it('keeps the stored samples at the limit of the file, and the watchdog continues', async () => {
    const { telemetry, client, hits } = await start({
      telemetry: telemetryConfig(),
      earlyTermination: conditions(['x', '== 4999', 'last']),
      limits: { rowGroupRows: 1000, maxFileBytes: 20_000 },
    });
    const samples = Array.from({ length: 5000 }, (_, i) => ({ timestamp_ns: i, values: { x: i } }));
    for (let i = 0; i < 5; i += 1) {
      await send((done) => client.StreamBatch(done), [{ samples: samples.slice(i * 1000, i * 1000 + 1000) }]);
      await telemetry.flush();
    }
    const { location, rows, problem } = await telemetry.close();
    expect(problem).to.include(`stored up to row ${rows}`).and.include('20000 bytes');
    expect(await readTable(location)).to.have.length(rows);
    expect(rows).to.be.within(1000, 4000);
    expect(hits).to.have.length(1);
  });
});

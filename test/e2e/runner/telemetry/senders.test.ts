/** Telemetry of simulations that are processes, and its files in the hands of another reader. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { systemClock } from '../../../../src/base/clock.ts';
import { COMPRESSIONS } from '../../../../src/contract/enums.ts';
import { isPeerOfRun } from '../../../../src/runner/processes/peer-process.ts';
import { newTelemetryToken } from '../../../../src/runner/telemetry/access.ts';
import {
  atEnd,
  cleanUp,
  expectSoon,
  readMetadata,
  readTable,
  send,
  start,
  telemetryConfig,
} from '../../../runner/telemetry/support.ts';
import { python } from './processes.ts';

const TOKEN = newTelemetryToken(systemClock);
const ONE = [{ timestamp_ns: 1, values: { x: 1 } }];
const EPOCH = 1_700_000_000_000_000_001n;
const storage = (compression: (typeof COMPRESSIONS)[number]) => ({ s3_bucket: '', s3_prefix: '', compression });

describe('runner/telemetry: senders and readers that are processes', () => {
  afterEach(cleanUp);

  for (const compression of COMPRESSIONS) {
    it(`with compression ${compression}, read by hyparquet and by pyarrow`, async function () {
      const { telemetry, client } = await start({
        telemetry: telemetryConfig({ storage: storage(compression) }),
        // Four row groups, of which the first has no value of the variable that comes late.
        limits: { rowGroupRows: 300 },
      });
      const samples = Array.from({ length: 1000 }, (_, i) => ({
        timestamp_ns: (EPOCH + BigInt(i) * 1_000_003n).toString(),
        values: { altitude: Math.sin(i) * 1e4, 'späte.Größe': i, ...(i >= 500 ? { late: i / 7 } : {}) },
      }));
      const ack = await send((done) => client.Stream(done), samples);
      expect(ack).to.deep.equal({ accepted: 1000, refused: 0, refused_values: 0, detail: '' });
      const { location, rows, problem } = await telemetry.close();
      expect({ rows, problem }).to.deep.equal({ rows: 1000, problem: null });
      const expected = samples.map(({ timestamp_ns, values }) => ({
        timestamp_ns: BigInt(timestamp_ns),
        altitude: values.altitude,
        'späte.Größe': values['späte.Größe'],
        late: 'late' in values ? values.late : null,
      }));
      expect(await readTable(location)).to.deep.equal(expected);
      const codec = { none: 'UNCOMPRESSED', gzip: 'GZIP', snappy: 'SNAPPY', lz4: 'LZ4_RAW' }[compression];
      const groups = readMetadata(location ?? '').row_groups;
      expect(groups).to.have.length(4);
      expect(groups[0]?.columns[1]?.meta_data?.codec).to.equal(codec);

      const script = `
import json, sys, pyarrow.parquet as pq
t = pq.read_table(sys.argv[1])
print(json.dumps([[str(f.type) for f in t.schema], t.column_names, [str(v) for v in t['timestamp_ns'].to_pylist()], *[t[n].to_pylist() for n in t.column_names[1:]]]))`;
      const found = python(script, location ?? '');
      if (found === undefined) this.skip();
      expect(found).to.deep.equal([
        ['int64', 'double', 'double', 'double'],
        ['timestamp_ns', 'altitude', 'späte.Größe', 'late'],
        expected.map((row) => String(row.timestamp_ns)),
        expected.map((row) => row.altitude),
        expected.map((row) => row['späte.Größe']),
        expected.map((row) => row.late),
      ]);
    });
  }

  it('a simulation that is killed leaves what it had sent', async () => {
    const { telemetry, directory } = await start({ limits: { closeGraceMs: 60_000 } });
    const script = fileURLToPath(new URL('./endless-client.js', import.meta.url));
    const child = spawn(process.execPath, [script, telemetry.url], { stdio: 'ignore' });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    atEnd(() => {
      child.kill('SIGKILL');
    });
    await expectSoon(() => telemetry.tally().accepted >= 500);
    child.kill('SIGKILL');
    await exited;
    const { location, rows, accepted, problem } = await telemetry.close();
    expect({ rows, problem }).to.deep.equal({ rows: accepted, problem: null });
    expect((await readTable(location)).map((row) => row.step)).to.deep.equal(Array.from({ length: rows }, (_, i) => i));
    expect(readdirSync(directory)).to.deep.equal(['telemetry.parquet']);
  });

  it('without a token: samples of the process of the run are taken, of others refused', async function () {
    if (!existsSync('/proc/net/tcp')) return this.skip();
    let leader: number | undefined;
    const { telemetry, client } = await start({
      token: TOKEN,
      isOwnPeer: (peer, own) => isPeerOfRun(leader ?? -1, '/nowhere', peer, own),
    });
    const script = fileURLToPath(new URL('./endless-client.js', import.meta.url));
    const child = spawn(process.execPath, [script, telemetry.url], { stdio: 'ignore', detached: true });
    leader = child.pid;
    atEnd(() => {
      child.kill('SIGKILL');
    });
    // This very process is not one of the run.
    let code: unknown;
    await send((done) => client.Stream(done), ONE).catch((error: { code: unknown }) => (code = error.code));
    expect(code).to.equal(status.PERMISSION_DENIED);
    await expectSoon(() => telemetry.tally().accepted >= 100);
  });

  it('recognizes a process that left the group by its parents and by its environment', async function () {
    if (!existsSync('/proc/net/tcp')) return this.skip();
    let check: (peer: number, own: number) => Promise<boolean | undefined> = async () => false;
    const { telemetry } = await start({ token: TOKEN, isOwnPeer: (peer, own) => check(peer, own) });
    const script = fileURLToPath(new URL('./endless-client.js', import.meta.url));
    const env = { PATH: process.env.PATH, SVC_OUTPUT_DIR: '/some/where' };
    const found: (boolean | undefined)[] = [];
    const seen = new Promise<void>((resolve) => {
      check = async (peer, own) => {
        found.push(await isPeerOfRun(process.pid, '/nowhere', peer, own));
        found.push(await isPeerOfRun(-1, '/some/where', peer, own));
        found.push(await isPeerOfRun(-1, '/some', peer, own));
        resolve();
        return true;
      };
    });
    const child = spawn(process.execPath, [script, telemetry.url], { stdio: 'ignore', detached: true, env });
    atEnd(() => {
      child.kill('SIGKILL');
    });
    await seen;
    expect(found).to.deep.equal([true, true, false]);
  });
});

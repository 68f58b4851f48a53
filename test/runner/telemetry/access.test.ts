import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Metadata, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { isPeerOfRun } from '../../../src/runner/processes/peer-process.ts';
import { newTelemetryToken } from '../../../src/runner/telemetry/access.ts';
import { atEnd, cleanUp, expectSoon, send, start } from './support.ts';

const TOKEN = newTelemetryToken(systemClock);
const ONE = [{ timestamp_ns: 1, values: { x: 1 } }];

function bearing(authorization?: string): Metadata {
  const metadata = new Metadata();
  if (authorization !== undefined) metadata.set('authorization', authorization);
  return metadata;
}

describe('runner/telemetry/access', () => {
  afterEach(cleanUp);

  const strict = () => start({ token: TOKEN, isOwnPeer: async () => false });

  it('draws a token of its own for each run', () => {
    const tokens = Array.from({ length: 200 }, () => newTelemetryToken(systemClock));
    expect(new Set(tokens).size).to.equal(200);
    for (const token of tokens) expect(token).to.match(/^[\w-]{32}$/);
  });

  it('takes a stream with the token of the run from any process', async () => {
    const { telemetry, client } = await strict();
    const ack = await send((done) => client.Stream(bearing(`Bearer ${TOKEN}`), done), ONE);
    expect(ack).to.include({ accepted: 1 });
    expect(await telemetry.close()).to.include({ accepted: 1, refused: 0 });
  });

  const wrong: [what: string, metadata: Metadata, code: status, detail: RegExp][] = [
    [
      'no token, from a foreign process',
      bearing(),
      status.PERMISSION_DENIED,
      /not of this run needs SVC_TELEMETRY_TOKEN/,
    ],
    [
      'another token',
      bearing(`Bearer ${newTelemetryToken(systemClock)}`),
      status.UNAUTHENTICATED,
      /not the SVC_TELEMETRY_TOKEN/,
    ],
    ['a part of the token', bearing(`Bearer ${TOKEN.slice(0, -1)}`), status.UNAUTHENTICATED, /not the SVC/],
    ['the token without its scheme', bearing(TOKEN), status.UNAUTHENTICATED, /not the SVC/],
  ];
  for (const [what, metadata, code, detail] of wrong) {
    it(`refuses and counts ${what}`, async () => {
      const { telemetry, client } = await strict();
      let error: { code?: unknown; details?: unknown } = {};
      await send((done) => client.Stream(metadata, done), ONE).catch((it: typeof error) => (error = it));
      expect(error.code).to.equal(code);
      expect(error.details).to.match(detail);
      const summary = await telemetry.close();
      expect(summary).to.include({ accepted: 0, refused: 1, rows: 0 });
      expect(summary.detail).to.match(detail);
    });
  }

  it('where senders cannot be checked, a stream without a token is taken', async () => {
    const { client } = await start({ token: TOKEN, isOwnPeer: async () => undefined });
    expect(await send((done) => client.Stream(done), ONE)).to.include({ accepted: 1 });
  });

  it('a check that fails refuses', async () => {
    const { client } = await start({ token: TOKEN, isOwnPeer: () => Promise.reject(new Error('no such file')) });
    let code: unknown;
    await send((done) => client.Stream(done), ONE).catch((error: { code: unknown }) => (code = error.code));
    expect(code).to.equal(status.PERMISSION_DENIED);
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

import { connect as openSocket, type Socket } from 'node:net';
import { once } from 'node:events';
import { Metadata, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { sleep, systemClock } from '../../src/base/clock.ts';
import { newTelemetryToken } from '../../src/runner/telemetry/access.ts';
import { ListenerPool } from '../../src/runner/telemetry-listeners.ts';
import { atEnd, cleanUp, send, start } from './telemetry/support.ts';

const ONE = [{ timestamp_ns: 1, values: { x: 1 } }];

const bearing = (token: string): Metadata => {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  return metadata;
};

describe('runner/telemetry-listeners', () => {
  let pool: ListenerPool;
  beforeEach(() => {
    pool = new ListenerPool(systemClock, true);
  });
  afterEach(async () => {
    await cleanUp();
    pool.close();
  });

  const run = (token = newTelemetryToken(systemClock)) =>
    start({ listeners: pool, token, isOwnPeer: async () => false }).then((it) => ({ ...it, token }));

  /** Resolves when the pool has the listener back. */
  const isBack = async (): Promise<void> => {
    for (let look = 0; pool.free === 0 && look < 200; look += 1) await sleep(systemClock, 5);
    expect(pool.free).to.equal(1);
  };

  it('gives the port of an ended run to the next run, and two runs at once get two ports', async () => {
    const first = await run();
    const second = await run();
    expect(second.telemetry.url).not.to.equal(first.telemetry.url);
    await first.telemetry.close(true);
    await isBack();
    expect((await run()).telemetry.url).to.equal(first.telemetry.url);
  });

  it('closes a port that a process of its run may still know', async () => {
    const first = await run();
    await first.telemetry.close(false);
    await sleep(systemClock, 20);
    expect(pool.free).to.equal(0);
    const [host = '', port = ''] = first.telemetry.url.split(':');
    const socket = openSocket(Number(port), host);
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).to.equal('ECONNREFUSED');
  });

  it('counts nothing that an open stream of the last run sends late', async () => {
    const first = await run();
    const call = first.client.Stream(bearing(first.token), () => undefined);
    call.on('error', () => undefined);
    call.write(ONE[0]);
    for (let look = 0; first.telemetry.tally().accepted === 0 && look < 200; look += 1) await sleep(systemClock, 5);
    const ended = first.telemetry.close(true);
    call.write(ONE[0]);
    expect(await ended).to.include({ refused: 0 });
    await isBack();
    const second = await run();
    expect(second.telemetry.url).to.equal(first.telemetry.url);
    call.write(ONE[0]);
    const ack = await send((done) => second.client.Stream(bearing(second.token), done), ONE);
    expect(ack).to.include({ accepted: 1, refused: 0 });
    await sleep(systemClock, 20);
    expect(await second.telemetry.close(true)).to.include({ accepted: 1, refused: 0, rows: 1 });
  });

  it('refuses the token of the last run', async () => {
    const first = await run();
    await first.telemetry.close(true);
    await isBack();
    const second = await run();
    let code: unknown;
    await send((done) => second.client.Stream(bearing(first.token), done), ONE).catch((error: { code: unknown }) => {
      code = error.code;
    });
    expect(code).to.equal(status.UNAUTHENTICATED);
    expect(await second.telemetry.close(true)).to.include({ accepted: 0, rows: 0 });
  });

  it('closes connections that arrive between two runs', async () => {
    const first = await run();
    await first.telemetry.close(true);
    await isBack();
    const [host = '', port = ''] = first.telemetry.url.split(':');
    const socket: Socket = openSocket(Number(port), host);
    atEnd(() => {
      socket.destroy();
    });
    socket.on('error', () => undefined);
    await once(socket, 'close');
  });

  it('keeps no listener after it was closed', async () => {
    const first = await run();
    pool.close();
    await first.telemetry.close(true);
    await sleep(systemClock, 20);
    expect(pool.free).to.equal(0);
  });
});

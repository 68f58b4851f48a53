/** The connections of a worker to its runner, by real sockets. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { Rendezvous, type Connections } from '../../../../src/runner/launch/shared/rendezvous.ts';

const TOKEN = 'a-token';
const MESSAGES = 200;

describe('runner/launch/shared/rendezvous', () => {
  let place: Rendezvous;
  beforeEach(() => (place = new Rendezvous()));
  afterEach(() => place.close());

  /** Both sides of the connections of a worker. */
  async function connected(): Promise<{ worker: Socket[]; runner: Connections }> {
    const { address, connections } = place.expect(TOKEN);
    const worker: Socket[] = [];
    for (const kind of ['orders', 'messages', 'stdout', 'stderr']) {
      const socket = connect(address.socket).pause();
      await once(socket, 'connect');
      socket.write(`${TOKEN} ${kind}\n`);
      worker.push(socket);
    }
    return { worker, runner: await connections };
  }

  it('passes on every message of a worker that ends with orders unread', async () => {
    const { worker, runner } = await connected();
    const [orders, messages] = worker as [Socket, Socket];
    runner.orders.write('an order that nothing reads\n');
    while (runner.orders.bytesWritten === 0) await turn();
    for (let count = 0; count < MESSAGES; count += 1) messages.write(`${String(count)}\n`);
    // The runner reads the messages of short runs together.
    while (runner.messages.readableLength === 0) await turn();
    for (const it of worker) it.destroy();
    // It ends with an error: `once` would throw it.
    await new Promise((resolve) => runner.orders.resume().once('close', resolve));
    const closed = new Promise((resolve) => runner.messages.once('close', resolve));
    let text = '';
    runner.messages.on('data', (data: Buffer) => (text += data.toString())).resume();
    await closed;
    expect(orders.destroyed).to.equal(true);
    expect(text.trim().split('\n')).to.deep.equal(Array.from({ length: MESSAGES }, (_, count) => String(count)));
  });

  it('refuses a connection with another secret or of another kind', async () => {
    const { address } = place.expect(TOKEN);
    for (const header of ['another orders\n', `${TOKEN} control\n`, `${TOKEN} orders`]) {
      const socket = connect(address.socket);
      socket.on('error', () => {});
      socket.write(header);
      socket.resume();
      await once(socket, 'close');
    }
  });
});

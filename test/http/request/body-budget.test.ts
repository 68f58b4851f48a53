/** Long bodies at once: the bytes of all of them are bounded, in turns and fairly, over real connections too. */
import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { BodyBudget } from '../../../src/http/request/body-budget.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { listen, post, type TestServer } from '../../support/http.ts';

const WAIT_MS = 1000;

class Answer extends EventEmitter {
  destroyed = false;
  close(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

describe('http/request: the budget of long bodies', () => {
  let clock: SimulatedClock;
  let budget: BodyBudget;
  let log: string[];
  beforeEach(() => {
    clock = new SimulatedClock({ seed: 1 });
    budget = new BodyBudget({ bytes: 100, waitMs: WAIT_MS, clock });
    log = [];
  });

  /** Asks for a body; `log` shows when it may be read, or that it is refused. */
  function body(client: string, bytes: number, answer = new Answer()): Answer {
    budget.take({ client, bytes, response: answer as never }).then(
      () => log.push(`${client} ${bytes}`),
      (error: { code: string }) => log.push(`${client} ${bytes} ${error.code}`),
    );
    return answer;
  }
  async function seen(): Promise<string> {
    await clock.advance(0);
    return log.splice(0).join(', ');
  }

  it('lets bodies wait while the others have its bytes, in their order, until an answer has ended', async () => {
    const first = body('a', 50);
    const second = body('b', 50);
    body('c', 30);
    body('d', 20);
    expect(await seen()).to.equal('a 50, b 50');
    first.close();
    expect(await seen()).to.equal('c 30, d 20');
    second.close();
    body('e', 50);
    expect(await seen()).to.equal('e 50');
  });

  it('gives one client half of it at most, and lets others pass', async () => {
    const first = body('a', 40);
    body('a', 11);
    body('b', 50);
    expect(await seen()).to.equal('a 40, b 50');
    first.close();
    expect(await seen()).to.equal('a 11');
  });

  it('lets nothing pass a body that waits for room, so that it is read in the end', async () => {
    const first = body('a', 50);
    body('b', 80);
    body('c', 10);
    expect(await seen()).to.equal('a 50');
    first.close();
    expect(await seen()).to.equal('b 80, c 10');
  });

  it('lets a body that is longer than all of it be read alone', async () => {
    const first = body('a', 10);
    const long = body('b', 500);
    expect(await seen()).to.equal('a 10');
    first.close();
    body('c', 1);
    expect(await seen()).to.equal('b 500');
    long.close();
    expect(await seen()).to.equal('c 1');
  });

  it('refuses a body that has waited for too long, and forgets one whose client has gone', async () => {
    body('a', 50);
    body('b', 50);
    body('c', 60);
    const gone = body('d', 1);
    gone.close();
    expect(await seen()).to.equal('a 50, b 50, d 1 unavailable');
    await clock.advance(WAIT_MS - 1);
    expect(await seen()).to.equal('');
    await clock.advance(1);
    expect(await seen()).to.equal('c 60 unavailable');
  });

  it('has its bytes again when a client goes, or went before', async () => {
    const first = body('a', 100);
    first.close();
    body('b', 100, first);
    body('c', 100);
    expect(await seen()).to.equal('a 100, b 100 unavailable, c 100');
  });

  it('takes bytes back once', async () => {
    const response = new Answer();
    const release = await budget.take({ client: 'a', bytes: 60, response: response as never });
    release();
    release();
    response.close();
    body('b', 50);
    body('c', 60);
    expect(await seen()).to.equal('b 50');
  });
});

describe('http/request: long bodies at once', () => {
  const BYTES = 600_000;
  const TEXT = '{"instance":"i","reports":[]}'.padEnd(BYTES);
  let server: TestServer;
  let slow: Socket;
  beforeEach(async () => {
    server = await listen({ limits: { bodiesBytes: 1_000_000, bodyWaitMs: 500 } });
  });
  afterEach(async () => {
    slow.destroy();
    await server.close(0);
  });
  const send = (text = TEXT) => post(`${server.url}/runners/r1/reports`, text);

  /** Sends the half of a body, or declares none. */
  async function sendHalf(length = `Content-Length: ${BYTES}`, half = TEXT.slice(0, BYTES / 2)): Promise<void> {
    slow = connect(server.port, '127.0.0.1');
    slow.write(
      `POST /runners/r2/reports HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${length}\r\n\r\n${half}`,
    );
    // Requests of another connection that are answered later were sent later.
    await post(`${server.url}/runners/r1/reports`, '{"instance":"i","reports":[]}');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }

  it('wait for the body that is being received, and are answered after it', async () => {
    await sendHalf();
    const order: string[] = [];
    slow.once('data', () => order.push('slow'));
    const waiting = send().then((response) => order.push(`waited ${response.status}`));
    expect((await send('{"instance":"i","reports":[]}')).status).to.equal(200);
    slow.write(TEXT.slice(BYTES / 2));
    await waiting;
    expect(order).to.deep.equal(['slow', 'waited 200']);
  });

  it('are refused with 503 and Retry-After when that takes long', async () => {
    await sendHalf();
    const refused = await send();
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect(((await refused.json()) as { detail: string }).detail).to.match(
      /^the body was not read: bodies of 1000000 bytes are handled at once, .* 0.5 s for others; repeat the request$/,
    );
  });

  it('count as long as they may become where their length is not declared', async () => {
    await sendHalf('Transfer-Encoding: chunked', '1\r\n{\r\n');
    expect((await send()).status).to.equal(503);
  });

  it('give their bytes back when their connection ends', async () => {
    await sendHalf();
    const waiting = send();
    slow.destroy();
    expect((await waiting).status).to.equal(200);
  });
});

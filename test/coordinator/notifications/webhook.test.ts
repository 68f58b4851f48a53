/** Webhooks against real receivers: the signature, and receivers that are slow, hostile or away. */
import { expect } from 'chai';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSocket, type AddressInfo } from 'node:net';
import { Webhook } from '../../../src/coordinator/notifications/webhook.ts';
import { amidCollections } from '../../support/silent-server.ts';

const NOW = 1_767_225_600_000;
const SECRET = Buffer.from('0123456789abcdef0123456789abcdef');
const NEVER = new AbortController().signal;
const MESSAGE = { eventId: 'b.ended', body: '{"type":"study.ended","name":"böe"}' };

type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

describe('coordinator/notifications/webhook', () => {
  let server: Server;
  let answer: Answer;
  let requests: {
    headers: IncomingMessage['headers'];
    method: string | undefined;
    url: string | undefined;
    body: Buffer;
  }[];

  beforeEach(async () => {
    requests = [];
    answer = (_request, response) => void response.end();
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        const { headers, method, url } = request;
        requests.push({ headers, method, url, body });
        answer(request, response, body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const port = (): number => (server.address() as AddressInfo).port;
  const webhook = (path = '/hook?token=hidden', options: { secret?: Uint8Array; timeoutMs?: number } = {}): Webhook =>
    new Webhook({
      url: new URL(`http://127.0.0.1:${String(port())}${path}`),
      secret: options.secret,
      clock: { now: () => NOW },
      timeoutMs: options.timeoutMs ?? 2_000,
    });

  it('sends one POST with id, timestamp and a signature that a receiver can verify', async () => {
    expect(await webhook('/hook?token=hidden', { secret: SECRET }).send(MESSAGE, NEVER)).to.deep.equal({
      accepted: true,
    });
    expect(requests).to.have.length(1);
    const { method, url, headers, body } = requests[0]!;
    expect([method, url]).to.deep.equal(['POST', '/hook?token=hidden']);
    expect(body.toString()).to.equal(MESSAGE.body);
    expect(headers).to.include({
      'content-type': 'application/json',
      'webhook-id': 'b.ended',
      'webhook-timestamp': String(NOW / 1000),
    });
    const signed = Buffer.concat([Buffer.from(`b.ended.${String(NOW / 1000)}.`), body]);
    const expected = `v1,${createHmac('sha256', SECRET).update(signed).digest('base64')}`;
    expect(headers['webhook-signature']).to.equal(expected);
  });

  it('agrees with the example of the Standard Webhooks libraries', async () => {
    const secret = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
    const url = new URL(`http://127.0.0.1:${String(port())}/`);
    const sender = new Webhook({ url, secret, clock: { now: () => 1_614_265_330_000 } });
    await sender.send({ eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }, NEVER);
    expect(requests[0]?.headers['webhook-signature']).to.equal('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('sends no signature without a secret', async () => {
    await webhook().send(MESSAGE, NEVER);
    expect(requests[0]?.headers).not.to.have.property('webhook-signature');
  });

  it('names its receiver by the host alone, and distinguishes addresses by their digest', () => {
    expect(webhook().label).to.equal(`http://127.0.0.1:${String(port())}`);
    expect(webhook('/a').id).not.to.equal(webhook('/b').id);
    expect(webhook('/a').id).to.match(/^[0-9a-f]{16}$/);
  });

  for (const status of [301, 302, 307, 308]) {
    it(`does not follow a redirect with status ${status}`, async () => {
      answer = (_request, response) =>
        void response.writeHead(status, { location: `http://127.0.0.1:${String(port())}/elsewhere` }).end();
      expect(await webhook().send(MESSAGE, NEVER)).to.deep.equal({
        accepted: false,
        reason: `it answered ${status}, a redirect, which is not followed`,
      });
      expect(requests).to.have.length(1);
    });
  }

  for (const status of [400, 404, 410, 429, 500, 503]) {
    it(`counts the status ${status} as a failure`, async () => {
      answer = (_request, response) => void response.writeHead(status).end('no');
      expect(await webhook().send(MESSAGE, NEVER)).to.deep.equal({ accepted: false, reason: `it answered ${status}` });
    });
  }

  it('does not wait for a receiver that never answers, also when garbage is collected meanwhile', async () => {
    answer = () => {};
    const sent = (): Promise<unknown> => webhook('/', { timeoutMs: 100 }).send(MESSAGE, NEVER);
    expect(await amidCollections(sent)).to.deep.equal({
      accepted: false,
      reason: 'it did not answer within 0.1 s',
    });
  });

  it('reads at most a part of an answer without end, and counts its status', async () => {
    let written = 0;
    answer = (_request, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(16_384, 'x');
      const write = (): void => {
        while (!response.destroyed) {
          written += chunk.length;
          if (!response.write(chunk)) {
            response.once('drain', write);
            return;
          }
        }
      };
      response.on('error', () => {});
      write();
    };
    expect(await webhook('/', { timeoutMs: 10_000 }).send(MESSAGE, NEVER)).to.deep.equal({ accepted: true });
    expect(written).to.be.below(64 * 2 ** 20);
  });

  it('waits for the end of an answer, so that its connection serves the next request', async () => {
    let end = (): void => {};
    answer = (_request, response) => {
      response.writeHead(200).write('first');
      end = () => void response.end('last');
    };
    const receiver = webhook('/', { timeoutMs: 60_000 });
    let isSettled = false;
    const sent = receiver.send(MESSAGE, NEVER).finally(() => (isSettled = true));
    while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(isSettled).to.equal(false);
    end();
    expect(await sent).to.deep.equal({ accepted: true });
  });

  it('ends an answer that comes a byte at a time when its time is over', async () => {
    let timer: NodeJS.Timeout | undefined;
    answer = (_request, response) => {
      response.writeHead(500);
      timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    };
    expect((await webhook('/', { timeoutMs: 200 }).send(MESSAGE, NEVER)).accepted).to.equal(false);
    clearInterval(timer);
  });

  it('gives a reason for a connection that is refused, reset or not HTTP, without the address', async () => {
    const garbage = createSocket((socket) => {
      socket.on('error', () => {});
      socket.end('SSH-2.0-OpenSSH\r\n');
    });
    const resets = createSocket((socket) => {
      socket.on('error', () => {});
      socket.resetAndDestroy();
    });
    const urls: string[] = ['http://127.0.0.1:1/hidden'];
    for (const it of [garbage, resets]) {
      await new Promise<void>((resolve) => it.listen(0, '127.0.0.1', resolve));
      urls.push(`http://127.0.0.1:${String((it.address() as AddressInfo).port)}/hidden`);
    }
    for (const url of urls) {
      const sender = new Webhook({ url: new URL(url), secret: SECRET, clock: { now: () => NOW }, timeoutMs: 2_000 });
      const outcome = await sender.send(MESSAGE, NEVER);
      expect(outcome.accepted, url).to.equal(false);
      const { reason } = outcome as { reason: string };
      expect(reason).to.match(/^it cannot be reached: \S+$/);
      expect(reason).not.to.contain('hidden');
    }
    garbage.close();
    resets.close();
  });

  it('ends a request when the coordinator stops', async () => {
    const stop = new AbortController();
    answer = () => stop.abort();
    const outcome = await webhook('/', { timeoutMs: 60_000 }).send(MESSAGE, stop.signal);
    expect(outcome.accepted).to.equal(false);
  });
});

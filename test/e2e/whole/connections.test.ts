import { expect } from 'chai';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { ClaimResponse } from '../../../src/contract/types.ts';
import { capabilities } from '../../support/fake-api.ts';
import { study } from '../../support/studies.ts';
import { Site, sleep } from '../support.ts';

const POLLS = 1_000;

describe('e2e: a coordinator with many connections', () => {
  const site = new Site();
  const agent = new Agent({ maxSockets: Infinity });
  const sockets: Socket[] = [];
  before(() => site.start());
  after(async () => {
    agent.destroy();
    for (const socket of sockets) socket.destroy();
    await site.clean();
  });

  /** Sends one POST on its own connection. */
  function post<T>(path: string, body: object): Promise<T> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const sent = request(`${site.url}${path}`, { method: 'POST', agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('end', () => {
          if (response.statusCode === 200) resolve(JSON.parse(text) as T);
          else reject(new Error(text));
        });
      });
      sent.on('error', reject);
      sent.end(JSON.stringify(body));
    });
  }

  it('serves other requests while a thousand runners wait, and assigns each its run when there is work', async () => {
    const ids = Array.from({ length: POLLS }, (_, at) => `w${at}`);
    for (let at = 0; at < POLLS; at += 100) {
      await Promise.all(ids.slice(at, at + 100).map((id) => post('/runners', { id, capabilities, instance: id })));
    }
    let answered = 0;
    const waiting = ids.map(async (id) => {
      const claim = await post<ClaimResponse>(`/runners/${id}/claims`, { instance: id, max_jobs: 1, wait_seconds: 25 });
      answered += 1;
      return claim;
    });
    await sleep(500);
    const client = site.client();
    expect((await client.health()).status).to.equal('ok');
    expect((await client.runners()).active_runners).to.equal(POLLS);
    expect(answered).to.equal(0);
    await client.submit(study({ runs: POLLS }));
    const claims = await Promise.all(waiting);
    const jobs = new Set(claims.flatMap((it) => it.assignments.map(({ job }) => job.id)));
    expect(jobs.size).to.equal(POLLS);
  });

  it('is not delayed by slow senders and slow readers', async () => {
    const client = site.client();
    const { batch_id: batchId } = await client.submit(study({ runs: 200_000 }));
    const slow = async (text: string): Promise<void> => {
      const socket = connect(Number(new URL(site.url).port), '127.0.0.1');
      socket.on('error', () => {});
      sockets.push(socket);
      await once(socket, 'connect');
      socket.write(text);
    };
    for (let count = 0; count < 100; count += 1) {
      await slow('POST /jobs HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
      await slow(
        'POST /jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{',
      );
    }
    // Requests much data and reads none of it.
    for (let count = 0; count < 10; count += 1) {
      await slow(`GET /jobs?batch_id=${batchId} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      sockets.at(-1)?.pause();
    }
    const trickle = setInterval(() => sockets.forEach((it) => it.writable && it.write('x')), 100);
    try {
      for (let count = 0; count < 20; count += 1) expect((await client.submit(study())).total_jobs).to.equal(10);
      let listed = 0;
      for await (const job of client.jobs({ batch_id: [batchId] }, { pageSize: 10_000 }))
        if (job.status !== 'Failed') listed += 1;
      expect(listed).to.equal(200_000);
    } finally {
      clearInterval(trickle);
    }
  });
});

import { expect } from 'chai';
import { get } from 'node:http';
import { SimbatchError } from '../../src/domain/errors.ts';
import type { ClaimResponse } from '../../src/contract/types.ts';
import { JOB_ID, fakeCoordinator, job } from '../support/fake-api.ts';
import { listen, post } from '../support/http.ts';

/** A coordinator without work: claims wait until they are aborted; `waiting` resolves when one waits. */
function idleCoordinator() {
  let announce = nothing;
  const waiting = new Promise<void>((resolve) => (announce = resolve));
  const abandoned: boolean[] = [];
  const coordinator = fakeCoordinator({
    claim: (_id, _request, signal) =>
      new Promise<ClaimResponse>((resolve) => {
        signal!.addEventListener('abort', () => {
          abandoned.push(true);
          resolve({ assignments: [], batches: {} });
        });
        announce();
      }),
  });
  return { coordinator, waiting, abandoned };
}

const until = async (condition: () => boolean) => {
  for (let tries = 0; tries < 200 && !condition(); tries++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(condition()).to.equal(true);
};

const nothing = () => {};

describe('http/server: a long poll', () => {
  const claim = { instance: 'i', max_jobs: 1, wait_seconds: 30 };

  it('is aborted when the client disconnects', async () => {
    const { coordinator, waiting, abandoned } = idleCoordinator();
    const server = await listen({ coordinator });
    const client = new AbortController();
    const answer = fetch(`${server.url}/runners/r1/claims`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(claim),
      signal: client.signal,
    }).catch((error: unknown) => error);
    await waiting;
    client.abort();
    expect(await answer).to.be.instanceOf(Error);
    await until(() => abandoned.length === 1);
    await server.close(0);
  });

  it('gets an empty answer when the server stops', async () => {
    const { coordinator, waiting } = idleCoordinator();
    const server = await listen({ coordinator });
    const answer = post(`${server.url}/runners/r1/claims`, claim);
    await waiting;
    const stopped = server.close(10_000);
    const response = await answer;
    expect(response.status).to.equal(200);
    expect(response.headers.get('connection')).to.equal('close');
    expect(await response.json()).to.deep.equal({ assignments: [], batches: {} });
    await stopped;
  });

  it('is logged when it is answered', async () => {
    const { coordinator, waiting } = idleCoordinator();
    const server = await listen({ coordinator });
    const requests = () => server.received.filter((it) => it.message === 'request').map((it) => it.facts['status']);
    const answer = post(`${server.url}/runners/r1/claims`, claim);
    await waiting;
    await (await fetch(`${server.url}/healthz`)).text();
    expect(requests()).to.deep.equal([200]);
    const stopped = server.close(10_000);
    await answer;
    await until(() => requests().length === 2);
    await stopped;
  });

  it('gets a problem when the coordinator fails or refuses while it waits', async () => {
    const refusal = new SimbatchError('signed-off', 'runner "r1" has signed off');
    const errors = [new Error('broken'), refusal];
    const coordinator = fakeCoordinator({
      claim: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        throw errors.shift()!;
      },
    });
    const server = await listen({ coordinator });
    for (const [status, code] of [
      [500, 'internal'],
      [409, 'signed-off'],
    ]) {
      const response = await post(`${server.url}/runners/r1/claims`, claim);
      expect(response.status).to.equal(status);
      expect(await response.json()).to.include({ status, code });
    }
    expect(server.received.filter((it) => it.level === 'error').map((it) => it.message)).to.deep.equal(['fault']);
    await server.close(0);
  });

  it('has no abort signal without a waiting time', async () => {
    const coordinator = fakeCoordinator();
    const server = await listen({ coordinator });
    await post(`${server.url}/runners/r1/claims`, { instance: 'i', max_jobs: 1 });
    expect(coordinator.calls[0]!.args[2]).to.equal(undefined);
    await server.close(0);
  });

  it('waits at most thirty seconds', async () => {
    const server = await listen();
    const of = async (seconds: number) =>
      (await post(`${server.url}/runners/r1/claims`, { ...claim, wait_seconds: seconds })).status;
    expect([await of(30), await of(30.5), await of(-1)]).to.deep.equal([200, 422, 422]);
    await server.close(0);
  });
});

describe('http/server: closing', () => {
  it('lets a running request end and accepts no new one', async () => {
    let finish = nothing;
    let asked = nothing;
    const begun = new Promise<void>((resolve) => (asked = resolve));
    const coordinator = fakeCoordinator({
      job: () =>
        new Promise((resolve) => {
          finish = () => resolve(job(0));
          asked();
        }),
    });
    const server = await listen({ coordinator });
    const answer = fetch(`${server.url}/jobs/${JOB_ID}`);
    await begun;
    const stopped = server.close(10_000);
    expect(await fetch(`${server.url}/healthz`).catch((error: unknown) => error)).to.be.instanceOf(Error);
    finish();
    expect((await answer).status).to.equal(200);
    await stopped;
  });

  it('cuts requests that exceed the grace time', async () => {
    const server = await listen({ coordinator: fakeCoordinator({ job: () => new Promise(() => {}) }) });
    const answer = new Promise<string>((resolve) => {
      get(`${server.url}/jobs/${JOB_ID}`, () => resolve('answered')).on('error', () => resolve('cut'));
    });
    await until(() => server.server.listening);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await server.close(50);
    expect(await answer).to.equal('cut');
  });

  it('has the same effect when called twice', async () => {
    const server = await listen();
    await server.close(0);
    await server.close(0);
  });
});

describe('http/server: listening', () => {
  it('fails with one clear sentence for a port in use', async () => {
    const server = await listen();
    const failure = await listen({ port: server.port }).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'invalid-configuration' });
    expect((failure as Error).message).to.match(
      /^Cannot listen: another program listens on 127\.0\.0\.1:\d+; choose another --port/,
    );
    await server.close(0);
  });
});

describe('base/entity-tag', () => {
  it('save the transfer of an unchanged body', async () => {
    let retries = 0;
    const server = await listen({ coordinator: fakeCoordinator({ job: async () => ({ ...job(0), retries }) }) });
    const url = `${server.url}/jobs/${JOB_ID}`;
    const first = await fetch(url);
    const tag = first.headers.get('etag')!;
    expect(tag).to.match(/^"[\w-]+"$/);
    const ask = async (ifNoneMatch: string) => {
      const response = await fetch(url, { headers: { 'if-none-match': ifNoneMatch } });
      return [response.status, (await response.text()).length > 0];
    };
    expect(await ask(tag)).to.deep.equal([304, false]);
    expect(await ask(`"other", W/${tag}`)).to.deep.equal([304, false]);
    expect(await ask('*')).to.deep.equal([304, false]);
    expect(await ask('"other"')).to.deep.equal([200, true]);
    retries = 1;
    expect(await ask(tag)).to.deep.equal([200, true]);
    await server.close(0);
  });
});

describe('http/app: the request id', () => {
  it('is the given one if it is well formed, and a generated one otherwise', async () => {
    const server = await listen();
    const idFor = async (given: string) =>
      (await fetch(`${server.url}/healthz`, { headers: { 'x-request-id': given } })).headers.get('x-request-id');
    expect(await idFor('abc-1')).to.equal('abc-1');
    expect(await idFor('a b')).to.match(/^[0-9a-f]{8}-1$/);
    expect(await idFor('x'.repeat(65))).to.match(/^[0-9a-f]{8}-2$/);
    await server.close(0);
  });
});

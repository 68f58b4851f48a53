/** The typed client against scripted answers: paging, exact seeds, and the two error classes. */
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { ApiError, Client, UnreachableError } from '../../src/client/client.ts';
import type { BatchSubmission } from '../../src/client/client.ts';
import { FakeCoordinator, type Script } from '../support/fake-coordinator.ts';
import { amidCollections, SilentServer } from '../support/silent-server.ts';
import { newestBatches } from '../../src/client/newest-batches.ts';

const refuse = (response: ServerResponse, status: number, code: string): void => {
  response.writeHead(status).end(JSON.stringify({ type: 'x', title: code, status, detail: code, code }));
};

const caught = async (exchange: Promise<unknown>): Promise<any> => {
  try {
    await exchange;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
};

describe('client/client', () => {
  let coordinator: FakeCoordinator;
  let client: Client;
  before(async () => {
    coordinator = await FakeCoordinator.start();
    client = new Client({ endpoint: `${coordinator.url}/`, token: 't0k', timeoutMs: 1000 });
  });
  after(() => coordinator.stop());

  it('reads a list page by page and requests each page once', async () => {
    const urls: string[] = [];
    coordinator.script = (request, response) => {
      urls.push(request.url ?? '');
      const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('cursor') ?? 0);
      if (at < 2) response.setHeader('link', `</jobs?limit=2&cursor=${String(at + 1)}>; rel="next"`);
      response.end(JSON.stringify([{ id: at * 2 }, { id: at * 2 + 1 }]));
    };
    const ids: unknown[] = [];
    for await (const job of client.jobs({ batch_id: ['b'], status: ['Running', 'Failed'] }, { pageSize: 2 }))
      ids.push(job.id);
    expect(ids).to.deep.equal([0, 1, 2, 3, 4, 5]);
    const query = 'batch_id=b&status=Running&status=Failed&limit=2';
    expect(urls).to.deep.equal([`/jobs?${query}`, `/jobs?${query}&cursor=1`, `/jobs?${query}&cursor=2`]);
  });

  it('fetches no further page after the consumer stops', async () => {
    let count = 0;
    coordinator.script = (_, response) => {
      count += 1;
      response.setHeader('link', '</batches?cursor=x>; rel="next"').end('[{}]');
    };
    for await (const _ of client.batches()) break;
    expect(count).to.equal(1);
  });

  it('reads the newest batches in one request', async () => {
    const urls: unknown[] = [];
    coordinator.script = (request, response) => {
      urls.push(request.url);
      response.setHeader('link', '</batches?cursor=x>; rel="next"').end('[{"id":"b"},{"id":"a"}]');
    };
    const newest = await newestBatches(client, 2, { status: ['Failed'] });
    expect(newest.map(({ id }) => id)).to.deep.equal(['b', 'a']);
    expect(urls).to.deep.equal(['/batches?status=Failed&order=newest&limit=2']);
  });

  it('reads the whole list for the newest batches where the coordinator does not know the order', async () => {
    coordinator.script = (request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://x');
      if (searchParams.has('order')) return refuse(response, 400, 'malformed-query');
      if (!searchParams.has('cursor')) response.setHeader('link', '</batches?cursor=x>; rel="next"');
      response.end(searchParams.has('cursor') ? '[{"id":"c"}]' : '[{"id":"a"},{"id":"b"}]');
    };
    expect((await newestBatches(client, 2)).map(({ id }) => id)).to.deep.equal(['c', 'b']);
    coordinator.script = (_, response) => refuse(response, 403, 'forbidden');
    expect(await caught(newestBatches(client, 1))).to.have.property('code', 'forbidden');
  });

  it('returns the total and the batch with a page of results', async () => {
    coordinator.script = (_, response) => {
      response.setHeader('x-total-count', '7').end(JSON.stringify({ batch: { id: 'b' }, results: [{ job_id: 'j' }] }));
    };
    expect(await client.batchResultsPage('b')).to.deep.equal({
      batch: { id: 'b' },
      items: [{ job_id: 'j' }],
      next: undefined,
      total: 7,
    });
  });

  it('sends and receives a seed above 2^53 exactly', async () => {
    let sent = '';
    coordinator.script = (_, response, body) => {
      sent = body;
      response.end(body);
    };
    const study = { name: 's', config: { monte_carlo: { seed: 9223372036854775807n } } } as unknown as BatchSubmission;
    expect(await client.submit(study)).to.deep.equal(study);
    expect(sent).to.include('"seed":9223372036854775807}');
  });

  it('sends the credential, the idempotency key and unchanged ids', async () => {
    const seen: unknown[] = [];
    coordinator.script = (request, response) => {
      seen.push(request.url, request.headers.authorization, request.headers['idempotency-key']);
      response.end('{}');
    };
    await client.drain('a/b?c', 'new disk & cable');
    await client.submit({} as BatchSubmission, { idempotencyKey: 'k' });
    expect(seen).to.deep.equal([
      '/runners/a%2Fb%3Fc/drain?reason=new+disk+%26+cable',
      'Bearer t0k',
      undefined,
      '/jobs',
      'Bearer t0k',
      'k',
    ]);
  });

  for (const id of ['.', '..', '']) {
    it(`refuses the id ${JSON.stringify(id)}, which would address something else`, async () => {
      expect(await caught(client.runner(id))).to.have.property('code', 'not-found');
    });
  }

  it('turns problem details into an ApiError with code, faults and Retry-After', async () => {
    const problem = {
      type: 'about:blank',
      title: 'Invalid',
      status: 422,
      detail: 'two faults',
      code: 'invalid-request',
      errors: [{ pointer: '/name', detail: 'is missing' }],
    };
    coordinator.script = (_, response) => {
      response.writeHead(422, { 'retry-after': '3' }).end(JSON.stringify(problem));
    };
    const error = await caught(client.health());
    expect(error).to.be.instanceOf(ApiError);
    expect(error).to.deep.include({
      status: 422,
      code: 'invalid-request',
      faults: problem.errors,
      problem,
      retryAfterSecs: 3,
    });
    expect(error.message).to.equal('two faults');
    expect(error.transient).to.equal(false);
  });

  const odd: [what: string, answer: Script, transient: boolean][] = [
    ['a 200 that is not JSON', (_, response) => response.end('<html>'), false],
    ['a 502 of a proxy', (_, response) => response.writeHead(502).end('<html>'), true],
    ['problem details without a code', (_, response) => response.writeHead(400).end('{"detail":"x"}'), false],
  ];
  for (const [what, answer, transient] of odd) {
    it(`${what} is an unexpected answer`, async () => {
      coordinator.script = answer;
      const error = await caught(client.health());
      expect(error).to.include({ name: 'ApiError', code: 'unexpected-answer', transient });
      expect(error.message).to.include(client.endpoint);
    });
  }

  it('rejects redirects, which would send the credential to another host', async () => {
    coordinator.script = (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    expect(await caught(client.health())).to.be.instanceOf(UnreachableError);
  });

  it('times out when an answer falls silent, also when garbage is collected meanwhile', async () => {
    const silent = await SilentServer.start('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{');
    try {
      const hasty = new Client({ endpoint: silent.url, timeoutMs: 150 });
      const { message } = await amidCollections(() => caught(hasty.health()));
      expect(message).to.match(/no answer within 0\.15 s/);
      await silent.isLeft();
    } finally {
      await silent.stop();
    }
  });

  it('times out after its limit, and a claim after its waiting time plus the limit', async () => {
    const hasty = new Client({ endpoint: client.endpoint, timeoutMs: 50 });
    coordinator.script = (_, response) => {
      setTimeout(() => response.end('{"assignments":[],"batches":{}}'), 300);
    };
    expect((await caught(hasty.health())).message).to.match(/no answer within 0\.05 s/);
    expect(await hasty.claim('r', { instance: 'i', max_jobs: 1, wait_seconds: 2 })).to.have.property('assignments');
  });

  it("throws the caller's reason when the caller stops", async () => {
    coordinator.script = () => {};
    const stop = new AbortController();
    const claim = client.claim('r', { instance: 'i', max_jobs: 1, wait_seconds: 30 }, { signal: stop.signal });
    stop.abort(new Error('enough'));
    expect((await caught(claim)).message).to.equal('enough');
  });

  it('names endpoint and cause in one line when no server listens', async () => {
    const free = await FakeCoordinator.start();
    const endpoint = free.url;
    await free.stop();
    const error = await caught(new Client({ endpoint }).health());
    expect(error).to.be.instanceOf(UnreachableError);
    expect(error.message).to.equal(`cannot reach the coordinator at ${endpoint}: connection refused (is it running?)`);
  });

  const endpoints: [endpoint: string, message: RegExp][] = [
    ['coordinator', /is not an address/],
    ['ftp://x', /must begin with http/],
    ['http://u:secret@x', /SIMBATCH_TOKEN/],
    ['http://x/?a=1', /must not have a query/],
  ];
  for (const [endpoint, message] of endpoints) {
    it(`refuses the endpoint ${endpoint}`, () => {
      expect(() => new Client({ endpoint }))
        .to.throw(message)
        .with.property('message')
        .that.not.includes('secret');
    });
  }
});

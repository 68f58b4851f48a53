import { expect } from 'chai';
import * as fc from 'fast-check';
import { connect } from 'node:net';
import { BATCH_ID, JOB_ID, fakeCoordinator, submission } from '../../support/fake-api.ts';
import { listen, post, rawRequest, type TestServer } from '../../support/http.ts';
import { times } from '../../support/properties.ts';

const complete = (metadata: string, files = '[]') =>
  `{"runner_id":"r1","attempt":1,"result":{"execution_time_secs":1,"output_files":${files},"metadata":${metadata}}}`;
const nested = (depth: number) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
const study = JSON.stringify(submission);
/** Deep, and shorter than bodies whose depth is measured. */
const deepWith = (name: string) => `{"${name}":1234567890123456789,"b":${'['.repeat(3e4)}${']'.repeat(3e4)}}`;

describe('http/request: hostile bodies', () => {
  let server: TestServer;
  before(async () => {
    server = await listen();
  });
  after(() => server.close(0));

  const table: [string, string, string, number][] = [
    ['an unknown member __proto__', '/jobs', study.replace('{', '{"__proto__":{"name":"x"},'), 422],
    ['an unknown member constructor', '/jobs', study.replace('{', '{"constructor":1,'), 422],
    ['an unknown member __proto__ in an optional body', `/jobs/${JOB_ID}/cancel`, '{"__proto__":{"reason":"x"}}', 422],
    ['a dispersion named __proto__', '/jobs', study.replace('"mass"', '"__proto__"'), 200],
    ['a dispersion named hasOwnProperty', '/jobs', study.replace('"mass"', '"hasOwnProperty"'), 200],
    ['arrays a million deep', '/jobs', '['.repeat(1e6) + ']'.repeat(1e6), 422],
    ['objects a million deep', '/jobs', nested(1e6), 422],
    ['a deep body with a long number and a seed', '/jobs', `{"seed":1234567890123456789,"b":${nested(1e6)}}`, 422],
    ['a deep body, short enough not to be measured, with a long seed', '/jobs', deepWith('seed'), 422],
    ['the same, with a seed whose name has an escape', '/jobs', deepWith(String.raw`\u0073eed`), 400],
    ['an unclosed body a million deep', '/jobs', '['.repeat(3e4), 400],
    ['metadata 32 deep', `/jobs/${JOB_ID}/complete`, complete(nested(32)), 200],
    ['metadata 33 deep', `/jobs/${JOB_ID}/complete`, complete(nested(33)), 422],
    ['metadata a million deep', `/jobs/${JOB_ID}/complete`, complete(nested(1e6)), 422],
    ['metadata with a number that is not finite', `/jobs/${JOB_ID}/complete`, complete('{"a":[1e999]}'), 422],
    ['metadata of a million values', `/jobs/${JOB_ID}/complete`, complete(`{"a":[${'1,'.repeat(1e6)}1]}`), 422],
    ['metadata that is an array', `/jobs/${JOB_ID}/complete`, complete('[]'), 422],
    ['metadata with __proto__', `/jobs/${JOB_ID}/complete`, complete('{"__proto__":{"x":1}}'), 200],
    ['a million wrong output files', `/jobs/${JOB_ID}/complete`, complete('{}', `[${'1,'.repeat(1e6)}1]`), 422],
    ['a million unknown members', '/jobs', `{${Array.from({ length: 1e6 }, (_, i) => `"m${i}":1`).join(',')}}`, 422],
    ['a seed of a million digits', '/jobs', study.replace('"seed":7', `"seed":${'9'.repeat(1e6)}`), 422],
    ['a string with a lone surrogate', '/jobs', study.replace('"study"', '"\\ud800"'), 200],
    ['bytes that are not text', '/jobs', '\u0000\u0001', 400],
  ];
  for (const [what, path, body, status] of table) {
    it(`${what} -> ${status}`, async () => {
      const response = await post(server.url + path, body);
      const text = await response.text();
      expect(response.status, text.slice(0, 500)).to.equal(status);
      expect(text.length).to.be.below(100_000);
    });
  }

  it('are rejected with pointers by every route with a body, for any JSON value', async () => {
    const paths = ['/jobs', '/runners', '/runners/r1/claims', '/runners/r1/reports', `/jobs/${JOB_ID}/fail`];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.json({ maxDepth: 5 }), async (path, text) => {
        const response = await post(server.url + path, text);
        const problem = (await response.json()) as { errors?: { pointer: string }[] };
        expect(response.status).to.equal(422);
        for (const { pointer } of problem.errors!) expect(pointer).to.match(/^(\/([^~]|~[01])*)*$/s);
      }),
      { numRuns: times(100) },
    );
  });

  it('get the pointer of a non-finite number in free-form metadata', async () => {
    const problem: any = await (
      await post(`${server.url}/jobs/${JOB_ID}/complete`, complete('{"a/b":[0,1e999]}'))
    ).json();
    expect(problem.errors).to.deep.equal([{ pointer: '/result/metadata/a~1b/1', detail: 'must be a finite number' }]);
  });

  it('get a clear fault for an error message that is too long', async () => {
    const body = { runner_id: 'r1', attempt: 1, reason: 'exit', error_message: 'x'.repeat(65_537) };
    const problem: any = await (await post(`${server.url}/jobs/${JOB_ID}/fail`, body)).json();
    expect(problem.errors).to.deep.equal([
      { pointer: '/error_message', detail: 'is 65537 characters long; the limit is 65536' },
    ]);
  });

  it('are answered with 400 when they are not HTTP, and the server continues', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(server.port, '127.0.0.1', () => socket.write('HELLO\r\n\r\n'));
      let text = '';
      socket.on('data', (piece) => (text += piece.toString()));
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    expect(answer).to.match(/^HTTP\/1.1 400 /);
    expect((await fetch(`${server.url}/healthz`)).status).to.equal(200);
  });

  it('are refused with a problem document when address and headers are too large', async () => {
    const answer = await fetch(`${server.url}/batches?name=${'x'.repeat(17_000)}`);
    expect(answer.status).to.equal(431);
    expect(answer.headers.get('content-type')).to.match(/^application\/problem\+json/);
    expect(((await answer.json()) as { code: string }).code).to.equal('headers-too-large');
  });

  it('are cut when they do not arrive in time', async () => {
    const slow = await listen({ limits: { headersTimeoutMs: 100, requestTimeoutMs: 200 } });
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(slow.port, '127.0.0.1', () =>
        socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-'),
      );
      let text = '';
      socket.on('data', (piece) => (text += piece.toString()));
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    expect(answer)
      .to.match(/^HTTP\/1.1 408 /)
      .and.to.contain('"code":"request-timeout"');
    await slow.close(0);
  });
});

describe('http/security/origin', () => {
  let server: TestServer;
  let own: string;
  const coordinator = fakeCoordinator();
  before(async () => {
    server = await listen({ coordinator, allowedHosts: ['lab.example'] });
    own = `127.0.0.1:${server.port}`;
  });
  after(() => server.close(0));

  const table: [string, Record<string, string>, number][] = [
    ['GET', { host: 'evil.example' }, 403],
    ['GET', { host: 'evil.example:80' }, 403],
    ['GET', { host: 'localhost.evil.example' }, 403],
    ['GET', { host: '192.168.1.4' }, 403],
    ['GET', { host: '127.0.0.1@evil.example' }, 403],
    ['GET', { host: 'localhost:1' }, 200],
    ['GET', { host: '[::1]:7070' }, 200],
    ['GET', { host: '127.0.0.53' }, 200],
    ['GET', { host: 'LAB.example:7070' }, 200],
    ['GET', { host: 'localhost', origin: 'http://evil.example' }, 200],
    ['POST', { host: 'localhost', origin: 'http://evil.example' }, 403],
    ['POST', { host: 'localhost', origin: 'null' }, 403],
    ['POST', { host: 'localhost:7070', origin: 'http://localhost:8080' }, 403],
    ['POST', { host: 'localhost', 'sec-fetch-site': 'cross-site' }, 403],
    ['POST', { host: 'localhost:7070', origin: 'http://localhost:7070', 'sec-fetch-site': 'same-origin' }, 200],
    ['POST', { host: 'localhost' }, 200],
  ];
  for (const [method, headers, status] of table) {
    it(`${method} with ${JSON.stringify(headers)} -> ${status}`, async () => {
      coordinator.calls.length = 0;
      const path = method === 'GET' ? '/runners' : `/batches/${BATCH_ID}/cancel`;
      const answer = await rawRequest(`http://${own}${path}`, method, headers);
      expect(answer.status).to.equal(status);
      expect(coordinator.calls).to.have.length(status === 200 ? 1 : 0);
      if (status === 403) expect(JSON.parse(answer.body).code).to.equal('foreign-origin');
    });
  }
});

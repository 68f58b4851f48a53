import { expect } from 'chai';
import { SimbatchError } from '../../../src/domain/errors.ts';
import { BATCH_ID, JOB_ID, fakeCoordinator, submission } from '../../support/fake-api.ts';
import { listen, post, rawRequest, type TestServer } from '../../support/http.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('http/response/problem', () => {
  let server: TestServer;
  const coordinator = fakeCoordinator({
    jobHistory: async () => {
      throw new Error('secret of the inside');
    },
    jobResult: async () => {
      throw new SimbatchError('result-not-ready', 'The job is Running.');
    },
    complete: async () => {
      throw new SimbatchError('stale-attempt', 'The current attempt is 2.');
    },
    cancelBatch: async () => {
      throw new SimbatchError('unavailable', 'The coordinator is stopping.');
    },
  });
  before(async () => {
    server = await listen({ coordinator, limits: { submissionBytes: 20_000, reportsBytes: 30_000 } });
  });
  after(() => server.close(0));

  const big = JSON.stringify({ ...submission, name: 'x'.repeat(30_000) });
  const complete = JSON.stringify({
    runner_id: 'r1',
    attempt: 1,
    result: { execution_time_secs: 1, output_files: [], metadata: {} },
  });
  const withTelemetry = (telemetry: object): string =>
    JSON.stringify({
      runner_id: 'r1',
      attempt: 1,
      result: { execution_time_secs: 1, output_files: [], metadata: {}, telemetry },
    });
  const counts = { seen: [], samples: 0, lost: 0, refused: 0 };
  const manyNames = withTelemetry({ ...counts, seen: Array.from({ length: 1033 }, (_, i) => `v${i}`) });
  const longName = withTelemetry({ ...counts, seen: ['v'.repeat(257)] });
  const hugeCount = withTelemetry({ ...counts, lost: 2 ** 60 });
  // method, path, headers, body -> status, code, detail
  const table: [string, string, Record<string, string>, string, number, string, RegExp][] = [
    ['POST', `/jobs/${JOB_ID}/complete`, JSON_TYPE, manyNames, 422, 'invalid-request', /1032/],
    ['POST', `/jobs/${JOB_ID}/complete`, JSON_TYPE, longName, 422, 'invalid-request', /256/],
    ['POST', `/jobs/${JOB_ID}/complete`, JSON_TYPE, hugeCount, 422, 'invalid-request', /lost/],
    ['GET', '/nothing', {}, '', 404, 'not-found', /nothing at \/nothing/],
    ['GET', '/jobs/', {}, '', 404, 'not-found', /\/jobs\//],
    ['GET', '/JOBS', {}, '', 404, 'not-found', /JOBS/],
    ['GET', '/jobs/abc', {}, '', 404, 'unknown-job', /"abc" is not the id of a job/],
    ['GET', `/jobs/${BATCH_ID}`, {}, '', 404, 'unknown-job', /is not the id of a job/],
    ['GET', `/batches/${JOB_ID}`, {}, '', 404, 'unknown-batch', /is not the id of a batch/],
    ['GET', '/batches/__proto__', {}, '', 404, 'unknown-batch', /__proto__/],
    ['GET', '/runners/r2', {}, '', 404, 'unknown-runner', /no runner r2/],
    ['GET', '/runners/a%2Fb', {}, '', 404, 'unknown-runner', /"a\/b" is not the id of a runner/],
    ['GET', '/runners/%zz', {}, '', 404, 'unknown-runner', /is not the id of a runner/],
    ['GET', '/runners/%00', {}, '', 404, 'unknown-runner', /is not the id of a runner/],
    ['GET', `/jobs/${JOB_ID}/results`, {}, '', 404, 'result-not-ready', /Running/],
    ['PUT', '/jobs', JSON_TYPE, '{}', 405, 'method-not-allowed', /takes POST, GET, HEAD and not PUT/],
    ['PUT', `/batches/${BATCH_ID}`, {}, '', 405, 'method-not-allowed', /takes GET, HEAD, DELETE and not PUT/],
    ['GET', `/jobs/${JOB_ID}/start`, {}, '', 405, 'method-not-allowed', /takes POST and not GET/],
    ['OPTIONS', '/healthz', {}, '', 405, 'method-not-allowed', /takes GET, HEAD/],
    ['POST', '/jobs', { 'content-type': 'text/plain' }, '{}', 415, 'unsupported-media-type', /"text\/plain"/],
    [
      'POST',
      '/jobs',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'a=1',
      415,
      'unsupported-media-type',
      /form/,
    ],
    [
      'POST',
      '/jobs',
      { 'content-type': 'application/json; charset=latin1' },
      '{}',
      415,
      'unsupported-media-type',
      /latin1/,
    ],
    ['POST', '/jobs', {}, '{}', 415, 'unsupported-media-type', /missing/],
    [
      'POST',
      '/jobs',
      { ...JSON_TYPE, 'content-encoding': 'zap' },
      '{}',
      415,
      'unsupported-media-type',
      /Content-Encoding/,
    ],
    ['POST', '/jobs', { ...JSON_TYPE, 'content-encoding': 'gzip' }, '{}', 400, 'malformed-body', /compressed/],
    ['POST', '/jobs', JSON_TYPE, '', 400, 'malformed-body', /no body/],
    ['POST', '/jobs', JSON_TYPE, ' ', 400, 'malformed-body', /empty body/],
    ['POST', '/jobs', JSON_TYPE, '{"name":\n  "x",}', 400, 'malformed-body', /line 2, column 7/],
    ['POST', '/jobs', JSON_TYPE, '[1, 2', 400, 'malformed-body', /line 1, column 6/],
    ['POST', '/jobs', JSON_TYPE, 'null', 422, 'invalid-request', /is null; it must be an object/],
    ['POST', '/jobs', JSON_TYPE, big, 413, 'body-too-large', /20000 bytes/],
    ['POST', '/jobs', { ...JSON_TYPE, 'transfer-encoding': 'chunked' }, big, 413, 'body-too-large', /20000 bytes/],
    [
      'POST',
      '/jobs',
      { ...JSON_TYPE, 'idempotency-key': 'a b' },
      JSON.stringify(submission),
      422,
      'invalid-request',
      /Idempotency-Key/,
    ],
    ['POST', `/jobs/${JOB_ID}/complete`, JSON_TYPE, complete, 409, 'stale-attempt', /current attempt is 2/],
    ['POST', `/batches/${BATCH_ID}/cancel`, {}, '', 503, 'unavailable', /stopping/],
    [
      'GET',
      '/jobs?statsu=Pending',
      {},
      '',
      400,
      'malformed-query',
      /"statsu".*did you mean `status`.*batch_id, status/,
    ],
    [
      'GET',
      '/jobs?status=pending',
      {},
      '',
      400,
      'malformed-query',
      /did you mean `Pending`.*allowed are Pending, Claimed/,
    ],
    ['GET', '/jobs?status=', {}, '', 400, 'malformed-query', /allowed are/],
    ['GET', '/jobs?status=Pending,', {}, '', 400, 'malformed-query', /allowed are/],
    ['GET', '/jobs?batch_id=x', {}, '', 400, 'malformed-query', /is "x"; it must be a UUID/],
    ['GET', '/jobs?run_id=-1', {}, '', 400, 'malformed-query', /integer from 0/],
    ['GET', '/jobs?run_id=1e3', {}, '', 400, 'malformed-query', /integer from 0/],
    ['GET', '/jobs?limit=0', {}, '', 400, 'malformed-query', /integer from 1 to 10000/],
    ['GET', '/jobs?limit=10001', {}, '', 400, 'malformed-query', /integer from 1 to 10000/],
    ['GET', '/jobs?limit=1&limit=2', {}, '', 400, 'malformed-query', /takes one value/],
    ['GET', '/batches?name=%zz', {}, '', 400, 'malformed-query', /percent-encoded/],
    ['GET', '/jobs?__proto__=1', {}, '', 400, 'malformed-query', /not known here/],
    ['GET', '/healthz?x=1', {}, '', 400, 'malformed-query', /none is allowed/],
    ['GET', `/jobs/${JOB_ID}/history`, {}, '', 500, 'internal', /fault of the coordinator/],
  ];
  for (const [method, path, headers, body, status, code, detail] of table) {
    it(`${method} ${path} ${JSON.stringify(body.slice(0, 20))} -> ${status} ${code}`, async () => {
      const answer = await rawRequest(server.url + path, method, headers, body);
      const problem = JSON.parse(answer.body);
      expect(answer.status).to.equal(status);
      expect(answer.headers['content-type']).to.match(/^application\/problem\+json/);
      expect(problem).to.include({ status, code, type: `urn:simbatch:problem:${code}` });
      expect(problem.title).to.be.a('string');
      expect(problem.instance).to.equal(path.split('?')[0]);
      expect(problem.detail).to.match(detail);
      expect(answer.body).not.to.match(/secret|\.ts|\.js:|node_modules/);
      if (status === 405) expect(answer.headers['allow']).to.match(/GET|POST/);
      if (status === 503) expect(answer.headers['retry-after']).to.equal('1');
    });
  }

  it('logs an internal fault with its request', async () => {
    await rawRequest(`${server.url}/jobs/${JOB_ID}/history`, 'GET', { 'x-request-id': 'mine-1' });
    const fault = server.received.findLast(({ level }) => level === 'error')!;
    expect(fault.facts).to.include({ requestId: 'mine-1', method: 'GET' });
    expect((fault.facts['err'] as Error).message).to.equal('secret of the inside');
  });

  it('adds the status to the problems of refused reports', async () => {
    const other = await listen({
      coordinator: fakeCoordinator({
        reports: async () => [{ job_id: JOB_ID, refusal: new SimbatchError('stale-attempt', 'old') }],
      }),
    });
    const response = await post(`${other.url}/runners/r1/reports`, { instance: 'i', reports: [] });
    const { outcomes } = (await response.json()) as any;
    expect(outcomes[0].problem).to.include({ status: 409, code: 'stale-attempt', detail: 'old' });
    await other.close(0);
  });
});

import { expect } from 'chai';
import { routes } from '../../../src/http/routes/index.ts';
import { schemaFaults } from '../../../src/contract/validation/validate.ts';
import { BODIES } from '../../support/bodies.ts';
import { BATCH_ID, JOB_ID, fakeCoordinator } from '../../support/fake-api.ts';
import { exampleQuery } from '../../support/example-query.ts';
import { listen, post, type TestServer } from '../../support/http.ts';

const addressOf = (path: string) =>
  path
    .replace('{job_id}', JOB_ID)
    .replace('{batch_id}', BATCH_ID)
    .replace('{runner_id}', 'r1')
    .replace('{round}', '0')
    .replace('{key}', 'a');

describe('http/routes: every route', () => {
  let server: TestServer;
  const coordinator = fakeCoordinator();
  before(async () => {
    server = await listen({ coordinator });
  });
  after(() => server.close(0));

  for (const route of routes) {
    it(`${route.method} ${route.path} answers 200 in its documented shape`, async () => {
      const url = server.url + addressOf(route.path) + exampleQuery(route);
      const { method } = route;
      const response = await post(url, BODIES[route.operationId], {}, method);
      const text = await response.text();
      expect(response.status, text).to.equal(200);
      expect(response.headers.get('content-type')).to.contain((route.media?.[0] ?? 'application/json').split(';')[0]);
      expect(response.headers.get('x-request-id')).to.match(/\S/);
      if (route.response !== undefined) expect(schemaFaults(route.response, JSON.parse(text))).to.deep.equal([]);
    });
  }

  it('passes the request to the coordinator unchanged', async () => {
    coordinator.calls.length = 0;
    await post(`${server.url}/runners/r1/drain?reason=new%20disk&until=2026-11-22T06:00:00Z`);
    await post(`${server.url}/batches/${BATCH_ID}/cancel`, { reason: 'wrong mass' });
    await post(`${server.url}/jobs/${JOB_ID}/cancel`);
    await fetch(`${server.url}/jobs?status=Pending,Running&status=Failed&run_id=3&batch_id=${BATCH_ID}&runner_id=a,b`);
    await fetch(`${server.url}/batches?name=a%2Cb,c&status=Running`);
    await fetch(`${server.url}/runners?tag=gpu&status=Idle`);
    expect(coordinator.calls).to.deep.equal([
      { operation: 'drain', args: ['r1', 'new disk', '2026-11-22T06:00:00Z'] },
      { operation: 'cancelBatch', args: [BATCH_ID, 'wrong mass'] },
      { operation: 'cancelJob', args: [JOB_ID, undefined] },
      {
        operation: 'jobs',
        args: [
          { batch_id: [BATCH_ID], status: ['Pending', 'Running', 'Failed'], runner_id: ['a', 'b'], run_id: [3] },
          {},
        ],
      },
      { operation: 'batches', args: [{ status: ['Running'], name: ['a,b', 'c'] }, {}] },
      { operation: 'runners', args: [{ status: ['Idle'], tag: ['gpu'] }] },
    ]);
  });
});

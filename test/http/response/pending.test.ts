/** Questions whose answers take longer than their wait: 202 until the answer is there, of every route that has such answers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { PendingAnswer } from '../../../src/contract/answers/header.ts';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import { openStore } from '../../../src/coordinator/kernel/storage/open-store.ts';
import { routes } from '../../../src/http/routes/index.ts';
import { exampleQuery } from '../../support/example-query.ts';
import { listen, type TestServer } from '../../support/http.ts';
import { strictFaults } from '../../support/strict-schema.ts';
import { study } from '../../support/studies.ts';

describe('http: answers that are computed', () => {
  let folder: string;
  let coordinator: Coordinator;
  let server: TestServer;
  let batchId: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-http-pending-'));
    coordinator = await openCoordinator(await openStore(folder), systemClock);
    server = await listen({ coordinator });
    batchId = (await coordinator.submit(study({ runs: 5 }))).batch_id;
  });
  after(async () => {
    coordinator.releaseWaiting();
    await server.close(1_000);
    await coordinator.close();
    await rm(folder, { recursive: true });
  });

  const computed = routes.filter((it) => it.answer === 'computed');

  for (const route of computed) {
    it(`are 202 until they are there, and then 200 without a wait: ${route.operationId}`, async () => {
      const address = new URL(route.path.replace('{batch_id}', batchId) + exampleQuery(route, batchId), server.url);
      address.searchParams.set('wait', '0');
      const first = await fetch(address);
      expect([first.status, first.headers.get('content-type'), first.headers.get('cache-control')]).to.deep.equal([
        202,
        'application/json; charset=utf-8',
        'no-store',
      ]);
      const pending = (await first.json()) as PendingAnswer;
      expect(strictFaults(PendingAnswer, pending)).to.deep.equal([]);
      expect(first.headers.get('retry-after')).to.equal(String(pending.retry_after_secs));
      let answer = await fetch(address);
      while (answer.status === 202) {
        await answer.arrayBuffer();
        await new Promise((resolve) => setTimeout(resolve, 10));
        answer = await fetch(address);
      }
      expect(answer.status).to.equal(200);
      expect(strictFaults(route.response!, await answer.json())).to.deep.equal([]);
      expect((await fetch(address)).status).to.equal(200);
    });
  }
});

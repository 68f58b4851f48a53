/** Questions about the largest study that there is: memory follows the runs that have ended, not those that were asked for. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { INT32_MAX } from '../../../src/contract/limits.ts';
import type { AnswerHeader } from '../../../src/analysis/table/header.ts';
import { openCoordinator, type Coordinator } from '../../../src/coordinator/coordinator.ts';
import { openStore } from '../../../src/coordinator/kernel/storage/open-store.ts';
import { routes } from '../../../src/http/routes/index.ts';
import { exampleQuery } from '../../support/example-query.ts';
import { listen, type TestServer } from '../../support/http.ts';
import { study } from '../../support/studies.ts';

const MIB = 2 ** 20;
/** Most bytes that an answer may add to the resident memory of the process. */
const MOST_BYTES = 200 * MIB;
const REQUIREMENT = {
  name: 'close',
  output: 'apogee_m',
  condition: '> 0',
  probability: 0.9,
  look: 'continuous',
} as const;

describe('http: a study of 2147483647 runs', () => {
  let folder: string;
  let coordinator: Coordinator;
  let server: TestServer;
  let small: string;
  let huge: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simbatch-http-huge-'));
    coordinator = await openCoordinator(await openStore(folder), systemClock);
    server = await listen({ coordinator });
    const submitted = async (runs: number): Promise<string> =>
      (await coordinator.submit({ ...study({ runs }), requirements: [REQUIREMENT] })).batch_id;
    small = await submitted(3);
    huge = await submitted(INT32_MAX);
  });
  after(async () => {
    coordinator.releaseWaiting();
    await server.close(1_000);
    await coordinator.close();
    await rm(folder, { recursive: true });
  });

  /** The status and text of an answer, and the most that the resident memory grows until it has come. */
  async function asked(address: string): Promise<{ status: number; text: string; grown: number }> {
    const before = process.memoryUsage.rss();
    let most = before;
    const look = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
    const answer = await fetch(server.url + address);
    const text = await answer.text();
    clearInterval(look);
    return { status: answer.status, text, grown: Math.max(most, process.memoryUsage.rss()) - before };
  }

  const addressOf = (route: (typeof routes)[number], batchId: string): string =>
    route.path.replace('{batch_id}', batchId) + exampleQuery(route, batchId);

  for (const route of routes.filter((it) => it.answer === 'computed')) {
    it(`is answered within 200 MiB: ${route.operationId}`, async () => {
      // The code of the question is loaded.
      expect((await asked(addressOf(route, small))).status).to.equal(200);
      const { status, text, grown } = await asked(addressOf(route, huge));
      expect(status, text).to.equal(200);
      const { of = INT32_MAX } = JSON.parse(text) as Partial<AnswerHeader>;
      expect(of).to.equal(INT32_MAX);
      expect(grown).to.be.below(MOST_BYTES);
    });
  }

  it('has a first page of its table, of its runs and of its samples; its whole table has no order', async () => {
    for (const path of ['table?limit=5', 'results?limit=5', 'samples?to=5', 'history', 'findings', '']) {
      const { status, grown } = await asked(`/batches/${huge}/${path}`.replace(/\/$/, ''));
      expect([path, status]).to.deep.equal([path, 200]);
      expect(grown, path).to.be.below(MOST_BYTES);
    }
    const { status, text } = await asked(`/batches/${huge}/table?sort=-run_id&limit=5`);
    expect(status).to.equal(409);
    expect(text).to.contain('answer-too-large').and.to.contain('read the whole table without `sort`');
  });

  it('is answered when it was cancelled, every run among the cancelled ones', async () => {
    await coordinator.cancelBatch(huge);
    for (const question of ['summary', 'verdicts', 'transitions', 'distributions', 'convergence', 'answer']) {
      const { status, text, grown } = await asked(`/batches/${huge}/${question}`);
      expect(status, text).to.equal(200);
      expect(grown, question).to.be.below(MOST_BYTES);
      if (question === 'summary')
        expect((JSON.parse(text) as AnswerHeader).excluded).to.deep.equal({ cancelled: INT32_MAX });
    }
  });
});

import { expect } from 'chai';
import { systemClock } from '../../../src/base/clock.ts';
import { EventLoopShare } from '../../../src/base/event-loop-share.ts';
import { RunSelection } from '../../../src/domain/runs/run-selection.ts';
import { createSampler } from '../../../src/domain/sampling/sampler.ts';
import { designText } from '../../../src/domain/sampling/design-table.ts';
import type { CoordinatorApi } from '../../../src/coordinator/api.ts';
import { BATCH_ID, fakeCoordinator, submission } from '../../support/fake-api.ts';
import { listen, type TestServer } from '../../support/http.ts';

const RUNS = 1_000_000;
const monteCarlo = { ...submission.config.monte_carlo, runs: RUNS, seed: 7 };
const share = new EventLoopShare(systemClock);
const sampler = createSampler(submission.config.dispersions, monteCarlo);

interface Row {
  run_id: number;
  parameters: Record<string, number>;
}

describe('http: the samples of a batch', () => {
  let server: TestServer;
  const samples: CoordinatorApi['samples'] = async (_id, format, { from = 0, to = RUNS } = {}) =>
    share.paced(designText(sampler, format, RunSelection.between(from, Math.min(to, RUNS))));
  before(async () => {
    server = await listen({ coordinator: fakeCoordinator({ samples }) });
  });
  after(() => server.close(0));
  const ask = (query: string, accept = '*/*') =>
    fetch(`${server.url}/batches/${BATCH_ID}/samples${query}`, { headers: { accept } });

  const chosen: [query: string, accept: string, type: string][] = [
    ['?to=2', '*/*', 'application/json'],
    ['?to=2', 'text/csv', 'text/csv'],
    ['?to=2', 'application/x-ndjson', 'application/x-ndjson'],
    ['?to=2', 'text/csv;q=0.2, application/x-ndjson', 'application/x-ndjson'],
    ['?to=2', 'image/png', 'application/json'],
    ['?to=2&format=csv', 'application/json', 'text/csv'],
  ];
  for (const [query, accept, type] of chosen) {
    it(`${query} with Accept ${accept}: ${type}`, async () => {
      const response = await ask(query, accept);
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.match(new RegExp(`^${type}`));
      if (!query.includes('format')) expect(response.headers.get('vary')).to.contain('Accept');
      await response.text();
    });
  }

  it('equal the samples of the sampler for every part', async () => {
    const rows = (await (await ask('?from=999998')).json()) as Row[];
    expect(rows.map((it) => it.run_id)).to.deep.equal([999_998, 999_999]);
    expect(rows[1]!.parameters).to.deep.equal({ ...sampler.parameters(999_999) });
    expect(await (await ask('?from=5&to=5')).json()).to.deep.equal([]);
    expect(await (await ask('?from=9&to=5')).json()).to.deep.equal([]);
  });

  it('are refused in an unknown format', async () => {
    const response = await ask('?format=xml');
    expect(response.status).to.equal(400);
    expect(await response.json()).to.include({ code: 'malformed-query' });
  });

  it('are computed only as far as they are read', async () => {
    const heldBefore = process.memoryUsage().rss;
    const response = await ask('?format=csv');
    const reader = response.body!.getReader();
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(process.memoryUsage().rss - heldBefore).to.be.lessThan(60e6);
    await reader.cancel();
  });
});

/** How often the launcher asks an engine, counted under a simulated clock. */
import { expect } from 'chai';
import { EngineUnreachable } from '../../../src/launcher/engine.ts';
import { isQuiet, Site } from './support.ts';

const MINUTE = 60_000;
const POLL_MS = 5_000;

/** The calls of `list` during so many ms. */
async function calls(site: Site, ms: number): Promise<number> {
  site.cluster.requests = [];
  for (let passed = 0; passed < ms; passed += POLL_MS) await site.round();
  return site.cluster.requests.filter((it) => it === 'list').length;
}

describe('launcher/loop: questions to engines', () => {
  it('are two with nothing to do, and then none, until runs wait', async () => {
    const site = new Site({ runs: 0 });
    expect(await calls(site, MINUTE)).to.equal(2);
    for (let minute = 0; minute < 10; minute += 1) expect(await calls(site, MINUTE)).to.equal(0);
    site.cluster.pending = 8;
    await site.until(isQuiet(site));
    expect(site.cluster.completed).to.equal(8);
    await calls(site, MINUTE);
    expect(await calls(site, 10 * MINUTE)).to.equal(0);
  });

  it('are one a minute while nothing changes, and each round while something does', async () => {
    const site = new Site({ runs: 4, runMs: 30 * MINUTE }, { lifetimeMs: 60 * MINUTE });
    await site.until(({ queues }) => queues[0]?.counts['Busy'] === 1);
    await calls(site, 2 * MINUTE);
    expect(await calls(site, 10 * MINUTE)).to.equal(10);
    const before = site.cluster.requests.length;
    site.commands = [{ type: 'stop', immediately: false, reason: 'test' }];
    const status = await site.round();
    expect(status?.queues[0]?.counts).to.deep.equal({ Stopping: 1 });
    expect(site.cluster.requests.slice(before)).to.include.members(['list', 'stop']);
  });

  it('are one a minute for runs that fit no queue', async () => {
    const site = new Site({ runs: 4 }, { size: { cores: 0.5, memoryBytes: 0, gpus: 0 } });
    await calls(site, 2 * MINUTE);
    expect(await calls(site, 10 * MINUTE)).to.equal(10);
    expect(site.cluster.submissions.size).to.equal(0);
  });

  it('come at once when a runner has missed a heartbeat, so that the end of its allocation is reported', async () => {
    const site = new Site({ runs: 4, runMs: 30 * MINUTE }, { lifetimeMs: 60 * MINUTE });
    await site.until(({ queues }) => queues[0]?.counts['Busy'] === 1);
    await calls(site, 5 * MINUTE);
    const job = site.cluster.live[0]!;
    site.cluster.die(job);
    const status = await site.until(({ allocations }) => allocations.some((it) => it.value === 'Ended'));
    expect(site.clock.now() - job.diedAtMs!).to.be.at.most(20_000);
    expect(status.allocations.at(-1)?.context.end?.kind).to.equal('node-failure');
  });

  it('are repeated once a minute to an engine that gives no answer, which stays silent in between', async () => {
    const site = new Site({ runs: 4 });
    site.cluster.faults.list = new EngineUnreachable('the controller is busy');
    await calls(site, 2 * MINUTE);
    expect(await calls(site, 10 * MINUTE)).to.equal(10);
    expect((await site.round())?.problems).to.deep.equal([
      'the engine of main gives no answer: the controller is busy',
    ]);
    expect(site.cluster.submissions.size).to.equal(0);
    site.cluster.faults = {};
    await site.until(isQuiet(site));
    expect(site.cluster.completed).to.equal(4);
  });
});

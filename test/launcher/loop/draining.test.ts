/** A drained allocation whose runs do not end: it is stopped by its deadline, and its runs execute elsewhere. */
import { expect } from 'chai';
import type { Client } from '../../../src/client/client.ts';
import { coordinatorPort } from '../../../src/launcher/loop/coordinator.ts';
import type { FakeClusterOptions, FakeJob } from './fake-cluster.ts';
import type { QueueConfig } from '../../../src/launcher/settings.ts';
import { isQuiet, Site } from './support.ts';

const MINUTE = 60_000;

describe('launcher/loop: draining', () => {
  /** A site with one drained allocation, whose runs hang. */
  async function hung(
    queue: Partial<QueueConfig> = {},
    options: Partial<FakeClusterOptions> = {},
  ): Promise<{ site: Site; job: FakeJob; sinceMs: number }> {
    const site = new Site(
      { runs: 8, runMs: 20 * MINUTE, ...options },
      { max: 2, lifetimeMs: 48 * 60 * MINUTE, ...queue },
    );
    await site.until(({ queues }) => queues[0]?.counts['Busy'] === 2);
    const [job] = site.cluster.live;
    Object.assign(job!, { isHung: true, isDrained: true });
    await site.until(({ queues }) => queues[0]?.counts['Draining'] === 1);
    return { site, job: job!, sinceMs: site.clock.now() };
  }

  const historyOf = (
    status: { allocations: readonly { context: { id: string }; history: readonly object[] }[] },
    id: string,
  ) =>
    status.allocations.find((it) => it.context.id === id)?.history as { to: string; event: string; reason?: string }[];

  it('is asked to end after drain_timeout, then ended, and its runs execute elsewhere', async () => {
    const { site, job, sinceMs } = await hung({ drainTimeoutMs: 30 * MINUTE });
    await site.until(({ queues }) => queues[0]?.counts['Stopping'] === 1);
    expect(site.clock.now() - sinceMs).to.be.within(29 * MINUTE, 31 * MINUTE);
    expect(site.cluster.requests).to.include('stop').and.not.include('stop now');
    const status = await site.until(isQuiet(site), 1_000);
    expect(site.cluster.requests).to.include('stop now');
    expect(job.endedAtMs! - sinceMs).to.be.within(39 * MINUTE, 42 * MINUTE);
    expect(site.cluster.completed).to.equal(8);
    const stops = historyOf(status, job.request.id).filter((it) => it.event === 'STOP');
    expect(stops.map((it) => [it.to, it.reason])).to.deep.equal([
      ['Stopping', 'its runner still held runs 1800 s after it was drained'],
      ['Stopping', 'its runner still held runs 1800 s after it was drained'],
    ]);
  });

  it('has the longest time limit of its runs and ten minutes, where the queue sets no time', async () => {
    const { site, sinceMs } = await hung({}, { timeLimitMs: 45 * MINUTE });
    await site.until(({ queues }) => queues[0]?.counts['Stopping'] === 1, 1_000);
    expect(site.clock.now() - sinceMs).to.be.within(54 * MINUTE, 56 * MINUTE);
    expect(
      site.cluster.requests.filter((it) => it === 'timeLimits'),
      'asked once',
    ).to.have.length(1);
  });

  it('lives until its wall time with a run without a limit, and while it is resumed', async () => {
    const without = await hung({}, { timeLimitMs: 0 });
    for (let round = 0; round < 1_500; round++) await without.site.round();
    expect(without.job.state).to.equal('running');
    const resumed = await hung({ drainTimeoutMs: 30 * MINUTE });
    for (let round = 0; round < 300; round++) await resumed.site.round();
    resumed.job.isDrained = false;
    await resumed.site.until(({ queues }) => queues[0]?.counts['Draining'] === undefined);
    for (let round = 0; round < 300; round++) await resumed.site.round();
    expect(resumed.job.state).to.equal('running');
    // Drained again, its time begins anew.
    resumed.job.isDrained = true;
    const sinceMs = resumed.site.clock.now();
    await resumed.site.until(({ queues }) => queues[0]?.counts['Stopping'] === 1, 1_000);
    expect(resumed.site.clock.now() - sinceMs).to.be.within(29 * MINUTE, 31 * MINUTE);
  });

  it('ends ten minutes after its runner has signed off, also when the launcher is restarted in between', async () => {
    const { site, job, sinceMs } = await hung();
    job.hasLeft = true;
    for (let round = 0; round < 60; round++) await site.round();
    site.restart();
    expect(job.state).to.equal('running');
    await site.until(() => job.state === 'ended', 1_000);
    expect(site.clock.now() - sinceMs).to.be.within(9 * MINUTE, 12 * MINUTE);
  });

  it('takes the longest limit of the runs of each runner from the coordinator, and none where a run has none', async () => {
    const asked: object[] = [];
    const job = (assigned_runner: string | undefined, timeout_secs: number) => ({ assigned_runner, timeout_secs });
    const client = {
      async *jobs(filter: object) {
        asked.push(filter);
        yield* [job('a', 60), job('b', 30), job('a', 90), job('c', 0), job('c', 30), job('b', 0), job(undefined, 10)];
      },
    };
    const limits = await coordinatorPort(client as unknown as Client).timeLimits(['a', 'b', 'c']);
    expect(Object.fromEntries(limits)).to.deep.equal({ a: 90_000, b: 0, c: 0 });
    expect(asked).to.deep.equal([{ runner_id: ['a', 'b', 'c'], status: ['Claimed', 'Running'] }]);
  });

  it('is not stopped while the coordinator gives no answer', async () => {
    const { site, job } = await hung({ drainTimeoutMs: 10 * MINUTE });
    site.cluster.faults.coordinator = new Error('no answer');
    for (let round = 0; round < 400; round++) await site.round();
    expect(job.state).to.equal('running');
    delete site.cluster.faults.coordinator;
    await site.until(() => job.state === 'ended', 1_000);
  });
});

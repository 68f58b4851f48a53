/** Commands of operators and the name of a launcher: they change what they name, and nothing else. */
import { expect } from 'chai';
import { writeLauncherStore } from '../../../src/launcher/state/launcher-store.ts';
import { afterFailure, INITIAL_QUEUE } from '../../../src/launcher/state/queue-state.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { isQuiet, Site } from './support.ts';

describe('launcher/loop: operators', () => {
  /** A site with three allocations that have become ready. */
  async function threeLive(): Promise<{ site: Site; ids: string[] }> {
    const site = new Site({ runs: 0 }, { min: 3 });
    for (let n = 0; n < 30; n += 1) await site.round();
    return { site, ids: site.cluster.live.map((it) => it.request.id) };
  }

  it('stop the allocation that they name by its id, and no other', async () => {
    const { site, ids } = await threeLive();
    expect(ids).to.have.length(3);
    const reason = 'the machine is wanted';
    site.commands.push({ type: 'pause', queue: 'main', reason });
    site.commands.push({ type: 'stop', allocation: ids[1]!, immediately: true, reason });
    await site.until((status) => status.allocations.some((it) => it.value === 'Ended'));
    expect(site.cluster.live.map((it) => it.request.id)).to.deep.equal([ids[0], ids[2]]);
  });

  it('let a queue ask its next runner what it allows, after its runners have refused a study', async () => {
    const site = new Site({ runs: 12 }, { max: 3 });
    site.cluster.environment = { set: ['WIND'], allowed: [] };
    const refused = await site.until(({ queues: [main] }) => main?.why[0]?.includes('do not allow "WIND"') === true);
    expect(refused.unserved.map((it) => [it.code, it.runs])).to.deep.equal([['settings-refuse', 12]]);
    // Its only allocation leaves, and none follows it.
    for (let n = 0; n < 40; n += 1) await site.round();
    expect(site.cluster.live).to.deep.equal([]);
    expect(site.cluster.submissions.size).to.equal(1);
    site.cluster.environment = { set: ['WIND'], allowed: ['WIND'] };
    await site.round();
    expect(site.cluster.submissions.size).to.equal(1);
    site.commands = [{ type: 'resume', queue: 'main' }];
    await site.until(isQuiet(site));
    expect(site.cluster.completed).to.equal(12);
  });

  it('let a queue ask its next runner which code it executes, after its runners have left a pinned study', async () => {
    const site = new Site({ runs: 12 }, { max: 3 });
    site.cluster.code = { pinned: 'a'.repeat(64), installed: 'b'.repeat(64) };
    const refused = await site.until(({ queues: [main] }) => main?.why[0]?.includes('execute another code') === true);
    expect(refused.unserved.map((it) => [it.code, it.runs])).to.deep.equal([['settings-refuse', 12]]);
    for (let n = 0; n < 40; n += 1) await site.round();
    expect(site.cluster.live).to.deep.equal([]);
    expect(site.cluster.submissions.size, 'allocations that could execute nothing').to.equal(1);
    site.cluster.code = { pinned: 'a'.repeat(64), installed: 'a'.repeat(64) };
    site.commands = [{ type: 'resume', queue: 'main' }];
    await site.until(isQuiet(site));
    expect(site.cluster.completed).to.equal(12);
    expect(site.cluster.submissions.size, 'one asks, and the others follow it').to.equal(4);
  });

  it('change no queue unless they name it', async () => {
    const { site } = await threeLive();
    site.commands.push({ type: 'pause', queue: 'another', reason: 'maintenance' });
    site.commands.push({ type: 'stop', queue: 'another', immediately: true, reason: 'maintenance' });
    const status = await site.round();
    expect(status?.queues[0]?.why.join()).to.not.include('paused');
    expect(site.cluster.live).to.have.length(3);
  });

  it('name the launcher anew only when nothing lives under the former name', async () => {
    const { site } = await threeLive();
    site.config.launcher = 'renamed';
    site.restart();
    const refused = await site.round().then(
      () => 'accepted',
      (error: Error) => error.message,
    );
    expect(refused).to.match(
      /^the launcher is named renamed: 3 allocations of this state folder live under the name test/,
    );
    site.config.launcher = 'test';
    site.commands.push({ type: 'pause', reason: 'the end' }, { type: 'stop', immediately: true, reason: 'the end' });
    await site.until(isQuiet(site));
    site.config.launcher = 'renamed';
    site.restart();
    expect(await site.round()).to.not.equal(undefined);
  });

  it('pause a queue after as many failures in a row as its limit, and not before', () => {
    const backoff = { firstMs: 1_000, maxMs: 60_000, pauseAfter: 3 };
    let state = INITIAL_QUEUE;
    const paused: boolean[] = [];
    for (let now = 1; now <= 3; now += 1) {
      state = afterFailure(state, backoff, { reason: 'no such partition', plannedAtMs: now, now });
      paused.push(state.paused !== undefined);
    }
    expect(paused).to.deep.equal([false, false, true]);
    expect(state.paused?.reason).to.equal('3 allocations in a row failed, the last one: no such partition');
  });

  it('are deleted when their effects are on disk, and not before', async () => {
    const site = new Site({ runs: 0 });
    await site.round();
    let found: string | undefined;
    site.onCommandsDone = () => (found = site.disk.get('!queue!main'));
    site.commands.push({ type: 'pause', queue: 'main', reason: 'maintenance' });
    await site.round();
    expect(found).to.include('maintenance');
  });

  it('have their records on disk when a write is answered', async () => {
    let release = (): void => {};
    const store = new MemoryStore(new Map(), { beforeWrite: () => new Promise((resolve) => (release = resolve)) });
    let isAnswered = false;
    const written = writeLauncherStore(store, { allocations: [], queues: [['main', INITIAL_QUEUE]] });
    void written.then(() => (isAnswered = true));
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    expect(isAnswered).to.equal(false);
    release();
    await written;
    expect([...store.disk.keys()]).to.deep.equal(['!queue!main']);
  });
});

/** Tests of the launcher's loop on a cluster in memory: from demand to nothing left, through crashes, refusals and silence. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import { ApiError } from '../../../src/client/transport.ts';
import { EngineUnreachable } from '../../../src/launcher/engine.ts';
import { times } from '../../support/properties.ts';
import { isQuiet, Site } from './support.ts';

/** No id was submitted twice, and never more lived than allowed. */
function expectSound({ cluster, config }: Site): void {
  expect([...cluster.submissions.values()].filter((it) => it > 1)).to.deep.equal([]);
  const max = config.queues.reduce((sum, it) => sum + it.max, 0);
  expect(cluster.mostLive).to.be.at.most(Math.min(max, config.limits.maxAllocations ?? Infinity));
}

describe('launcher/loop', function () {
  it('brings allocations up within the limit, lets the runs execute, and leaves nothing', async () => {
    const site = new Site({ runs: 40 }, { max: 3 });
    const status = await site.until(isQuiet(site));
    expect(site.cluster.completed).to.equal(40);
    expect(site.cluster.mostLive).to.equal(3);
    expect(status.allocations.map((it) => it.value)).to.deep.equal(['Ended', 'Ended', 'Ended']);
    expectSound(site);
  });

  it('submits nothing twice and loses nothing, at whichever step it crashes', async () => {
    const whole = new Site({ runs: 12 }, { max: 2 });
    await whole.until(isQuiet(whole));
    expect(whole.cluster.steps).to.be.greaterThan(50);
    for (let step = 1; step <= whole.cluster.steps; step += 1) {
      const site = new Site({ runs: 12 }, { max: 2 });
      site.cluster.crashAt = step;
      await site.until(isQuiet(site));
      expect(site.crashes, `step ${String(step)}`).to.equal(1);
      expect(site.cluster.completed, `step ${String(step)}`).to.equal(12);
      expectSound(site);
    }
  });

  it('adopts allocations that live under its label after its records were lost, and no ended ones', async () => {
    const site = new Site({ runs: 200, runMs: 60_000 }, { max: 4, idleTimeoutMs: 1_000 });
    for (let n = 0; n < 6; n += 1) await site.round();
    const lived = site.cluster.live.map((it) => it.request.id);
    const [gone] = lived;
    await site.cluster.stop([{ id: gone ?? '', queue: 'main', handle: '', state: 'running' }], true);
    // Its token expires by itself: no record of it is left.
    site.cluster.tokens.delete(`fake/main/${gone ?? ''}`);
    site.forgetEverything();
    const status = await site.round();
    expect(status?.allocations.map((it) => it.context.id))
      .to.include.members(lived.slice(1))
      .and.not.include(gone);
    await site.until(isQuiet(site));
    expectSound(site);
  });

  it('gives the place of a dead host to another one, submits nothing twice, and counts the host again when it is back', async () => {
    const site = new Site({ runs: 400, runMs: 600_000, hasPlaces: true }, { max: 2 });
    const { cluster } = site;
    await site.until(() => cluster.live.filter((it) => it.runs !== undefined).length === 2);
    const [first, second] = cluster.live;
    cluster.faults.dead = 'a';
    await site.round();
    expect(cluster.submissions.size, 'its runner is still connected').to.equal(2);
    // The host is dead: its runner sends nothing any more, and the engine knows nothing about its allocation.
    first!.diedAtMs = site.clock.now() - 60_000;
    first!.hasLeft = true;
    await site.until(() => cluster.submissions.size === 3, 4);
    for (let n = 0; n < 4; n += 1) await site.round();
    expect(cluster.submissions.size, 'max holds for the hosts that answer').to.equal(3);
    delete cluster.faults.dead;
    Object.assign(first!, { state: 'ended', end: { kind: 'node-failure' }, endedAtMs: site.clock.now() });
    const isEnded = (id: string) => (it: { value: string; context: { id: string } }) =>
      it.value === 'Ended' && it.context.id === id;
    const status = await site.until((it) => it.allocations.some(isEnded(first!.request.id)), 30);
    expect(status.allocations.find((it) => it.context.id === second!.request.id)?.value).to.equal('Busy');
    expect([...cluster.submissions.values()].filter((it) => it > 1)).to.deep.equal([]);
  });

  it('freezes while the engine gives no answer: nothing ends, nothing is submitted', async () => {
    const site = new Site({ runs: 400 }, { max: 4 });
    for (let n = 0; n < 4; n += 1) await site.round();
    const before = (await site.round())?.queues[0]?.counts;
    site.cluster.faults.list = new EngineUnreachable('the controller is busy');
    const submitted = site.cluster.submissions.size;
    let status;
    for (let n = 0; n < 3; n += 1) status = await site.round();
    expect(status?.queues[0]?.counts).to.deep.equal(before);
    expect(status?.problems).to.deep.equal(['the engine of main gives no answer: the controller is busy']);
    expect(status?.queues[0]?.why.join()).to.match(
      /submits none, since its engine gives no answer: the controller is busy/,
    );
    expect(site.cluster.submissions.size).to.equal(submitted);
    site.cluster.faults = {};
    await site.until(isQuiet(site));
    expectSound(site);
  });

  it('decides nothing while the coordinator gives no answer', async () => {
    const site = new Site({ runs: 10 });
    site.cluster.faults.coordinator = new Error('connection refused');
    const status = await site.round();
    expect(status?.problems).to.deep.equal(['the coordinator gives no answer: connection refused']);
    expect(site.cluster.submissions.size).to.equal(0);
    site.cluster.faults = {};
    await site.until(isQuiet(site));
  });

  it('backs off with doubled delays when the engine refuses, pauses in the end, and says why', async () => {
    const site = new Site({ runs: 10 }, { backoff: { firstMs: 10_000, maxMs: 60_000, pauseAfter: 4 } });
    site.cluster.faults.submit = () => 'refused';
    const at: number[] = [];
    const status = await site.until(({ queues }) => {
      if (site.cluster.submissions.size > at.length) at.push(site.clock.now());
      return queues[0]?.paused === true;
    });
    expect(at.map((it, index) => (index === 0 ? 0 : (it - (at[index - 1] ?? 0)) / 1_000))).to.deep.equal([
      0, 10, 20, 40,
    ]);
    expect(status.queues[0]?.blocked).to.equal(
      'it is paused: 4 allocations in a row failed, the last one: the engine refused it: invalid partition',
    );
    expect(status.allocations.every((it) => it.value === 'Refused' || it.context.end?.kind === 'abandoned')).to.equal(
      true,
    );
    // An operator resumes it once the cause is removed.
    site.cluster.faults = {};
    for (let n = 0; n < 20; n += 1) await site.round();
    expect(site.cluster.live).to.deep.equal([]);
    site.commands.push({ type: 'resume' });
    await site.until(isQuiet(site));
    expectSound(site);
  });

  it('gives up an allocation that no host takes while one gives no answer, and tries again when that changes; no failure counts', async () => {
    const site = new Site({ runs: 40, hasPlaces: true, runMs: 300_000 }, { max: 4, maxQueued: 4 });
    site.cluster.faults.dead = 'b';
    site.cluster.faults.submit = () => (site.cluster.live.length === 0 ? undefined : 'full');
    let status = await site.round();
    for (let n = 0; n < 30; n += 1) status = (await site.round()) ?? status;
    expect(status?.queues[0]).to.include({ paused: false }).and.not.have.property('failing');
    expect(Object.values(status?.queues[0]?.counts ?? {}), 'allocations that live').to.deep.equal([1]);
    expect(status?.queues[0]?.why.join()).to.include(
      'submits none, since no host that answers has room: b: no route to host',
    );
    // Once for each change: the first allocation lives, and a round later that is known.
    expect(site.cluster.submissions.size).to.be.within(2, 4);
    site.cluster.faults = {};
    // An engine without news is asked once a minute.
    await site.until(() => site.cluster.live.length === 4, 15);
    await site.until(isQuiet(site), 2_000);
    expectSound(site);
  });

  it('holds no place of max for a submission without an answer while a host is dead, after the time in which its runner must register', async () => {
    const site = new Site({ runs: 4, hasPlaces: true }, { max: 1, startTimeoutMs: 60_000 });
    site.cluster.faults.dead = 'b';
    site.cluster.faults.submit = () => 'lost';
    await site.round();
    site.cluster.faults = { dead: 'b' };
    for (let n = 0; n < 10; n += 1) await site.round();
    expect(site.cluster.live.length, 'it may have reached the dead host').to.equal(0);
    for (let n = 0; n < 10; n += 1) await site.round();
    expect(site.cluster.submissions.size).to.equal(2);
    await site.until(() => site.cluster.completed === 4);
    site.cluster.faults = {};
    await site.until(isQuiet(site));
  });

  for (const fault of ['unanswered', 'lost'] as const) {
    it(`waits before it submits again when the engine gave no answer to a submission that was ${fault === 'lost' ? 'lost' : 'taken'}`, async () => {
      const site = new Site({ runs: 4 }, { max: 1 });
      site.cluster.faults.submit = () => fault;
      await site.round();
      site.cluster.faults = {};
      const status = await site.round();
      expect(status?.queues[0]?.counts).to.deep.equal(fault === 'lost' ? { Submitting: 1 } : { Starting: 1 });
      await site.until(isQuiet(site));
      expect(site.cluster.submissions.size).to.equal(fault === 'lost' ? 2 : 1);
      expectSound(site);
    });
  }

  it('submits no other allocation while one without an answer may still take effect', async () => {
    const site = new Site({ runs: 4 }, { max: 1 });
    site.cluster.faults.submit = () => 'late';
    await site.round();
    site.cluster.faults = {};
    await site.until(isQuiet(site));
    expect(site.cluster.submissions.size).to.equal(1);
    expectSound(site);
  });

  it('only decides in a dry run', async () => {
    const site = new Site({ runs: 40 }, { max: 3 });
    site.isDryRun = true;
    const status = await site.round();
    expect(status?.queues[0]?.why.join()).to.match(
      /submits 3 allocations for 4 runs each; 7 more needed, but max is 3/,
    );
    expect(site.cluster.requests.toSorted()).to.deep.equal(['demand', 'list', 'runners']);
    expect([...site.disk]).to.deep.equal([]);
  });

  it('submits nothing for a while when no token can be made, and says why', async () => {
    const site = new Site({ runs: 4 }, { max: 1 });
    const make = site.cluster.makeTokens.bind(site.cluster);
    let asked = 0;
    site.cluster.makeTokens = async () => {
      asked += 1;
      throw new Error('this needs the scope `launch`');
    };
    let status;
    for (let n = 0; n < 10; n += 1) status = await site.round();
    expect(asked).to.equal(1);
    expect(status?.queues[0]?.why.join()).to.match(
      /submits none, since tokens cannot be made: this needs the scope `launch`/,
    );
    expect(status?.queues[0]?.paused).to.equal(false);
    site.cluster.makeTokens = make;
    await site.until(isQuiet(site));
    expectSound(site);
  });

  it('revokes what is its own, and gives up what belongs to another launch token', async () => {
    const site = new Site({ runs: 8 }, { max: 2 });
    const revoke = site.cluster.revokeTokens.bind(site.cluster);
    let foreign: string | undefined;
    const revoked: string[] = [];
    site.cluster.revokeTokens = async (allocations) => {
      foreign ??= allocations[0];
      if (foreign !== undefined && allocations.includes(foreign)) {
        throw new ApiError(403, 'forbidden', 'made by another launch token');
      }
      revoked.push(...allocations);
      await revoke(allocations);
    };
    await site.until(() => revoked.length > 0);
    for (let n = 0; n < 3; n += 1) await site.round();
    expect(revoked).to.have.length(1).and.not.to.include(foreign);
    const lines = site.logged.filter((it) => it.includes('is not revoked and expires by itself'));
    expect(lines).to.have.length(1);
  });

  it('stops an allocation whose runner does not register, and counts it as a failure', async () => {
    const site = new Site(
      { runs: 4, registerMs: undefined },
      { max: 1, startTimeoutMs: 20_000, backoff: { firstMs: 5_000, maxMs: 5_000, pauseAfter: 2 } },
    );
    const status = await site.until(({ queues }) => queues[0]?.paused === true);
    expect(status.queues[0]?.blocked).to.match(/2 allocations in a row failed, .*did not register within 20 s/);
    expect(site.cluster.live).to.deep.equal([]);
  });

  it('does not count an end after the registration as a failure', async () => {
    const site = new Site({ runs: 8, runMs: 9_000_000 }, { max: 2, lifetimeMs: 900_000 });
    for (let n = 0; n < 190; n += 1) await site.round();
    expect(site.logged.filter((it) => it.includes('at its lifetime'))).to.have.length(2);
    const status = await site.round();
    expect(status?.queues[0]?.blocked).to.equal(undefined);
  });

  it('keeps the minimum, and stops allocations when an operator asks for it', async () => {
    const site = new Site({ runs: 0 }, { min: 2 });
    for (let n = 0; n < 30; n += 1) await site.round();
    expect(site.cluster.live).to.have.length(2);
    site.commands.push(
      { type: 'pause', queue: 'main', reason: 'maintenance' },
      { type: 'stop', queue: 'main', immediately: false, reason: 'maintenance' },
    );
    const status = await site.until(isQuiet(site));
    expect(status.queues[0]?.why.join()).to.equal('min is 2: submits none, since it is paused: maintenance');
  });

  it('sends the same number of requests in a round, however many allocations there are', async () => {
    const counts: number[] = [];
    for (const runs of [4, 400]) {
      const site = new Site({ runs, runMs: 3_000_000 }, { max: 100, maxQueued: 100, lifetimeMs: 7_200_000 });
      for (let n = 0; n < 5; n += 1) await site.round();
      expect(site.cluster.live).to.have.length(runs / 4);
      site.cluster.requests = [];
      for (let n = 0; n < 12; n += 1) await site.round();
      counts.push(site.cluster.requests.length);
    }
    expect(counts).to.deep.equal([26, 26]);
  });

  it('stays within its limits with 1,000 allocations, through crashes, refusals and silence', async () => {
    const chance = fc.record({
      crashes: fc.array(fc.integer({ min: 1, max: 6_000 }), { maxLength: 12 }),
      refused: fc.array(fc.integer({ min: 0, max: 999 }), { maxLength: 5 }),
      unanswered: fc.array(fc.integer({ min: 0, max: 999 }), { maxLength: 20 }),
      lost: fc.array(fc.integer({ min: 0, max: 999 }), { maxLength: 20 }),
      late: fc.array(fc.integer({ min: 0, max: 999 }), { maxLength: 20 }),
      nodes: fc.integer({ min: 50, max: 1_000 }),
      max: fc.integer({ min: 400, max: 1_000 }),
      maxAllocations: fc.option(fc.integer({ min: 300, max: 1_000 }), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(chance, async ({ crashes, refused, unanswered, lost, late, nodes, max, maxAllocations }) => {
        const site = new Site(
          { runs: 4_000, runMs: 300_000, nodes },
          { max, maxQueued: 1_000, backoff: { firstMs: 5_000, maxMs: 5_000, pauseAfter: 1_000 } },
          { maxAllocations },
        );
        const { cluster } = site;
        let submitted = 0;
        cluster.faults.submit = () => {
          submitted += 1;
          if (refused.includes(submitted)) return 'refused';
          if (unanswered.includes(submitted)) return 'unanswered';
          if (late.includes(submitted)) return 'late';
          return lost.includes(submitted) ? 'lost' : undefined;
        };
        const ahead = crashes.toSorted((a, b) => b - a);
        for (let n = 0; n < 60; n += 1) {
          while ((ahead.at(-1) ?? Infinity) <= cluster.steps) ahead.pop();
          cluster.crashAt = ahead.at(-1);
          cluster.requests = [];
          await site.round();
          expect(cluster.requests.filter((it) => it !== 'submit').length).to.be.at.most(6);
        }
        expect(cluster.mostLive).to.be.greaterThan(200);
        expectSound(site);
      }),
      { numRuns: times(5) },
    );
  });
});

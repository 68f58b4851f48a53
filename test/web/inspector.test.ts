/** The pure parts of the inspector: story, difference of contexts, refusals, trials on a copy, labels. */
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';

const load = async (name: string): Promise<any> =>
  tsImport(new URL(`../../../web/src/inspector/${name}`, import.meta.url).href, import.meta.url);

const RUNNER = {
  value: 'Idle',
  runnerId: 'a',
  name: 'a',
  instance: 'i1',
  capabilities: {},
  tags: [],
  heartbeatIntervalSecs: 5,
  registeredAtMs: 0,
  lastHeartbeatMs: 1_000,
  heardAtMs: 1_000,
  held: [],
  drained: false,
  completed: 0,
  failed: 0,
};

describe('web/inspector', () => {
  it('lists the members of a context that an event changed, with both values', async () => {
    const { differenceOf } = await load('difference.ts');
    expect(
      differenceOf({ a: 1, list: [{ n: 1 }], same: 2 }, { a: 1, list: [{ n: 1, out: 'x' }, { n: 2 }], same: 3 }),
    ).to.deep.equal([
      { path: 'list[0].out', before: undefined, after: 'x' },
      { path: 'list[1]', before: undefined, after: { n: 2 } },
      { path: 'same', before: 2, after: 3 },
    ]);
    expect(differenceOf({ a: { b: 1 } }, { a: { b: 1 } })).to.deep.equal([]);
  });

  it('says which guards of a refused event were false, and the values that they read', async () => {
    const { refusalOf } = await load('refusal.ts');
    const { value: _, ...context } = RUNNER;
    const silence = refusalOf('runner', 'Idle', context, { type: 'SILENCE', now: 2_000 });
    expect(silence.guards.map((it: any) => [it.guard, it.holds, it.to])).to.deep.equal([['silent', false, 'Offline']]);
    expect(silence.guards[0].readings).to.deep.include({ path: 'event.now', value: 2_000 });
    expect(silence.guards[0].readings).to.deep.include({ path: 'context.heardAtMs', value: 1_000 });
    const register = refusalOf('runner', 'Idle', context, { type: 'REGISTER', instance: 'other', now: 1 });
    expect(register.guards.map((it: any) => it.guard)).to.deep.equal([
      'takesOver and drained',
      'takesOver and holdsJobs',
      'takesOver',
    ]);
    const lease = refusalOf('runner', 'Idle', context, { type: 'LEASE_ENDED', now: 1 });
    expect(lease).to.deep.equal({ guards: [], takenIn: ['Offline'] });
    expect(refusalOf('job', 'Failed', {}, { type: 'CANCEL' }).takenIn).to.deep.equal(['Pending', 'Claimed', 'Running']);
  });

  it('tries an event on a copy: the given state stays as it is', async () => {
    const { tried, candidatesOf } = await load('trial.ts');
    const before = structuredClone(RUNNER);
    const trial = tried('runner', RUNNER, { type: 'DRAIN', reason: 'why', now: 5 });
    expect([trial.from, trial.to, trial.facts, trial.refusal]).to.deep.equal([
      'Idle',
      'Maintenance',
      ['runner.drained'],
      undefined,
    ]);
    expect(trial.changes).to.deep.include({ path: 'drainReason', before: undefined, after: 'why' });
    expect(RUNNER).to.deep.equal(before);
    expect(tried('runner', RUNNER, { type: 'SILENCE', now: 2_000 }).refusal.guards[0].holds).to.equal(false);
    const types = new Set(candidatesOf('runner', RUNNER, 1).map((it: any) => it.event.type));
    for (const type of ['DRAIN', 'RESUME', 'REGISTER', 'SILENCE', 'MISSING']) expect([...types]).to.include(type);
  });

  const lane = { kind: 'runner', id: 'a' };
  const event = (type: string, now: number, more: object = {}): any => ({
    lane,
    result: 'taken',
    type,
    now,
    from: 'Idle',
    to: 'Idle',
    event: { type },
    before: {},
    after: {},
    times: 1,
    ...more,
  });

  it('folds heartbeats in a row, and keeps refused ones apart', async () => {
    const { logRows } = await load('story.ts');
    const events = [
      event('HEARTBEAT', 1),
      event('HEARTBEAT', 2),
      event('HEARTBEAT', 3, { result: 'refused' }),
      event('DRAIN', 4),
      event('HEARTBEAT', 5),
    ];
    const rows = logRows(events, () => true).map((it: any) => [it.event.type, it.at, it.times]);
    expect(rows).to.deep.equal([
      ['HEARTBEAT', 1, 2],
      ['HEARTBEAT', 2, 1],
      ['DRAIN', 3, 1],
      ['HEARTBEAT', 4, 1],
    ]);
    expect(logRows(events, (it: any) => it.result === 'refused')).to.have.length(1);
  });

  it('opens at the failure, and goes from error to error', async () => {
    const { opening, nextError, stateAt } = await load('story.ts');
    const events = [
      event('CLAIM', 1),
      event('FAIL', 2, { to: 'Pending', event: { type: 'FAIL', attempt: 1 } }),
      event('FAIL', 3, { to: 'Failed', event: { type: 'FAIL', attempt: 2 } }),
      event('CANCEL', 4, { result: 'refused', to: 'Failed' }),
    ];
    expect([opening(events), opening(events, 1), opening(events.slice(0, 1))]).to.deep.equal([2, 1, 0]);
    // A heartbeat of the runner does not move a page about a run.
    const later = [event('COMPLETE', 1), event('HEARTBEAT', 2, { lane: { kind: 'runner', id: 'b' } })];
    expect([opening(later, undefined, lane), opening(later)]).to.deep.equal([0, 1]);
    expect([nextError(events, 1), nextError(events, 3), nextError(events.slice(0, 1), 0)]).to.deep.equal([
      2,
      1,
      undefined,
    ]);
    expect([stateAt(events, 1, lane).to, stateAt(events, 3, lane).to]).to.deep.equal(['Pending', 'Failed']);
    expect(stateAt(events, 3, { kind: 'runner', id: 'b' })).to.equal(undefined);
  });

  it('places labels without overlaps, the chosen one always', async () => {
    const { placeLabels, msTicks } = await load('lanes.ts');
    const arrows = Array.from({ length: 30 }, (_, at) => ({ at, x: at * 4, label: 'COMPLETE' }));
    const placed = placeLabels(arrows, { lines: 3, width: 400, chosen: 17 });
    expect(placed.map((it: any) => it.at)).to.include(17);
    const size = 'COMPLETE'.length * 6.3 + 8;
    for (const a of placed)
      for (const b of placed) if (a.at !== b.at && a.line === b.line) expect(Math.abs(a.x - b.x)).to.be.at.least(size);
    expect(msTicks({ from: 990, to: 2_010 }, 1_000, 5).map((it: any) => it.text)).to.deep.equal([
      '0 ms',
      '500 ms',
      '1\u202f000 ms',
    ]);
  });
});

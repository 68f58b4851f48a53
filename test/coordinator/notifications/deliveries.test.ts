/** Deliveries of notifications whose outcome is not on disk yet, and the deletion of old ones. */
import { expect } from 'chai';
import { EventLoopShare } from '../../../src/base/event-loop-share.ts';
import { sweepNotifications } from '../../../src/coordinator/notifications/list.ts';
import { Notifications } from '../../../src/coordinator/notifications/notifications.ts';
import type { NotificationOutcome, NotificationReceiver } from '../../../src/coordinator/notifications/receivers.ts';
import { SimbatchError } from '../../../src/domain/errors.ts';
import { Scene } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';

const REFUSED: NotificationOutcome = { accepted: false, reason: 'it answered 503' };

describe('coordinator/notifications/deliveries', () => {
  let scene: Scene;
  const receiver: NotificationReceiver = { id: 'inbox', label: 'inbox', send: () => Promise.resolve(REFUSED) };
  const settings = { receivers: [receiver], link: () => undefined };
  beforeEach(async () => {
    scene = await Scene.open({ notifications: settings });
    await scene.submit({ runs: 0 });
    await scene.world.advance(3_600_000);
  });
  afterEach(() => scene.api.close());

  /** Notifications of the scene with other turns; one of them, which the receiver has refused, is due. */
  function due(run: () => Promise<undefined>, failed: (error: unknown) => void): Notifications {
    const { parts } = scene.api;
    const clock = { ...parts.clock, now: () => scene.world.now() + 86_400_000 };
    return new Notifications({
      ...parts,
      clock,
      turns: { run },
      groupCommit: { holds: () => false },
      settings,
      findings: () => Promise.resolve([]),
      failed,
    } as never);
  }

  it('are waited for when notifications close: a turn in flight ends before that', async () => {
    let release = (): void => {};
    let turns = 0;
    const run = (): Promise<undefined> => {
      turns += 1;
      return new Promise((resolve) => (release = () => resolve(undefined)));
    };
    const notifications = due(run, (error) => expect.fail(String(error)));
    notifications.tick();
    expect(turns).to.equal(1);
    let isClosed = false;
    const closing = notifications.close().then(() => (isClosed = true));
    await settled();
    await settled();
    expect(isClosed).to.equal(false);
    release();
    await closing;
  });

  it('report a fault, and not that the coordinator stops', async () => {
    for (const [error, isReported] of [
      [new SimbatchError('unavailable', 'the coordinator stops'), false],
      [new SimbatchError('internal', 'the turn failed'), true],
      [new TypeError('a bug'), true],
    ] as const) {
      const reported: unknown[] = [];
      const notifications = due(
        () => Promise.reject(error),
        (it) => reported.push(it),
      );
      notifications.tick();
      await notifications.close();
      expect(reported).to.deep.equal(isReported ? [error] : []);
    }
  });

  it('are deleted in a reading of the store that has ended when the deletion has', async () => {
    let close = (): void => {};
    const view = {
      async *entries() {},
      close: () => new Promise<void>((resolve) => (close = resolve)),
    };
    const { clock, turns } = scene.api.parts;
    const parts = { clock, turns, share: new EventLoopShare(clock), store: { snapshot: () => view } };
    let isOver = false;
    const sweep = sweepNotifications(parts as never).then(() => (isOver = true));
    await settled();
    expect(isOver).to.equal(false);
    close();
    await sweep;
  });
});

/** Deliveries of notifications whose outcome is not on disk yet. */
import { expect } from 'chai';
import { Notifications } from '../../../src/coordinator/notifications/notifications.ts';
import type { NotificationOutcome, NotificationReceiver } from '../../../src/coordinator/notifications/receivers.ts';
import { Scene } from '../../support/scene.ts';
import { settled } from '../../support/simulated-clock.ts';

const REFUSED: NotificationOutcome = { accepted: false, reason: 'it answered 503' };

describe('coordinator/notifications/deliveries', () => {
  it('are waited for when notifications close: a turn in flight ends before that', async () => {
    const receiver: NotificationReceiver = { id: 'inbox', label: 'inbox', send: () => Promise.resolve(REFUSED) };
    const settings = { receivers: [receiver], link: () => undefined };
    const scene = await Scene.open({ notifications: settings });
    await scene.submit({ runs: 0 });
    await scene.world.advance(3_600_000);
    let release = (): void => {};
    let turns = 0;
    const run = (): Promise<undefined> => {
      turns += 1;
      return new Promise((resolve) => (release = () => resolve(undefined)));
    };
    const { parts } = scene.api;
    // Its clock is ahead, so that the notification, which the receiver has refused, is due.
    const clock = { ...parts.clock, now: () => scene.world.now() + 86_400_000 };
    const notifications = new Notifications({
      ...parts,
      clock,
      turns: { run },
      groupCommit: { holds: () => false },
      settings,
      findings: () => Promise.resolve([]),
      failed: (error: unknown) => expect.fail(String(error)),
    } as never);
    notifications.tick();
    expect(turns).to.equal(1);
    let isClosed = false;
    const closing = notifications.close().then(() => (isClosed = true));
    await settled();
    await settled();
    expect(isClosed).to.equal(false);
    release();
    await closing;
    await scene.api.close();
  });
});

/** Notifications of a coordinator: which events are announced, when they are sent, and what a restart and a full list do. */
import { expect } from 'chai';
import { MOST_WAITING } from '../../../src/coordinator/notifications/announce.ts';
import { BLOCKED_DWELL_MS, BlockedStudies } from '../../../src/coordinator/notifications/blocked-studies.ts';
import type { NotificationOutcome, NotificationReceiver } from '../../../src/coordinator/notifications/receivers.ts';
import type { StudyNotification } from '../../../src/contract/types.ts';
import { allOf, keys } from '../../../src/coordinator/kernel/storage/keys.ts';
import { RESULT, Scene } from '../../support/scene.ts';
import { SimbatchError } from '../../../src/domain/errors.ts';
import { jobId } from '../../../src/domain/ids.ts';
import { settled } from '../../support/simulated-clock.ts';

const OK: NotificationOutcome = { accepted: true };

/** A receiver that keeps what it gets; `answer` decides on each request. */
class Inbox implements NotificationReceiver {
  readonly label = 'https://hooks.example';
  readonly got: { eventId: string; message: StudyNotification; body: string }[] = [];
  readonly id: string;
  answer: () => Promise<NotificationOutcome> = () => Promise.resolve(OK);

  constructor(id = 'inbox') {
    this.id = id;
  }

  async send({ eventId, body }: { eventId: string; body: string }): Promise<NotificationOutcome> {
    this.got.push({ eventId, body, message: JSON.parse(body) as StudyNotification });
    return this.answer();
  }

  get types(): string[] {
    return this.got.map((it) => it.message.type);
  }
}

async function open(...inboxes: Inbox[]): Promise<Scene> {
  const link = (id: string): string => `https://simbatch.example/#/batches/${id}`;
  return Scene.open({ notifications: { receivers: inboxes, link } });
}

/** Lets commits, deliveries and judgements come to their end. */
async function rest(scene: Scene): Promise<void> {
  for (let n = 0; n < 20; n += 1) await settled();
  await scene.api.parts.judgements.idle();
  for (let n = 0; n < 20; n += 1) await settled();
}

async function execute(scene: Scene, batch: string, runs: number): Promise<void> {
  for (let run = 0; run < runs; run += 1) {
    await scene.running(batch, run, 'r');
    await scene.complete(batch, run, 'r');
  }
  await rest(scene);
}

async function withHeartbeats(scene: Scene, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10_000) {
    await scene.beat('r');
    await scene.world.advance(10_000);
  }
}

const REQUIREMENT = {
  name: 'close',
  output: 'miss',
  condition: '< 50',
  probability: 0.5,
  confidence: 0.9,
  look: 'continuous',
} as const;

describe('coordinator/notifications', () => {
  it('announces the end of a study with its state, counts and link', async () => {
    const inbox = new Inbox();
    const scene = await open(inbox);
    await scene.register('r');
    const batch = await scene.submit({ name: 'gusts', runs: 2 });
    await execute(scene, batch, 2);
    expect(inbox.types).to.deep.equal(['study.ended']);
    const { eventId, message } = inbox.got[0]!;
    expect(eventId).to.equal(`${batch}.ended`);
    expect(message.data.event_id).to.equal(eventId);
    expect(message.data.study).to.deep.include({ id: batch, name: 'gusts', status: 'Completed', total_jobs: 2 });
    expect(message.data.study.jobs_by_status).to.include({ Completed: 2, Failed: 0 });
    expect(message.data.text).to.equal('study "gusts" is Completed: 2 of 2 runs completed, 0 failed');
    expect(message.data.link).to.equal(`https://simbatch.example/#/batches/${batch}`);
    expect(await scene.api.notifications()).to.deep.include({
      receivers: ['https://hooks.example'],
      by_status: { Waiting: 0, Delivering: 0, Delivered: 1, GivenUp: 0 },
    });
    await scene.api.close();
  });

  it('announces a settled requirement once, and the final verdicts with the end', async () => {
    const inbox = new Inbox();
    const scene = await open(inbox);
    await scene.register('r');
    const batch = await scene.submit({ name: 'judged', runs: 30, requirements: [REQUIREMENT] });
    await execute(scene, batch, 30);
    // Whether the message waits for the verdicts is a matter of a tick.
    await scene.world.advance(2_000);
    await rest(scene);
    expect(inbox.types).to.deep.equal(['study.settled', 'study.ended']);
    const [first, last] = inbox.got.map((it) => it.message.data);
    expect(first).to.deep.include({ settled: ['close'], event_id: `${batch}.settled.1` });
    expect(first?.requirements?.[0]).to.include({ name: 'close', verdict: 'met', settled: 'sequential' });
    expect(last?.requirements?.[0]).to.include({ name: 'close', verdict: 'met', failed: 0 });
    expect(last).not.to.have.property('verdicts_missing');
    await scene.restart();
    await scene.world.advance(5_000);
    await rest(scene);
    expect(inbox.got).to.have.length(2);
    await scene.api.close();
  });

  it('repeats a failed request with the same id and body until it is accepted', async () => {
    const inbox = new Inbox();
    inbox.answer = () => Promise.resolve(inbox.got.length < 4 ? { accepted: false, reason: 'it answered 503' } : OK);
    const scene = await open(inbox);
    await scene.submit({ runs: 0 });
    await rest(scene);
    expect(inbox.got).to.have.length(1);
    const { notifications } = await scene.api.notifications();
    expect(notifications[0]).to.include({ status: 'Waiting', attempts: 1, reason: 'it answered 503' });
    await scene.world.advance(4_000);
    expect(inbox.got, 'before the first wait has passed').to.have.length(1);
    await scene.world.advance(40_000);
    expect(inbox.got).to.have.length(4);
    expect(new Set(inbox.got.map((it) => `${it.eventId} ${it.body}`)).size).to.equal(1);
    expect((await scene.api.notifications()).by_status).to.include({ Waiting: 0, Delivered: 1 });
    await scene.api.close();
  });

  it('gives up after a day, and forgets the notification a day later', async () => {
    const inbox = new Inbox();
    inbox.answer = () => Promise.resolve({ accepted: false, reason: 'it answered 500' });
    const scene = await open(inbox);
    await scene.submit({ runs: 0 });
    for (let hour = 0; hour < 25; hour += 1) await scene.world.advance(3_600_000);
    expect((await scene.api.notifications()).by_status).to.deep.equal({
      Waiting: 0,
      Delivering: 0,
      Delivered: 0,
      GivenUp: 1,
    });
    expect(inbox.got.length).to.be.within(40, 60);
    const requests = inbox.got.length;
    for (let hour = 0; hour < 26; hour += 1) await scene.world.advance(3_600_000);
    await rest(scene);
    expect((await scene.api.notifications()).notifications).to.deep.equal([]);
    expect(inbox.got).to.have.length(requests);
    expect(scene.faults).to.deep.equal([]);
    await scene.api.close();
  });

  it('repeats after a restart what was in flight or never sent', async () => {
    const inbox = new Inbox();
    inbox.answer = () => new Promise(() => {});
    const scene = await open(inbox);
    await scene.submit({ runs: 0 });
    await rest(scene);
    expect(inbox.got).to.have.length(1);
    inbox.answer = () => Promise.resolve(OK);
    await scene.restart();
    await scene.world.advance(7_000);
    await rest(scene);
    expect(inbox.got).to.have.length(2);
    expect(inbox.got[1]).to.deep.equal(inbox.got[0]);
    expect((await scene.api.notifications()).by_status).to.include({ Delivered: 1 });
    await scene.api.close();
  });

  it('sends nothing that is not on disk, and announces the event of a lost group again', async () => {
    const inbox = new Inbox();
    let isHeld = false;
    const scene = await Scene.open({
      notifications: { receivers: [inbox], link: () => undefined },
      beforeWrite: () => (isHeld ? new Promise(() => {}) : Promise.resolve()),
    });
    await scene.register('r');
    const batch = await scene.submit({ runs: 1 });
    await scene.running(batch, 0, 'r');
    isHeld = true;
    void scene.complete(batch, 0, 'r');
    await scene.world.advance(3_000);
    expect(inbox.got).to.deep.equal([]);
    await scene.restart();
    await scene.api.complete(jobId(batch, 0), { runner_id: 'r', attempt: 1, result: RESULT });
    await rest(scene);
    expect(inbox.types).to.deep.equal(['study.ended']);
    await scene.api.close();
  });

  it('makes the message of an event after its group is on disk, so that it shows the state of that group', async () => {
    const inbox = new Inbox();
    let release: (() => void) | undefined;
    let isHeld = false;
    const scene = await Scene.open({
      notifications: { receivers: [inbox], link: () => undefined },
      beforeWrite: () => (isHeld ? new Promise((resolve) => (release = resolve)) : Promise.resolve()),
    });
    await scene.register('r');
    const batch = await scene.submit({ runs: 1 });
    await scene.running(batch, 0, 'r');
    isHeld = true;
    const completed = scene.complete(batch, 0, 'r');
    await scene.world.advance(3_000);
    isHeld = false;
    release?.();
    await completed;
    await rest(scene);
    expect(inbox.got.map((it) => it.message.data.study.status)).to.deep.equal(['Completed']);
    await scene.api.close();
  });

  it('delivers to each receiver on its own, and gives up what waits for a former receiver', async () => {
    const [first, second] = [new Inbox('first'), new Inbox('second')];
    second.answer = () => Promise.resolve({ accepted: false, reason: 'it answered 500' });
    const receivers = [first, second];
    const scene = await Scene.open({ notifications: { receivers, link: () => undefined } });
    await scene.submit({ runs: 0 });
    await rest(scene);
    expect([first.got.length, second.got.length]).to.deep.equal([1, 1]);
    receivers.pop();
    await scene.restart();
    await scene.world.advance(6_000);
    const { by_status, notifications } = await scene.api.notifications();
    expect(by_status).to.deep.equal({ Waiting: 0, Delivering: 0, Delivered: 1, GivenUp: 1 });
    expect(notifications.find((it) => it.status === 'GivenUp')).to.include({
      receiver: null,
      reason: 'its address is not among those of --notify-url any more',
    });
    expect(second.got).to.have.length(1);
    await scene.api.close();
  });

  for (const [count, omitted] of [
    [50, undefined],
    [51, 1],
  ] as const) {
    it(`lists at most 50 requirements in a message: of ${count}, ${omitted ?? 'none'} is left out`, async () => {
      const inbox = new Inbox();
      const scene = await open(inbox);
      await scene.register('r');
      const requirements = Array.from({ length: count }, (_, at) => ({ ...REQUIREMENT, name: `q${at}` }));
      const batch = await scene.submit({ runs: 1, requirements });
      await execute(scene, batch, 1);
      await scene.world.advance(2_000);
      await rest(scene);
      const { data } = inbox.got.at(-1)!.message;
      expect(data.requirements).to.have.length(50);
      expect(data.requirements_omitted).to.equal(omitted);
      await scene.api.close();
    });
  }

  it('keeps at most a thousand waiting, drops further events, and says so', async () => {
    const inbox = new Inbox();
    inbox.answer = () => Promise.resolve({ accepted: false, reason: 'it answered 500' });
    const scene = await open(inbox);
    for (let n = 0; n < MOST_WAITING + 3; n += 1) await scene.submit({ runs: 0 });
    await rest(scene);
    const { gte, lt } = allOf('notification');
    const stored = [...scene.store.disk.keys()].filter((key) => key >= gte && key < lt);
    expect(stored).to.have.length(MOST_WAITING);
    expect(scene.api.parts.statistics.getSnapshot().context.totals.notifications).to.include({ dropped: 3 });
    await scene.api.close();
  });

  it('announces nothing and watches nothing without a receiver', async () => {
    const scene = await Scene.open();
    await scene.submit({ runs: 0 });
    const blocked = await scene.submit({ runs: 1 });
    await scene.world.advance(10 * BLOCKED_DWELL_MS);
    expect([...scene.store.disk.keys()].filter((key) => key.startsWith('!notification!'))).to.deep.equal([]);
    expect(scene.store.get(keys.batch(blocked))).not.to.contain('blockedAtMs');
    expect((await scene.api.notifications()).receivers).to.deep.equal([]);
    await scene.api.close();
  });

  it('sends what is left of a study that was deleted before its first request', async () => {
    const inbox = new Inbox();
    inbox.answer = () => Promise.resolve({ accepted: false, reason: 'it answered 500' });
    const scene = await open(inbox);
    // Four are sent at once; the fifth waits for its turn.
    for (let n = 0; n < 4; n += 1) {
      inbox.answer = () => new Promise(() => {});
      await scene.submit({ runs: 0 });
    }
    const last = await scene.submit({ name: 'gone', runs: 0 });
    await scene.api.deleteBatch(last);
    inbox.answer = () => Promise.resolve(OK);
    await scene.restart();
    await scene.world.advance(8_000);
    await rest(scene);
    const message = inbox.got.find((it) => it.eventId === `${last}.ended`)?.message;
    expect(message?.data.study).to.deep.equal({ id: last, name: 'gone', status: null });
    expect(message?.data.text).to.equal('study "gone" has ended and was deleted since');
    await scene.api.close();
  });

  describe('a blocked study', () => {
    it('is announced once after the dwell time, and again only after it was not blocked for that time', async () => {
      const inbox = new Inbox();
      const scene = await open(inbox);
      const batch = await scene.submit({ name: 'stuck', runs: 1 });
      await scene.world.advance(BLOCKED_DWELL_MS - 1_000);
      expect(inbox.types).to.deep.equal([]);
      await scene.world.advance(30_000);
      expect(inbox.types).to.deep.equal(['study.blocked']);
      expect(inbox.got[0]?.message.data).to.deep.include({
        finding: {
          code: 'no-runner',
          message: 'no runner has registered',
          remedy: 'start one with `simbatch runner`',
        },
      });
      await scene.world.advance(10 * BLOCKED_DWELL_MS);
      expect(inbox.got).to.have.length(1);
      await scene.restart();
      await scene.world.advance(10 * BLOCKED_DWELL_MS);
      expect(inbox.got, 'after a restart').to.have.length(1);
      // A runner for half the dwell time, again and again.
      await scene.register('r');
      for (let n = 0; n < 5; n += 1) {
        await withHeartbeats(scene, BLOCKED_DWELL_MS / 2);
        await scene.api.drain('r');
        await withHeartbeats(scene, BLOCKED_DWELL_MS / 2);
        await scene.api.resume('r');
      }
      expect(inbox.got, 'while it flaps').to.have.length(1);
      await withHeartbeats(scene, 2 * BLOCKED_DWELL_MS);
      expect(scene.store.get(keys.batch(batch))).not.to.contain('blockedAtMs');
      await scene.api.drain('r');
      await withHeartbeats(scene, 2 * BLOCKED_DWELL_MS);
      expect(inbox.got.map((it) => it.message.data.finding?.code)).to.deep.equal(['no-runner', 'all-drained']);
      expect(new Set(inbox.got.map((it) => it.eventId)).size).to.equal(2);
      await scene.api.close();
    });

    it('is looked at again after a look that failed, which is reported unless the coordinator stops', async () => {
      const reported: unknown[] = [];
      const looks: string[] = [];
      const scene = await Scene.open();
      const batch = await scene.submit({ runs: 1 });
      const clock = scene.world;
      const failures = [new Error('broken'), new SimbatchError('unavailable', 'it stops'), new Error('broken again')];
      const watch = new BlockedStudies({
        clock,
        share: {
          paced: async function* <T>(items: Iterable<T>) {
            yield* items;
          },
        },
        openBatches: () => scene.api.parts.scheduler.openBatches(),
        findings: async (batchId: string) => {
          looks.push(batchId);
          throw failures[looks.length - 1]!;
        },
        failed: (error: unknown) => reported.push(error),
      } as unknown as ConstructorParameters<typeof BlockedStudies>[0]);
      for (let look = 0; look < 3; look += 1) {
        watch.tick();
        await settled();
        await clock.advance(10_000);
      }
      await watch.stop();
      await scene.api.close();
      expect(looks).to.deep.equal([batch, batch, batch]);
      expect(reported).to.deep.equal([failures[0], failures[2]]);
    });

    it('is not announced while a person has paused it', async () => {
      const inbox = new Inbox();
      const scene = await open(inbox);
      const batch = await scene.submit({ runs: 1 });
      await scene.api.pauseBatch(batch);
      await scene.world.advance(10 * BLOCKED_DWELL_MS);
      expect(inbox.types).to.deep.equal([]);
      await scene.api.close();
    });
  });
});

/**
 * Notifications under seeded faults: whatever crashes, each end of a study that is on disk reaches its receiver, none does before
 * it is on disk, and repeats are equal. Injected bugs are found.
 */
import { expect } from 'chai';
import { assign } from 'xstate';
import type { NotificationContext } from '../../machines/notification/context.ts';
import { notificationMachine } from '../../machines/notification/notification.ts';
import { ACTOR_KINDS } from '../../src/coordinator/kernel/actors/actor-kinds.ts';
import type { NotificationOutcome, NotificationReceiver } from '../../src/coordinator/notifications/receivers.ts';
import { allOf } from '../../src/coordinator/kernel/storage/keys.ts';
import { WIRING } from '../../src/coordinator/kernel/turn/wiring.ts';
import type { Interpreter } from '../../src/base/interpreters/interpreters.ts';
import { study } from '../support/studies.ts';
import { insist } from './acknowledged.ts';
import { itFinds, replaced, type SoughtBug } from './finds.ts';
import { SimRunner } from './runners.ts';
import { finish, Stage, type Bug } from './scenario.ts';
import { Dice } from './world.ts';

const SEEDS = Number(process.env.SIM_SEEDS ?? 75);
const COMPARED_SEEDS = 30;
/** In steps of 10 s: longer than the wait after the last failure of a receiver that fails at most so often in a row. */
const STEPS_TO_DELIVER = 400;

/** A receiver that refuses, is slow, or takes a message and does not answer. */
class SimReceiver implements NotificationReceiver {
  readonly id = 'receiver';
  readonly label = 'http://receiver.example';
  readonly got = new Map<string, string>();
  readonly #dice: Dice;
  readonly #disk: ReadonlyMap<string, string>;
  isReliable = false;
  refused = 0;
  repeated = 0;

  constructor(seed: number, disk: ReadonlyMap<string, string>) {
    // Dice of its own, which crashes of the coordinator do not disturb.
    this.#dice = new Dice(seed + 1_000_003);
    this.#disk = disk;
  }

  send({ eventId, body }: { eventId: string; body: string }): Promise<NotificationOutcome> {
    const batchId = eventId.slice(0, eventId.indexOf('.'));
    const record = this.#disk.get(`!batch!${batchId}`);
    insist(record !== undefined, () => `${eventId} was announced, and its study is not on disk`);
    const isEnded = /^\{"value":"(?:Completed|Failed|Cancelled)"/.test(record);
    if (eventId.endsWith('.ended')) insist(isEnded, () => `${eventId} was announced before the end is on disk`);
    const kind = this.isReliable ? 0 : this.#dice.int(4);
    if (kind === 1) {
      this.refused += 1;
      return Promise.resolve({ accepted: false, reason: 'it answered 503' });
    }
    const before = this.got.get(eventId);
    if (before !== undefined) this.repeated += 1;
    insist(before === undefined || before === body, () => `${eventId} was repeated with another body`);
    this.got.set(eventId, body);
    return kind === 2 ? new Promise(() => {}) : Promise.resolve({ accepted: true });
  }
}

interface End {
  disk: Record<string, string>;
  delivered: number;
  refused: number;
  repeated: number;
  crashes: number;
}

async function play(seed: number, bug: Bug = {}, interpreter: Interpreter = 'compiled'): Promise<End> {
  const stage = new Stage(seed, bug, interpreter);
  const receiver = new SimReceiver(seed, stage.disk);
  stage.notifications = { receivers: [receiver], link: () => undefined };
  const { dice } = stage;
  await stage.begin();
  const runners = [0, 1].map((at) => new SimRunner(stage, `r${at}`));
  for (let step = 0; step < 60; step += 1) {
    if (dice.chance(0.15)) {
      const key = { idempotencyKey: `key ${step}`, bodyDigest: `key ${step}` };
      stage.follow('submit', stage.api.submit(study({ runs: dice.int(4) }), key), [], {});
    }
    const open = stage.unfinished();
    if (open.length > 0 && dice.chance(0.1))
      stage.follow('cancel', stage.api.cancelBatch(dice.pick(open) ?? ''), ['illegal-transition'], {});
    for (const runner of runners) if (dice.chance(0.6)) runner.act();
    if (dice.chance(0.08)) await stage.restart();
    else await stage.step(dice.chance(0.1) ? dice.int(90_000) : dice.int(4_000));
  }
  await finish(stage);
  receiver.isReliable = true;
  const ended = stage.batches.filter((id) => !stage.unfinished().includes(id));
  const missing = (): string | undefined =>
    ended.find((id) => !receiver.got.has(`${id}.ended`)) ?? notOver(stage.disk)[0];
  for (let step = 0; missing() !== undefined; step += 1) {
    insist(step < STEPS_TO_DELIVER, () => `the end of ${String(missing())} is on disk and was not delivered`);
    await stage.step(10_000);
  }
  for (const [id, body] of receiver.got) {
    const batchId = id.slice(0, id.indexOf('.'));
    insist(body.includes(batchId), () => `${id} is about another study`);
  }
  const { refused, repeated } = receiver;
  return {
    disk: Object.fromEntries(stage.disk),
    delivered: receiver.got.size,
    refused,
    repeated,
    crashes: stage.tally.crashes,
  };
}

/** The notifications on disk that are neither delivered nor given up. */
function notOver(disk: ReadonlyMap<string, string>): string[] {
  const { gte, lt } = allOf('notification');
  return [...disk]
    .filter(([key, record]) => key >= gte && key < lt && /"(?:Waiting|Delivering)"/.test(record))
    .map(([key]) => key);
}

/** The machine's own action, with another body each time. */
const noteAnotherBody = (next: () => number): unknown =>
  assign(({ context }: { context: NotificationContext }) => ({
    attempts: context.attempts + 1,
    body: `{"id":"${context.batchId}","made":${String(next())}}`,
    answerByMs: context.retryAtMs + 30_000,
  }));

const BUGS: (SoughtBug & { bug?: Bug })[] = [
  {
    name: 'a notification is not written',
    bug: { written: (key, value) => (key.startsWith('!notification!') ? undefined : value) },
    says: /is on disk and was not delivered/,
  },
  {
    name: 'a request in flight is forgotten at a restart',
    patch: () => replaced(ACTOR_KINDS.notification, 'deadline', () => undefined),
    says: /is on disk and was not delivered/,
  },
  {
    name: 'the deadline of an answer is not handled',
    patch: () => replaced(WIRING, 'deadline.passed', []),
    says: /was not delivered|do not come to their end|has not ended/,
  },
  {
    name: 'a notification is given up after its first failure',
    patch: () => replaced(notificationMachine.implementations.guards, 'isLastRequest', () => true),
    says: /is on disk and was not delivered/,
  },
  {
    name: 'the message is made anew for each request',
    patch: () => {
      let made = 0;
      return replaced(
        notificationMachine.implementations.actions,
        'noteRequest',
        noteAnotherBody(() => (made += 1)),
      );
    },
    says: /was repeated with another body/,
  },
];

describe('sim/notifications', () => {
  it(`delivers every end of a study that is on disk, after it is on disk, in ${SEEDS} scenarios with faults`, async function () {
    this.timeout(0);
    const sum = { delivered: 0, refused: 0, repeated: 0, crashes: 0 };
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const end = await play(seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      });
      for (const name of ['delivered', 'refused', 'repeated', 'crashes'] as const) sum[name] += end[name];
    }
    // Scenarios without faults would prove nothing.
    expect(sum.delivered).to.be.above(SEEDS);
    expect(sum.refused).to.be.above(SEEDS);
    expect(sum.repeated).to.be.above(SEEDS / 10);
    expect(sum.crashes).to.be.above(SEEDS);
  });

  it(`leaves the same records with either interpreter of the machines in ${Math.min(SEEDS, COMPARED_SEEDS)} scenarios`, async function () {
    this.timeout(0);
    for (let seed = 1; seed <= Math.min(SEEDS, COMPARED_SEEDS); seed += 1) {
      expect(await play(seed, {}, 'xstate'), `seed ${seed}`).to.deep.equal(await play(seed));
    }
  });

  for (const bug of BUGS) itFinds(bug, SEEDS, (seed) => play(seed, bug.bug));
});

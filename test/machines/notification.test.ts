/** The notification machine: its transition table as text, its back-off, its deadlines and its restart. */
import { expect } from 'chai';
import { getInitialSnapshot, getNextSnapshot } from 'xstate';
import { KINDS } from '../../machines/kinds.ts';
import {
  newNotification,
  notificationDeadline,
  retryDelayMs,
  type NotificationContext,
} from '../../machines/notification/context.ts';
import type { NotificationEvent, NotificationFact } from '../../machines/notification/events.ts';
import { notificationMachine } from '../../machines/notification/notification.ts';
import { NOTIFICATION_STATUSES } from '../../src/contract/enums.ts';
import { expectTable, type Exercise } from '../support/transition-table.ts';

const NOW = 1_000_000_000;
const DAY = 86_400_000;
const INPUT = {
  notificationId: 'b.ended.r',
  receiver: 'r',
  eventId: 'b.ended',
  eventType: 'study.ended',
  batchId: 'b',
  study: 'a study',
  now: NOW,
} as const;

const at = (value: string, changes: Partial<NotificationContext> = {}) =>
  notificationMachine.resolveState({ value, context: { ...newNotification(INPUT), ...changes } });

const EVENTS: Readonly<Record<string, NotificationEvent>> = {
  SEND: { type: 'SEND', body: '{}', now: NOW + 1 },
  'SEND [after its end]': { type: 'SEND', body: '{}', now: NOW + DAY },
  ACCEPTED: { type: 'ACCEPTED', now: NOW + 2 },
  REJECTED: { type: 'REJECTED', reason: 'it answered 500', now: NOW + 2 },
  'REJECTED [too late for another]': { type: 'REJECTED', reason: 'it answered 500', now: NOW + DAY - 1 },
  'NO_ANSWER [early]': { type: 'NO_ANSWER', now: NOW + 2 },
  NO_ANSWER: { type: 'NO_ANSWER', now: NOW + 30_001 },
  'NO_ANSWER [too late for another]': { type: 'NO_ANSWER', now: NOW + DAY - 1 },
  'EXPIRE [early]': { type: 'EXPIRE', now: NOW + DAY - 1 },
  EXPIRE: { type: 'EXPIRE', now: NOW + DAY },
  WITHDRAW: { type: 'WITHDRAW', reason: 'not configured', now: NOW + 1 },
};

const exercise: Exercise = {
  machine: notificationMachine,
  fact: (it: NotificationFact) =>
    [it.type.replace('notification.', ''), it.attempts, ...(it.reason === undefined ? [] : [it.reason])].join(' '),
  fields: ['attempts', 'body', 'retryAtMs', 'answerByMs', 'endedAtMs'],
  events: EVENTS,
  states: {
    Waiting: at('Waiting'),
    'Waiting, failed once': at('Waiting', { attempts: 1, body: 'first', retryAtMs: NOW + 5_000, reason: 'before' }),
    Delivering: at('Delivering', { attempts: 1, body: 'first', answerByMs: NOW + 30_001 }),
    Delivered: at('Delivered'),
    GivenUp: at('GivenUp'),
  },
};

describe('machines/notification', () => {
  it('takes exactly these events', () => {
    expectTable(
      exercise,
      `
      Waiting              | SEND                             | Delivering | -                                 | attempts+1, body set, answerByMs set
      Waiting              | EXPIRE                           | GivenUp    | given-up 0                        | endedAtMs set
      Waiting              | WITHDRAW                         | GivenUp    | given-up 0 not configured         | endedAtMs set
      Waiting, failed once | EXPIRE                           | GivenUp    | given-up 1 before                 | body cleared, endedAtMs set
      Waiting, failed once | WITHDRAW                         | GivenUp    | given-up 1 not configured         | body cleared, endedAtMs set
      Delivering           | ACCEPTED                         | Delivered  | delivered 1                       | body cleared, answerByMs cleared, endedAtMs set
      Delivering           | REJECTED                         | Waiting    | failed 1 it answered 500          | retryAtMs changed, answerByMs cleared
      Delivering           | REJECTED [too late for another]  | GivenUp    | given-up 1 it answered 500        | body cleared, answerByMs cleared, endedAtMs set
      Delivering           | NO_ANSWER                        | Waiting    | failed 1 no answer is known: the coordinator was restarted during the request   | retryAtMs changed, answerByMs cleared
      Delivering           | NO_ANSWER [too late for another] | GivenUp    | given-up 1 no answer is known: the coordinator was restarted during the request | body cleared, answerByMs cleared, endedAtMs set
      # Delivered and GivenUp take nothing.
      `,
    );
  });

  it('repeats the first body and doubles its wait up to half an hour, until a day has passed', () => {
    let it = getInitialSnapshot(notificationMachine, INPUT);
    const waits: number[] = [];
    const send = (event: NotificationEvent): void => void (it = getNextSnapshot(notificationMachine, it, event));
    for (let n = 1; it.value === 'Waiting'; n += 1) {
      const now = it.context.retryAtMs;
      send({ type: 'SEND', body: `body ${String(n)}`, now });
      expect(it.context.body).to.equal('body 1');
      send({ type: 'REJECTED', reason: 'x'.repeat(1000), now });
      if (it.value === 'Waiting') waits.push(it.context.retryAtMs - now);
    }
    expect(it.value).to.equal('GivenUp');
    expect(waits.slice(0, 11)).to.deep.equal(
      [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 1_800, 1_800].map((secs) => secs * 1_000),
    );
    expect(it.context.endedAtMs).to.be.within(NOW + DAY - 1_800_000, NOW + DAY);
    expect(it.context.attempts).to.equal(waits.length + 1);
    expect(it.context.reason?.length).to.equal(300);
    expect(retryDelayMs(1e6)).to.equal(1_800_000);
  });

  it('has the end of its day as its deadline, and the answer while a request is in flight', () => {
    const context = newNotification(INPUT);
    expect(notificationDeadline('Waiting', context)).to.deep.equal({ kind: 'expiry', atMs: NOW + DAY });
    const sent = { ...context, answerByMs: NOW + 30_000 };
    expect(notificationDeadline('Delivering', sent)).to.deep.equal({ kind: 'answer', atMs: NOW + 30_000 });
    for (const value of ['Delivered', 'GivenUp']) expect(notificationDeadline(value, context)).to.equal(undefined);
  });

  it('counts a request that was in flight at a restart as failed at once', () => {
    const context = { ...newNotification(INPUT), attempts: 1, answerByMs: NOW + 30_000 };
    const revived = KINDS.notification.revive({ value: 'Delivering', context }, NOW + 10);
    expect(KINDS.notification.deadline(revived)).to.deep.equal({ kind: 'answer', atMs: NOW + 10 });
    const waiting = { value: 'Waiting' as const, context };
    expect(KINDS.notification.revive(waiting, NOW + 10)).to.deep.equal(waiting);
  });

  it('is over once it is Delivered or GivenUp', () => {
    expect(NOTIFICATION_STATUSES.filter((it) => KINDS.notification.terminal.has(it))).to.deep.equal([
      'Delivered',
      'GivenUp',
    ]);
    expect(Object.keys(notificationMachine.states).toSorted()).to.deep.equal([...NOTIFICATION_STATUSES].toSorted());
  });
});

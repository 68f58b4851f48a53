/** Scenarios of the notification machine: rows of events. */
import type { NotificationEvent } from '../../../machines/notification/events.ts';
import type { ScenarioPlan } from './scenarios.ts';

const T0 = Date.UTC(2026, 0, 1);
const BATCH = '019b76da-a800-8a1b-8c2d-3e4f00000000';
const RECEIVER = '0123456789abcdef';
const at = (seconds: number): number => T0 + seconds * 1_000;
const DAY = 86_400;

const notification = (name: string, about: string, ...events: (NotificationEvent | number)[]): ScenarioPlan => ({
  name: `notification-${name}`,
  about,
  machine: 'notification',
  input: {
    notificationId: `${BATCH}.ended.${RECEIVER}`,
    receiver: RECEIVER,
    eventId: `${BATCH}.ended`,
    eventType: 'study.ended',
    batchId: BATCH,
    study: 'recorded',
    now: T0,
  },
  events,
});

const send = (second: number): NotificationEvent => ({ type: 'SEND', body: '{"type":"study.ended"}', now: at(second) });
const rejected = (second: number, reason: string): NotificationEvent => ({ type: 'REJECTED', reason, now: at(second) });

export const NOTIFICATIONS: readonly ScenarioPlan[] = [
  notification('delivered', 'Its receiver accepts the first request.', send(0), { type: 'ACCEPTED', now: at(1) }),
  notification(
    'repeated',
    'Two requests fail, each wait is twice as long, and a request before its time is refused.',
    send(0),
    rejected(1, 'it answered 503'),
    send(2),
    send(6),
    rejected(16, 'it did not answer within 10 s'),
    send(26),
    { type: 'ACCEPTED', now: at(27) },
  ),
  notification(
    'restarted',
    'The coordinator is restarted during a request: of its answer nothing is known, and it is repeated.',
    send(0),
    at(3),
    { type: 'NO_ANSWER', now: at(3) },
    send(8),
    { type: 'ACCEPTED', now: at(9) },
  ),
  notification(
    'given-up',
    'A day has passed without an answer.',
    send(0),
    rejected(1, 'it cannot be reached: ECONNREFUSED'),
    { type: 'EXPIRE', now: at(DAY) - 1 },
    { type: 'EXPIRE', now: at(DAY) },
  ),
  notification('withdrawn', 'Its receiver is not configured any more.', {
    type: 'WITHDRAW',
    reason: 'its address is not among those of --notify-url any more',
    now: at(5),
  }),
];

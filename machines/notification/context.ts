/** The context of a notification: its data, its back-off and its deadlines. Pure. */
import type { ContextOf, NotificationRecord } from '../../src/contract/types.ts';
import type { Deadline } from '../deadline.ts';

/** A notification that is not delivered by then is given up. */
export const NOTIFICATION_LIFETIME_MS = 24 * 3_600_000;
/** A request of which nothing is known after this time counts as failed. */
export const ANSWER_TIMEOUT_MS = 30_000;
/** The first wait after a failure; each further one is twice as long. */
const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 1_800_000;
/** Reasons are for people, and come in part from receivers. */
const MAX_REASON = 300;

export interface NotificationInput {
  notificationId: string;
  receiver: string;
  eventId: string;
  eventType: NotificationContext['eventType'];
  batchId: string;
  study: string;
  settled?: readonly string[];
  finding?: NotificationContext['finding'];
  now: number;
}

export interface NotificationContext extends ContextOf<NotificationRecord> {}

export const newNotification = ({ now, ...input }: NotificationInput): NotificationContext => ({
  ...input,
  settled: input.settled === undefined ? undefined : [...input.settled],
  finding: input.finding,
  createdAtMs: now,
  expiresAtMs: now + NOTIFICATION_LIFETIME_MS,
  attempts: 0,
  retryAtMs: now,
  answerByMs: undefined,
  body: undefined,
  reason: undefined,
  endedAtMs: undefined,
});

/** The wait after the n-th failed request, n from 1: 5 s, doubled each time, at most half an hour. */
export const retryDelayMs = (attempts: number): number =>
  Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 20));

export const bounded = (reason: string): string =>
  reason.length <= MAX_REASON ? reason : `${reason.slice(0, MAX_REASON - 1)}…`;

/** The end of the lifetime; for a request in flight, the time at which it counts as failed. */
export function notificationDeadline(value: string, context: NotificationContext): Deadline | undefined {
  if (value === 'Waiting') return { kind: 'expiry', atMs: context.expiresAtMs };
  if (value === 'Delivering') return { kind: 'answer', atMs: context.answerByMs ?? context.createdAtMs };
  return undefined;
}

/** After a restart an open request counts as failed at once: no part of the coordinator waits for its answer. */
export const reviveNotification = (value: string, context: NotificationContext, now: number): NotificationContext =>
  value === 'Delivering' ? { ...context, answerByMs: now } : context;

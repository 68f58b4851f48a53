/** The notification machine: one event of a study for one receiver, until it is delivered or given up after a day. Pure. */
import { assign, emit, setup, type SnapshotFrom } from 'xstate';
import {
  ANSWER_TIMEOUT_MS,
  bounded,
  newNotification,
  retryDelayMs,
  type NotificationContext,
  type NotificationInput,
} from './context.ts';
import type { NotificationEvent, NotificationFact } from './events.ts';

const NO_ANSWER = 'no answer is known: the coordinator was restarted during the request';

const reasonOf = (event: NotificationEvent): string | undefined => {
  if (event.type === 'NO_ANSWER') return NO_ANSWER;
  return 'reason' in event ? bounded(event.reason) : undefined;
};

const fact = (
  type: NotificationFact['type'],
  { notificationId, receiver, attempts, reason }: NotificationContext,
  { now }: NotificationEvent,
): NotificationFact => ({
  type,
  notificationId,
  receiver,
  attempts,
  ...(reason === undefined || type === 'notification.delivered' ? {} : { reason }),
  now,
});

/** A failed request is repeated, unless its time would be after the end of the lifetime. */
const failed = [
  { guard: 'isLastRequest', target: 'GivenUp', actions: ['noteReason', 'end', 'emitGivenUp'] },
  { target: 'Waiting', actions: ['noteReason', 'postpone', 'emitFailed'] },
] as const;

export const notificationMachine = setup({
  types: {
    context: {} as NotificationContext,
    events: {} as NotificationEvent,
    emitted: {} as NotificationFact,
    input: {} as NotificationInput,
  },
  guards: {
    isDue: ({ context, event }) => event.now >= context.retryAtMs && event.now < context.expiresAtMs,
    isExpired: ({ context, event }) => event.now >= context.expiresAtMs,
    isLate: ({ context, event }) => event.now >= (context.answerByMs ?? 0),
    isLateAndLast: ({ context: c, event }) =>
      event.now >= (c.answerByMs ?? 0) && event.now + retryDelayMs(c.attempts) >= c.expiresAtMs,
    isLastRequest: ({ context: c, event }) => event.now + retryDelayMs(c.attempts) >= c.expiresAtMs,
  },
  actions: {
    noteRequest: assign(({ context: c, event }) =>
      event.type === 'SEND'
        ? { attempts: c.attempts + 1, body: c.body ?? event.body, answerByMs: event.now + ANSWER_TIMEOUT_MS }
        : {},
    ),
    noteReason: assign(({ context, event }) => ({ reason: reasonOf(event) ?? context.reason })),
    postpone: assign(({ context, event }) => ({
      retryAtMs: event.now + retryDelayMs(context.attempts),
      answerByMs: undefined,
    })),
    /** The message is not needed any more; what is kept is its outcome. */
    end: assign(({ event }) => ({ endedAtMs: event.now, answerByMs: undefined, body: undefined })),
    clearReason: assign({ reason: undefined }),
    emitDelivered: emit(({ context, event }) => fact('notification.delivered', context, event)),
    emitFailed: emit(({ context, event }) => fact('notification.failed', context, event)),
    emitGivenUp: emit(({ context, event }) => fact('notification.given-up', context, event)),
  },
}).createMachine({
  id: 'notification',
  initial: 'Waiting',
  context: ({ input }) => newNotification(input),
  states: {
    Waiting: {
      description: 'It is on disk, and waits for its first attempt or its next one.',
      on: {
        SEND: { guard: 'isDue', target: 'Delivering', actions: 'noteRequest' },
        EXPIRE: { guard: 'isExpired', target: 'GivenUp', actions: ['end', 'emitGivenUp'] },
        WITHDRAW: { target: 'GivenUp', actions: ['noteReason', 'end', 'emitGivenUp'] },
      },
    },
    Delivering: {
      description: 'A request with it is on its way.',
      on: {
        ACCEPTED: { target: 'Delivered', actions: ['clearReason', 'end', 'emitDelivered'] },
        REJECTED: [...failed],
        NO_ANSWER: [
          { ...failed[0], guard: 'isLateAndLast' },
          { ...failed[1], guard: 'isLate' },
        ],
      },
    },
    Delivered: { type: 'final', description: 'Its receiver has accepted it.' },
    GivenUp: {
      type: 'final',
      description: 'Its receiver did not accept it in time, or it was withdrawn.',
    },
  },
});

export type NotificationSnapshot = SnapshotFrom<typeof notificationMachine>;

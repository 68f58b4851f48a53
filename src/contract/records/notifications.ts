/** The record of a notification: one event of a study for one receiver, as the store holds it. */
import { Type, type Static } from 'typebox';
import { enumOf, text } from '../build.ts';
import { NOTIFICATION_STATUSES, NOTIFICATION_TYPES } from '../enums.ts';
import { BATCH_ID_PATTERN } from '../patterns.ts';
import { storedCount as count, storedTime as time } from '../members/member-schemas.ts';

export const NotificationRecord = Type.Object({
  value: enumOf(NOTIFICATION_STATUSES, 'The status.'),
  notificationId: text('Event and receiver.'),
  receiver: text('Digest of the address of the receiver, which may itself be a secret.'),
  eventId: text('The event; the same for each receiver.'),
  eventType: enumOf(NOTIFICATION_TYPES, 'What happened.'),
  batchId: Type.String({ pattern: BATCH_ID_PATTERN }),
  study: text('Name of the study.'),
  settled: Type.Optional(Type.Array(Type.String(), { description: 'The requirements that were settled.' })),
  finding: Type.Optional(
    Type.Object(
      { code: Type.String(), message: Type.String(), remedy: Type.String() },
      { description: 'The finding that blocks the study.' },
    ),
  ),
  createdAtMs: { ...time, description: 'When it happened.' },
  expiresAtMs: { ...time, description: 'When it is given up.' },
  attempts: { ...count, description: 'Requests so far.' },
  retryAtMs: { ...time, description: 'The earliest time of the next request.' },
  answerByMs: Type.Optional({ ...time, description: 'When the request in flight counts as failed.' }),
  body: Type.Optional(text('The message, from the first request to the end.')),
  reason: Type.Optional(text('Why the latest request failed.')),
  endedAtMs: Type.Optional({ ...time, description: 'When it was delivered or given up.' }),
});
export interface NotificationRecord extends Static<typeof NotificationRecord> {}

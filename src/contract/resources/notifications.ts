/** Notifications of events of studies: the message that receivers get, and their state. */
import { Type, type Static } from 'typebox';
import { answered, enumOf, flag, listOf, mapOf, named, nullable, ref, text } from '../build.ts';
import { BATCH_STATUSES, NOTIFICATION_STATUSES, NOTIFICATION_TYPES, VERDICTS } from '../enums.ts';
import { count, timestamp, uuid } from '../scalars.ts';
import { probability } from '../answers/header.ts';

const eventId = text('The event. Each request for it has this id: a receiver that has it ignores the request.');

export const NotifiedVerdict = named(
  'NotifiedVerdict',
  'The verdict on a requirement, in short.',
  answered({
    name: text('Its name.'),
    verdict: enumOf(VERDICTS, 'The verdict.'),
    settled: nullable(enumOf(['certain', 'sequential'], 'How it was settled while runs are open.')),
    passed: count('Runs that pass.'),
    failed: count('Runs that fail.'),
    unknown: count('Runs that count against either verdict.'),
    probability: probability('The probability that is required.'),
    confidence: probability('The confidence of the verdict.'),
    lower: probability('One-sided exact bound.'),
    upper: probability('One-sided exact bound.'),
  }),
);
export type NotifiedVerdict = Static<typeof NotifiedVerdict>;

export const StudyNotification = named(
  'StudyNotification',
  'The body of a request to a webhook.',
  answered({
    type: enumOf(
      NOTIFICATION_TYPES,
      '`study.settled`: requirements were settled. `study.ended`: it is Completed, Failed or Cancelled. `study.blocked`: no pending run can start until a person acts.',
    ),
    timestamp: timestamp('When it happened.'),
    data: answered(
      {
        event_id: eventId,
        text: text('The event in one sentence.'),
        study: answered(
          {
            id: uuid('The batch.'),
            name: text('Its name.'),
            status: nullable(enumOf(BATCH_STATUSES, 'Its status; null when it was deleted since.')),
            jobs_by_status: Type.Optional(mapOf(count('Number of runs.'), { description: 'Runs by status.' })),
            total_jobs: Type.Optional(count('Its number of runs.')),
            created_at: Type.Optional(timestamp('When it was submitted.')),
            ended_at: Type.Optional(timestamp('When it ended.')),
            cancel_reason: Type.Optional(text('Why it was cancelled.')),
          },
          'The study when the message was made.',
        ),
        settled: Type.Optional(listOf(Type.String(), 'Names of the requirements that were settled.')),
        finding: Type.Optional(
          answered(
            {
              code: text('As in the findings of the study.'),
              message: text('What is found.'),
              remedy: text('An action that removes the cause.'),
            },
            'The finding that blocks it.',
          ),
        ),
        requirements: Type.Optional(
          listOf(
            ref(NotifiedVerdict),
            'The verdicts when the message was made, at most 50; absent without requirements.',
          ),
        ),
        requirements_omitted: Type.Optional(count('Further requirements.')),
        verdicts_missing: Type.Optional(flag('True when the verdicts could not be judged in time.')),
        link: Type.Optional(text('The page of the study in the dashboard.')),
      },
      'The event.',
    ),
  }),
);
export type StudyNotification = Static<typeof StudyNotification>;

export const StudyNotificationState = named(
  'StudyNotificationState',
  'A notification: one event for one receiver.',
  answered({
    event_id: eventId,
    type: enumOf(NOTIFICATION_TYPES, 'What happened.'),
    batch_id: uuid('The batch.'),
    name: text('Its name.'),
    receiver: nullable(text('Host of the receiver; null when it is not configured any more.')),
    status: enumOf(
      NOTIFICATION_STATUSES,
      '`Waiting` for its next request, `Delivering`, `Delivered`, or `GivenUp` after a day.',
    ),
    attempts: count('Requests so far.'),
    created_at: timestamp('When it happened.'),
    next_attempt_at: Type.Optional(timestamp('The time of the next request.')),
    given_up_at: Type.Optional(timestamp('When it is given up.')),
    ended_at: Type.Optional(timestamp('When it was delivered or given up.')),
    reason: Type.Optional(text('Why the latest request failed.')),
  }),
);
export type StudyNotificationState = Static<typeof StudyNotificationState>;

export const NotificationList = named(
  'NotificationList',
  'The latest notifications.',
  answered({
    receivers: listOf(Type.String(), 'Hosts of the receivers; empty when none is configured.'),
    by_status: mapOf(count('Number of notifications.'), {
      description: 'All notifications by status; those that ended are kept for a day.',
    }),
    notifications: listOf(ref(StudyNotificationState), 'At most 200: those that wait first, then the newest.'),
  }),
);
export type NotificationList = Static<typeof NotificationList>;

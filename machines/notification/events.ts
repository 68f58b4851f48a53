/** The events that a notification takes, and the facts that it emits. No behaviour here. */

export type NotificationEvent =
  /** The request is sent after this event is on disk. `body`: the message, which later requests repeat. */
  | { type: 'SEND'; body: string; now: number }
  /** The receiver has accepted the message. */
  | { type: 'ACCEPTED'; now: number }
  /** The receiver has refused it, or was not reached. */
  | { type: 'REJECTED'; reason: string; now: number }
  /** The outcome of the request is not known: the coordinator was restarted, or has lost it. */
  | { type: 'NO_ANSWER'; now: number }
  /** The lifetime of the notification has ended. */
  | { type: 'EXPIRE'; now: number }
  /** The receiver of the notification is no longer configured. */
  | { type: 'WITHDRAW'; reason: string; now: number };

export interface NotificationFact {
  type: 'notification.delivered' | 'notification.failed' | 'notification.given-up';
  notificationId: string;
  receiver: string;
  /** Number of requests so far. */
  attempts: number;
  /** Why the latest request failed; absent of a delivered one. */
  reason?: string;
  now: number;
}

/** The events that a notification takes, and the facts that it emits. No behaviour here. */

export type NotificationEvent =
  /** The request is sent after this event is on disk. `body`: the message, which later requests repeat. */
  | { type: 'SEND'; body: string; now: number }
  /** The receiver has accepted the message. */
  | { type: 'ACCEPTED'; now: number }
  /** The receiver has refused it, or was not reached. */
  | { type: 'REJECTED'; reason: string; now: number }
  /** Nothing is known of the request: the coordinator was restarted, or has lost it. */
  | { type: 'NO_ANSWER'; now: number }
  /** Its lifetime has ended. */
  | { type: 'EXPIRE'; now: number }
  /** Its receiver is not configured any more. */
  | { type: 'WITHDRAW'; reason: string; now: number };

export interface NotificationFact {
  type: 'notification.delivered' | 'notification.failed' | 'notification.given-up';
  notificationId: string;
  receiver: string;
  /** Requests so far. */
  attempts: number;
  /** Why the latest request failed; absent of a delivered one. */
  reason?: string;
  now: number;
}

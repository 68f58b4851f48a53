/** The receivers of notifications, as the coordinator uses them: `webhook.ts` is one over HTTP. No behaviour here. */
import type { Uuid } from '../../contract/types.ts';

/** A message for a receiver. Each request for the same event has the same id and the same body. */
export interface NotificationMessage {
  eventId: string;
  /** The body of the request, as JSON. */
  body: string;
}

export type NotificationOutcome = { accepted: true } | { accepted: false; reason: string };

export interface NotificationReceiver {
  /** A digest of its address, in records and in the ids of notifications. */
  readonly id: string;
  /** The address of the receiver without the parts that may be secret: for the log and the API. */
  readonly label: string;
  /** Sends a message once. Settles within 20 s and never rejects. */
  send(message: NotificationMessage, signal: AbortSignal): Promise<NotificationOutcome>;
}

export interface NotificationSettings {
  receivers: readonly NotificationReceiver[];
  /** The address of the page of a study; undefined where it is not known. */
  link(batchId: Uuid): string | undefined;
}

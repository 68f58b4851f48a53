/** Requests of a viewer on the live feed, parsed from untrusted text. */
import type { Position } from '../../coordinator/feed/feed.ts';

export type LiveRequest =
  | { type: 'subscribe'; topic: string; from: Position | undefined }
  | { type: 'unsubscribe'; topic: string }
  | { type: 'ping' };

/** Returns the request in a message, or its fault. */
export function readRequest(text: string): LiveRequest | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'the message is not JSON';
  }
  if (typeof value !== 'object' || value === null) return 'the message is not an object';
  const { type, topic, from } = value as { type?: unknown; topic?: unknown; from?: unknown };
  if (type === 'ping') return { type };
  if (type !== 'subscribe' && type !== 'unsubscribe') return '`type` must be one of subscribe, unsubscribe, ping';
  if (typeof topic !== 'string' || topic.length > 300) return '`topic` must be a text of at most 300 characters';
  return type === 'subscribe' ? { type, topic, from: readPosition(from) } : { type, topic };
}

/** Returns the position, or undefined for an invalid one: the feed then starts with a full message. */
function readPosition(value: unknown): Position | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { epoch, seq } = value as { epoch?: unknown; seq?: unknown };
  return typeof epoch === 'string' && Number.isSafeInteger(seq) ? { epoch, seq: seq as number } : undefined;
}

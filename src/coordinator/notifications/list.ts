/** The list of notifications, and the sweep of those that ended long ago. */
import type { NotificationList, NotificationStatus, StudyNotificationState } from '../../contract/types.ts';
import { decodeNotification, isTerminalNotification, type NotificationState } from '../kernel/actors/actor-kinds.ts';
import { timestamp } from '../kernel/records/to-resource.ts';
import { allOf } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import type { NotificationReceiver } from './receivers.ts';
import type { Clock } from '../../base/clock.ts';
import type { Turns } from '../kernel/turn/turn.ts';

interface ListParts {
  store: Store;
  share: EventLoopShare;
  receivers: readonly NotificationReceiver[];
}

/** How long a delivered or abandoned notification is listed. */
const KEPT_MS = 24 * 3_600_000;
/** The most that are listed. */
const MOST_LISTED = 200;

const newest = (a: NotificationState, b: NotificationState): number => b.context.createdAtMs - a.context.createdAtMs;

/** The latest notifications, newest first: those that wait before those that have ended. */
export async function notifications(parts: ListParts): Promise<NotificationList> {
  const counts: Record<NotificationStatus, number> = { Waiting: 0, Delivering: 0, Delivered: 0, GivenUp: 0 };
  const open: NotificationState[] = [];
  const ended: NotificationState[] = [];
  const view = parts.store.snapshot();
  try {
    for await (const chunk of view.entries(allOf('notification'))) {
      for await (const [, record] of parts.share.paced(chunk)) {
        const state = decodeNotification(record);
        counts[state.value] += 1;
        const list = isTerminalNotification(state.value) ? ended : open;
        list.push(state);
        if (list.length >= 2 * MOST_LISTED) list.sort(newest).splice(MOST_LISTED);
      }
    }
  } finally {
    await view.close();
  }
  const listed = [...open.sort(newest), ...ended.sort(newest)].slice(0, MOST_LISTED);
  const { receivers } = parts;
  const labels = new Map(receivers.map((it) => [it.id, it.label]));
  return {
    receivers: receivers.map((it) => it.label),
    by_status: counts,
    notifications: listed.map((it) => toResource(it, labels)),
  };
}

function toResource(
  { value, context: c }: NotificationState,
  labels: ReadonlyMap<string, string>,
): StudyNotificationState {
  return {
    event_id: c.eventId,
    type: c.eventType,
    batch_id: c.batchId,
    name: c.study,
    receiver: labels.get(c.receiver) ?? null,
    status: value,
    attempts: c.attempts,
    created_at: timestamp(c.createdAtMs),
    ...(value === 'Waiting' ? { next_attempt_at: timestamp(c.retryAtMs), given_up_at: timestamp(c.expiresAtMs) } : {}),
    ...(c.endedAtMs === undefined ? {} : { ended_at: timestamp(c.endedAtMs) }),
    ...(c.reason === undefined ? {} : { reason: c.reason }),
  };
}

interface SweepParts {
  clock: Clock;
  share: EventLoopShare;
  store: Store;
  turns: Turns;
}

/** Deletes notifications that ended a day ago. */
export async function sweepNotifications(parts: SweepParts): Promise<void> {
  const view = parts.store.snapshot();
  try {
    for await (const chunk of parts.share.paced(view.entries(allOf('notification'), { chunkSize: 200 }))) {
      const before = parts.clock.now() - KEPT_MS;
      const old = chunk.filter(([, record]) => (decodeNotification(record).context.endedAtMs ?? Infinity) < before);
      if (old.length === 0) continue;
      await parts.turns.run('forget-notifications', (turn) => {
        for (const [key] of old) turn.put(key, null);
      });
    }
  } finally {
    await view.close();
  }
}

/**
 * Announces events of studies: creates a notification for each receiver in the turn whose facts say so, so that event and
 * notification are in one group commit.
 */
import type { Fact } from '../../../machines/protocol.ts';
import type { NotificationInput } from '../../../machines/notification/context.ts';
import type { Uuid } from '../../contract/types.ts';
import type { Turn } from '../kernel/turn/turn.ts';
import type { NotificationReceiver } from './receivers.ts';

/** The most notifications that wait at once; further events are dropped, which is logged and counted. */
export const MOST_WAITING = 1_000;

type Announced = Pick<NotificationInput, 'eventId' | 'eventType' | 'batchId' | 'settled' | 'finding'>;

/** The event that a fact announces. Its id follows from the study, so that the same event is never announced twice. */
function eventOf(fact: Fact, turn: Turn): Announced | undefined {
  switch (fact.type) {
    case 'batch.ended':
      return { eventId: endIdOf(fact.batchId, turn), eventType: 'study.ended', batchId: fact.batchId };
    case 'batch.blocked':
      return {
        eventId: `${fact.batchId}.blocked.${String(fact.now)}`,
        eventType: 'study.blocked',
        batchId: fact.batchId,
        finding: fact.finding,
      };
    case 'batch.judged':
      if (fact.settled === undefined) return undefined;
      return {
        eventId: `${fact.batchId}.settled.${String(fact.settled.total)}`,
        eventType: 'study.settled',
        batchId: fact.batchId,
        settled: fact.settled.names,
      };
    default:
      return undefined;
  }
}

/** An extended study ends once more. */
function endIdOf(batchId: Uuid, turn: Turn): string {
  const { extensions = [] } = turn.state('batch', batchId)?.context ?? {};
  return extensions.length === 0 ? `${batchId}.ended` : `${batchId}.ended.${extensions.length}`;
}

/** `waiting`: the number of notifications in memory, those of this turn included. */
export function announce(
  receivers: readonly NotificationReceiver[],
  waiting: () => number,
  facts: readonly Fact[],
  turn: Turn,
): void {
  if (receivers.length === 0) return;
  let isDropped = false;
  for (const fact of facts) {
    const event = eventOf(fact, turn);
    if (event === undefined) continue;
    const study = turn.state('batch', event.batchId)?.context.name ?? '';
    for (const receiver of receivers) {
      const notificationId = `${event.eventId}.${receiver.id}`;
      if (turn.state('notification', notificationId) !== undefined) continue;
      if (waiting() >= MOST_WAITING) {
        isDropped = true;
        turn.emit({ type: 'notification.dropped', notificationId, now: turn.now });
      } else {
        const input = { ...event, notificationId, receiver: receiver.id, study, now: turn.now };
        turn.create('notification', notificationId, input);
      }
    }
  }
  if (isDropped) turn.deliverFacts();
}

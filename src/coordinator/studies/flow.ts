/** The flow of a study: pausing and resuming the assignment of its runs, and releasing the runs after its canary runs. */
import type { BatchEvent } from '../../../machines/protocol.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { Batch, Uuid } from '../../contract/types.ts';
import { toBatch } from '../kernel/records/to-resource.ts';
import { isTerminal } from '../kernel/actors/actor-kinds.ts';
import { once, type Idempotency, type IdempotencyParts } from '../kernel/turn/idempotency.ts';
import { takeBack, type WaitingParts } from '../runs/waiting-runs.ts';
import { byActor } from '../kernel/turn/acting-turns.ts';
import type { Turns } from '../kernel/turn/turn.ts';
import { ledBy } from '../kernel/records/family.ts';
import { batchOrThrow } from '../kernel/records/lookup.ts';

interface FlowParts extends IdempotencyParts, WaitingParts {
  turns: Turns;
}

/** Assigns no new runs until the batch is resumed; running ones continue. */
export const pauseBatch = (parts: FlowParts, batchId: Uuid, reason?: string, repeat?: Idempotency): Promise<Batch> =>
  send(parts, 'pause-batch', batchId, (now) => ({ type: 'PAUSE', reason, now }), repeat);

/** Assigns runs again. */
export const resumeBatch = (parts: FlowParts, batchId: Uuid, repeat?: Idempotency): Promise<Batch> =>
  send(parts, 'resume-batch', batchId, (now) => ({ type: 'RESUME', now }), repeat);

/** Releases the runs after the canary runs. */
export const releaseBatch = (parts: FlowParts, batchId: Uuid, reason?: string, repeat?: Idempotency): Promise<Batch> =>
  send(
    parts,
    'release-batch',
    batchId,
    (now) => ({ type: 'RELEASE', ...(reason !== undefined && { reason }), now }),
    repeat,
  );

/**
 * Sends the event, also to the studies that the batch leads. An open batch that does not take it is in the requested state already, and is
 * returned unchanged.
 */
function send(
  parts: FlowParts,
  operation: string,
  batchId: Uuid,
  eventAt: (now: number) => BatchEvent,
  repeat: Idempotency = {},
): Promise<Batch> {
  return parts.turns.run(operation, (turn) =>
    once(parts, turn, repeat, () => {
      const read = (key: string): string | undefined => turn.read(key);
      const { value, context } = batchOrThrow(turn, batchId);
      const event = { ...eventAt(turn.now), ...byActor(turn) };
      const open = ledBy(read, context).filter((it) => !isTerminal(batchOrThrow(turn, it).value));
      if (open.length === 0) {
        const verb = event.type.toLowerCase();
        throw new SimbatchError('illegal-transition', `cannot ${verb} study ${batchId}: it is ${value}`);
      }
      for (const it of open) {
        turn.trySend('batch', it, event);
        // Runs that wait on runners would otherwise start after the pause.
        if (event.type === 'PAUSE') takeBack(parts, turn, { batchId: it });
      }
      turn.deliverFacts();
      return toBatch(batchOrThrow(turn, batchId), read);
    }),
  );
}

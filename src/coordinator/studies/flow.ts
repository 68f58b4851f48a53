/** The flow of a study: pausing and resuming the assignment of its runs, and releasing the runs after its canary runs. */
import type { BatchEvent } from '../../../machines/protocol.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { Batch, Uuid } from '../../contract/types.ts';
import type { Core } from '../core.ts';
import { toBatch } from '../kernel/records/to-resource.ts';
import { isTerminal } from '../kernel/actors/actor-kinds.ts';
import { batchOrThrow } from './cancel.ts';
import { once, type Idempotency } from '../kernel/turn/idempotency.ts';
import { takeBack } from '../runs/waiting-runs.ts';

/** Assigns no new runs until the batch is resumed; running ones continue. */
export const pauseBatch = (core: Core, batchId: Uuid, reason?: string, repeat?: Idempotency): Promise<Batch> =>
  send(core, 'pause-batch', batchId, (now) => ({ type: 'PAUSE', reason, now }), repeat);

/** Assigns runs again. */
export const resumeBatch = (core: Core, batchId: Uuid, repeat?: Idempotency): Promise<Batch> =>
  send(core, 'resume-batch', batchId, (now) => ({ type: 'RESUME', now }), repeat);

/** Releases the runs after the canary runs. */
export const releaseBatch = (core: Core, batchId: Uuid, reason?: string, repeat?: Idempotency): Promise<Batch> =>
  send(
    core,
    'release-batch',
    batchId,
    (now) => ({ type: 'RELEASE', ...(reason !== undefined && { reason }), now }),
    repeat,
  );

/** Sends the event. An open batch that does not take it is in the requested state already, and is returned unchanged. */
function send(
  core: Core,
  operation: string,
  batchId: Uuid,
  eventAt: (now: number) => BatchEvent,
  repeat: Idempotency = {},
): Promise<Batch> {
  return core.turns.run(operation, (turn) =>
    once(core, turn, repeat, () => {
      const before = batchOrThrow(turn, batchId);
      const event = eventAt(turn.now);
      if (isTerminal(before.value)) {
        const verb = event.type.toLowerCase();
        throw new SimbatchError('illegal-transition', `cannot ${verb} batch ${batchId}: it is ${before.value}`);
      }
      const after = turn.trySend('batch', batchId, event);
      // Runs that wait on runners would otherwise start after the pause.
      if (event.type === 'PAUSE') takeBack(core, turn, { batchId });
      turn.deliverFacts();
      return toBatch(after === undefined ? before : batchOrThrow(turn, batchId), (key) => turn.read(key));
    }),
  );
}

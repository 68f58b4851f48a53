/** Canary studies whose end no turn has reported: those that damage has lost, and those that an imported file does not have. */
import { awaitsCanaryStudy, hasFailedCanary } from '../../../machines/batch.ts';
import type { Uuid } from '../../contract/types.ts';
import { isDamage } from '../../domain/errors.ts';
import { decodeBatch } from '../kernel/actors/actor-kinds.ts';
import { stateOf, type Directory } from '../kernel/actors/directory.ts';
import { keys } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';
import type { Turns } from '../kernel/turn/turn.ts';

interface CanaryParts {
  directory: Directory;
  store: Store;
  turns: Turns;
}

/** Ends the wait of studies for canary studies that are not open: these have passed by their records, else they have failed. */
export async function endLostCanaries({ directory, store, turns }: CanaryParts): Promise<void> {
  const lost: { batchId: Uuid; passed: boolean }[] = [];
  for (const activation of directory.batches.values()) {
    const { context } = stateOf(activation);
    const { batchId, canaryBatch } = context;
    if (canaryBatch === undefined || directory.batches.has(canaryBatch)) continue;
    if (awaitsCanaryStudy(context) && !hasFailedCanary(context))
      lost.push({ batchId, passed: hasPassed(store, canaryBatch) });
  }
  if (lost.length === 0) return;
  await turns.run('lost-canaries', (turn) => {
    for (const { batchId, passed } of lost)
      turn.trySend('batch', batchId, { type: 'CANARY_ENDED', passed, now: turn.now });
  });
}

function hasPassed(store: Store, canaryBatch: Uuid): boolean {
  try {
    const record = store.get(keys.batch(canaryBatch));
    if (record === undefined) return false;
    const { value, context } = decodeBatch(record);
    return value === 'Completed' && context.completed === context.totalJobs;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

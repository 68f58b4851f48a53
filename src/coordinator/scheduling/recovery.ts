/**
 * Recovery after a restart: activates the open batches, all runners, and the jobs that runners hold. The cost grows with
 * the number of active jobs, not with all jobs ever run. Each actor kind resets its own deadlines.
 */
import { SimbatchError } from '../../domain/errors.ts';
import { batchIdOf, runIdOf } from '../../domain/ids.ts';
import type { Clock } from '../../base/clock.ts';
import type { Activation, Directory } from '../kernel/actors/directory.ts';
import type { RequeueRecord } from '../kernel/turn/fact-records.ts';
import { updateIndex, type Indexes } from './indexes.ts';
import { allOf, idOf } from '../kernel/storage/keys.ts';
import {
  ACTOR_KINDS,
  decodeNotification,
  isTerminal,
  isTerminalNotification,
  missingRecord,
} from '../kernel/actors/actor-kinds.ts';
import type { BatchIdGenerator } from '../kernel/storage/batch-id-generator.ts';
import type { Store, StoreView } from '../kernel/storage/store.ts';

/** The parts that a restart fills. */
export interface RecoveryParts extends Indexes {
  store: Store;
  clock: Clock;
  directory: Directory;
  batchIds: BatchIdGenerator;
}

export async function recover(parts: RecoveryParts): Promise<void> {
  const snapshot = parts.store.snapshot();
  try {
    await parts.batchIds.restore(snapshot);
    await restoreBatches(parts, snapshot);
    await restoreRequeued(parts, snapshot);
    await restoreRunners(parts, snapshot);
    await restoreNotifications(parts, snapshot);
  } finally {
    await snapshot.close();
  }
}

async function restoreBatches(parts: RecoveryParts, snapshot: StoreView): Promise<void> {
  const { directory } = parts;
  for await (const chunk of snapshot.entries(allOf('open'))) {
    for (const [key] of chunk) {
      const activation = directory.activate('batch', idOf(key));
      if (activation === undefined) throw missingRecord(`the open study ${idOf(key)}`);
      updateIndex(parts, activation as Activation);
    }
  }
}

async function restoreRequeued({ scheduler }: RecoveryParts, snapshot: StoreView): Promise<void> {
  const entries: { jobId: string; entry: RequeueRecord }[] = [];
  for await (const chunk of snapshot.entries(allOf('requeue'))) {
    for (const [key, record] of chunk) entries.push({ jobId: idOf(key), entry: JSON.parse(record) as RequeueRecord });
  }
  // Keys are in run order; the requeue index is in the order of requeueing.
  entries.sort((a, b) => a.entry.sinceMs - b.entry.sinceMs);
  for (const { jobId, entry } of entries) scheduler.requeue(batchIdOf(jobId), { runId: runIdOf(jobId), ...entry });
}

async function restoreRunners(parts: RecoveryParts, snapshot: StoreView): Promise<void> {
  const { directory, clock } = parts;
  const now = clock.now();
  for await (const chunk of snapshot.entries(allOf('runner'))) {
    for (const [key] of chunk) {
      const runnerId = idOf(key);
      const state = directory.state('runner', runnerId);
      if (state === undefined) continue;
      const runner = directory.restore('runner', runnerId, ACTOR_KINDS.runner.revive(state, now));
      updateIndex(parts, runner as Activation);
      for (const { jobId } of state.context.held) {
        const job = directory.state('job', jobId);
        if (job === undefined || isTerminal(job.value))
          throw new SimbatchError(
            'store-damaged',
            `runner ${runnerId} holds run ${jobId}, which is not active: the data directory is damaged; run simbatch verify`,
          );
        const revived = directory.restore('job', jobId, ACTOR_KINDS.job.revive(job, now));
        updateIndex(parts, revived as Activation);
      }
    }
  }
}

async function restoreNotifications(parts: RecoveryParts, snapshot: StoreView): Promise<void> {
  const { directory, clock } = parts;
  for await (const chunk of snapshot.entries(allOf('notification'))) {
    for (const [key, record] of chunk) {
      const state = decodeNotification(record);
      if (isTerminalNotification(state.value)) continue;
      const revived = ACTOR_KINDS.notification.revive(state, clock.now());
      const activation = directory.restore('notification', idOf(key), revived);
      updateIndex(parts, activation as Activation);
    }
  }
}

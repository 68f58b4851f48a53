/**
 * Recovery after a restart: activates the open batches, all runners, and the jobs that runners hold. The cost grows with
 * the number of active jobs, not with all jobs ever run. Each actor kind resets its own deadlines.
 */
import { batchIdOf, runIdOf } from '../domain/ids.ts';
import type { Core } from './core.ts';
import type { DeadlineQueue } from './kernel/actors/deadline-queue.ts';
import { stateOf, type Activation } from './kernel/actors/directory.ts';
import { updateIndex, type RequeueRecord } from './scheduling/indexes.ts';
import { allOf, idOf } from './kernel/storage/keys.ts';
import { ACTOR_KINDS, decodeNotification, isTerminal, isTerminalNotification } from './kernel/actors/actor-kinds.ts';
import type { StoreView } from './kernel/storage/store.ts';

export async function recover(core: Core, deadlines: DeadlineQueue): Promise<void> {
  const snapshot = core.store.snapshot();
  try {
    await core.batchIds.restore(snapshot);
    await restoreBatches(core, deadlines, snapshot);
    await restoreRequeued(core, snapshot);
    await restoreRunners(core, deadlines, snapshot);
    await restoreNotifications(core, deadlines, snapshot);
  } finally {
    await snapshot.close();
  }
}

async function restoreBatches(core: Core, deadlines: DeadlineQueue, snapshot: StoreView): Promise<void> {
  const { directory, scheduler, crowded } = core;
  for await (const chunk of snapshot.entries(allOf('open'))) {
    for (const [key] of chunk) {
      const activation = directory.activate('batch', idOf(key));
      if (activation === undefined) throw new Error(`the store has no record of the open batch ${idOf(key)}`);
      updateIndex({ scheduler, deadlines, crowded }, activation as Activation);
      core.judgements.restore(stateOf(activation));
    }
  }
}

async function restoreRequeued({ scheduler }: Core, snapshot: StoreView): Promise<void> {
  const entries: { jobId: string; entry: RequeueRecord }[] = [];
  for await (const chunk of snapshot.entries(allOf('requeue'))) {
    for (const [key, record] of chunk) entries.push({ jobId: idOf(key), entry: JSON.parse(record) as RequeueRecord });
  }
  // Keys are in run order; the requeue index is in the order of requeueing.
  entries.sort((a, b) => a.entry.sinceMs - b.entry.sinceMs);
  for (const { jobId, entry } of entries) scheduler.requeue(batchIdOf(jobId), { runId: runIdOf(jobId), ...entry });
}

async function restoreRunners(core: Core, deadlines: DeadlineQueue, snapshot: StoreView): Promise<void> {
  const { directory, scheduler, crowded, clock } = core;
  const now = clock.now();
  for await (const chunk of snapshot.entries(allOf('runner'))) {
    for (const [key] of chunk) {
      const runnerId = idOf(key);
      const state = directory.state('runner', runnerId);
      if (state === undefined) continue;
      const runner = directory.restore('runner', runnerId, ACTOR_KINDS.runner.revive(state, now));
      updateIndex({ scheduler, deadlines, crowded }, runner as Activation);
      for (const { jobId } of state.context.held) {
        const job = directory.state('job', jobId);
        if (job === undefined || isTerminal(job.value))
          throw new Error(`runner ${runnerId} holds job ${jobId}, which is not active`);
        const revived = directory.restore('job', jobId, ACTOR_KINDS.job.revive(job, now));
        updateIndex({ scheduler, deadlines, crowded }, revived as Activation);
      }
    }
  }
}

async function restoreNotifications(core: Core, deadlines: DeadlineQueue, snapshot: StoreView): Promise<void> {
  const { directory, scheduler, crowded, clock } = core;
  for await (const chunk of snapshot.entries(allOf('notification'))) {
    for (const [key, record] of chunk) {
      const state = decodeNotification(record);
      if (isTerminalNotification(state.value)) continue;
      const revived = ACTOR_KINDS.notification.revive(state, clock.now());
      const activation = directory.restore('notification', idOf(key), revived);
      updateIndex({ scheduler, deadlines, crowded }, activation as Activation);
    }
  }
}

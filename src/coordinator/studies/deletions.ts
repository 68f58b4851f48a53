/**
 * Deletes ended studies with their jobs and results, signs runners off, and forgets those that are gone. One turn hides a study from every
 * reader and leaves a mark; `studies/purges.ts` then deletes its records.
 */
import { SimbatchError } from '../../domain/errors.ts';
import type { Batch, Runner, SignOffRequest, Uuid } from '../../contract/types.ts';
import type { Core } from '../core.ts';
import { stateOf } from '../kernel/actors/directory.ts';
import { leaveFamily } from '../kernel/records/family.ts';
import { sweepNotifications } from '../notifications/list.ts';
import { allOf, keys } from '../kernel/storage/keys.ts';
import type { StoreView } from '../kernel/storage/store.ts';
import { batchOrThrow } from './cancel.ts';
import { runnerOrThrow, sameInstanceOrThrow } from '../pool/runners.ts';
import { toBatch, toRunner } from '../kernel/records/to-resource.ts';
import { decodeBatch, decodeRunner, isTerminal } from '../kernel/actors/actor-kinds.ts';

/**
 * Deletes an ended study. Resolves when no reader sees it any more; its records are deleted afterwards.
 * @throws SimbatchError `unknown-batch`, or `illegal-transition` while it has not ended
 */
export async function deleteBatch(core: Core, batchId: Uuid): Promise<Batch> {
  const { turns, groupCommit: commits, directory, studyCache: studies } = core;
  // A change of it that is being written would overwrite the deletion.
  await commits.durable();
  const batch = await turns.run('delete-batch', (turn) => {
    const state = batchOrThrow(turn, batchId);
    if (!isTerminal(state.value)) {
      throw new SimbatchError(
        'illegal-transition',
        `batch ${batchId} is ${state.value}; only an ended batch can be deleted; cancel it first`,
      );
    }
    if (directory.batches.has(batchId)) throw new Error(`the ended batch ${batchId} is still active`);
    const last = toBatch(state, (key) => turn.read(key));
    leaveFamily(turn, state.context);
    turn.put(keys.batch(batchId), null);
    turn.put(keys.submission(batchId), null);
    turn.put(keys.verdicts(batchId), null);
    turn.put(keys.unsent(batchId), null);
    turn.put(keys.views(batchId), null);
    turn.put(keys.deletion(batchId), '');
    turn.emit({ type: 'batch.deleted', batchId, now: turn.now });
    directory.forgetBatch(batchId);
    studies.forget(batchId);
    return last;
  });
  core.purges.add(batchId);
  return batch;
}

/**
 * Forgets a runner that is gone. It may register again as a new one.
 * @throws SimbatchError `unknown-runner`, or `illegal-transition` while it is connected or still holds jobs
 */
export async function forgetRunner(core: Core, runnerId: string): Promise<Runner> {
  const { turns, groupCommit: commits, directory } = core;
  for (;;) {
    await commits.durable();
    const forgotten = await turns.run('forget-runner', (turn) => {
      const { value, context } = runnerOrThrow(turn, runnerId);
      if (value !== 'Offline' || context.held.length > 0) {
        const why = value !== 'Offline' ? `is ${value}` : 'still holds jobs, which are requeued when its lease ends';
        throw new SimbatchError(
          'illegal-transition',
          `runner "${runnerId}" ${why}; only an Offline runner without jobs can be forgotten`,
        );
      }
      const live = directory.runners.get(runnerId);
      // A change of it that is being written would overwrite the deletion.
      if (live !== undefined && commits.holds(live)) return undefined;
      turn.put(keys.runner(runnerId), null);
      turn.emit({ type: 'runner.forgotten', runnerId, now: turn.now });
      directory.forgetRunner(runnerId);
      core.longPolls.forget(runnerId);
      return toRunner({ value, context });
    });
    if (forgotten !== undefined) return forgotten;
  }
}

/** An ephemeral runner that has signed off is forgotten. After a crash in between, the sweep of retention does so. */
export async function signOff(core: Core, runnerId: string, { instance }: SignOffRequest): Promise<Runner> {
  const runner = await core.turns.run('sign-off', (turn) => {
    sameInstanceOrThrow(runnerOrThrow(turn, runnerId), instance);
    turn.send('runner', runnerId, { type: 'SIGN_OFF', instance, now: turn.now });
    turn.deliverFacts();
    core.longPolls.dismiss(runnerId, { assignments: [], batches: {} });
    core.longPolls.forget(runnerId);
    return toRunner(runnerOrThrow(turn, runnerId));
  });
  if (runner.ephemeral === true) await unlessGone(forgetRunner(core, runnerId));
  return runner;
}

/** An ephemeral runner that did not sign off is forgotten so long after its last heartbeat, at the next sweep. */
const EPHEMERAL_MS = 3_600_000;

/**
 * Deletes studies that ended, and forgets runners last seen, before the retention time; ephemeral runners sooner, and
 * notifications a day after their end.
 */
export async function sweepRetention(core: Core): Promise<void> {
  const { retainMs } = core.options;
  const before = retainMs === undefined ? -Infinity : core.clock.now() - retainMs;
  const snapshot = core.store.snapshot();
  try {
    if (retainMs !== undefined) await sweepBatches(core, snapshot, before);
    await sweepRunners(core, snapshot, before);
    await sweepNotifications(core);
  } finally {
    await snapshot.close();
  }
}

async function sweepBatches(core: Core, snapshot: StoreView, before: number): Promise<void> {
  for await (const chunk of snapshot.entries(allOf('batch'))) {
    for await (const [, record] of core.share.paced(chunk)) {
      if (core.purges.isStopped) return;
      const { value, context } = decodeBatch(record);
      const isOld = isTerminal(value) && (context.endedAtMs ?? Infinity) < before;
      if (isOld) await unlessGone(deleteBatch(core, context.batchId));
    }
  }
}

async function sweepRunners(core: Core, snapshot: StoreView, before: number): Promise<void> {
  const ephemeralBefore = core.clock.now() - EPHEMERAL_MS;
  for await (const chunk of snapshot.entries(allOf('runner'))) {
    for await (const [, record] of core.share.paced(chunk)) {
      const { runnerId, drained, ephemeral, lastHeartbeatMs } = decodeRunner(record).context;
      const live = core.directory.runners.get(runnerId);
      const isOffline = live !== undefined && stateOf(live).value === 'Offline';
      // An operator's drain of a runner outlives its absence, but an ephemeral runner does not come back.
      const isOld = ephemeral === true ? lastHeartbeatMs < ephemeralBefore : !drained && lastHeartbeatMs < before;
      if (isOffline && isOld) await unlessGone(forgetRunner(core, runnerId));
    }
  }
}

/** Skips an actor that changed since it was read; the next sweep sees it. */
async function unlessGone(deletion: Promise<unknown>): Promise<void> {
  await deletion.catch((error: unknown) => {
    const { code } = error as { code?: string };
    if (code !== 'illegal-transition' && code !== 'unknown-batch' && code !== 'unknown-runner') throw error;
  });
}

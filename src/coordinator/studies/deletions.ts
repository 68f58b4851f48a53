/**
 * Deletes ended studies with their jobs and results. One turn hides a study from every reader and leaves a mark; `studies/purges.ts` then deletes its records.
 */
import type { Clock } from '../../base/clock.ts';
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { SimbatchError } from '../../domain/errors.ts';
import type { Batch, Uuid } from '../../contract/types.ts';
import type { Directory } from '../kernel/actors/directory.ts';
import { leaveFamily } from '../kernel/records/family.ts';
import { leaveGroups } from '../kernel/records/key-groups.ts';
import { unlistStudy } from '../kernel/records/study-index.ts';
import { allOf, keys } from '../kernel/storage/keys.ts';
import type { Store } from '../kernel/storage/store.ts';
import { toBatch } from '../kernel/records/to-resource.ts';
import { decodeBatch, isTerminal } from '../kernel/actors/actor-kinds.ts';
import type { Turns } from '../kernel/turn/turn.ts';
import type { StudyCache } from '../kernel/records/study-cache.ts';
import type { GroupCommit } from '../kernel/turn/group-commit.ts';
import type { Purges } from './purges.ts';
import { batchOrThrow, unlessGone } from '../kernel/records/lookup.ts';

interface DeletionParts {
  turns: Turns;
  groupCommit: GroupCommit;
  directory: Directory;
  studyCache: StudyCache;
  purges: Purges;
}

/**
 * Deletes an ended study. Resolves when no reader sees it any more; its records are deleted afterwards.
 * @throws SimbatchError `unknown-batch`, or `illegal-transition` while it has not ended
 */
export async function deleteBatch(parts: DeletionParts, batchId: Uuid): Promise<Batch> {
  const { turns, groupCommit: commits, directory, studyCache: studies } = parts;
  // A change of it that is being written would overwrite the deletion.
  await commits.durable();
  const batch = await turns.run('delete-batch', (turn) => {
    const state = batchOrThrow(turn, batchId);
    if (!isTerminal(state.value)) {
      throw new SimbatchError(
        'illegal-transition',
        `study ${batchId} is ${state.value}; only an ended study can be deleted; cancel it first`,
      );
    }
    if (directory.batches.has(batchId)) throw new Error(`the ended study ${batchId} is still active`);
    const last = toBatch(state, (key) => turn.read(key));
    leaveFamily(turn, state.context);
    leaveGroups(turn, batchId);
    unlistStudy(turn, state.context);
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
  parts.purges.add(batchId);
  return batch;
}

interface SweepParts extends DeletionParts {
  clock: Clock;
  share: EventLoopShare;
  store: Store;
  /** How long an ended batch is kept, in ms; undefined: until an operator deletes it. */
  retainMs: number | undefined;
}

/** Deletes the studies that ended before the retention time. */
export async function sweepStudies(parts: SweepParts): Promise<void> {
  const { clock, purges, retainMs, share, store } = parts;
  if (retainMs === undefined) return;
  const before = clock.now() - retainMs;
  const snapshot = store.snapshot();
  try {
    // A damaged study stays, and keeps no other.
    for await (const chunk of snapshot.entries(allOf('batch'), { onDamage: () => {} })) {
      for await (const [, record] of share.paced(chunk)) {
        if (purges.isStopped) return;
        const { value, context } = decodeBatch(record);
        const isOld = isTerminal(value) && (context.endedAtMs ?? Infinity) < before;
        if (isOld) await unlessGone(deleteBatch(parts, context.batchId));
      }
    }
  } finally {
    await snapshot.close();
  }
}

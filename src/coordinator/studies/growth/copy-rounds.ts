/**
 * Copies the rounds of an adaptive study for a batch that repeats its runs, so that each batch has all that its runs follow from. The copies
 * are written before the batch exists, under the mark of a deletion: after a crash the next start removes them.
 */
import type { EventLoopShare } from '../../../base/event-loop-share.ts';
import type { Uuid } from '../../../contract/types.ts';
import { keys, ROUND_KINDS, roundsOf } from '../../kernel/storage/keys.ts';
import type { Store } from '../../kernel/storage/store.ts';
import type { GroupCommit } from '../../kernel/turn/group-commit.ts';
import type { Turn, Turns } from '../../kernel/turn/turn.ts';

interface CopyParts {
  turns: Turns;
  groupCommit: GroupCommit;
  store: Store;
  share: EventLoopShare;
}

/** Copies the rounds of a batch for a new one, before that is created. `keepCopies` belongs into the turn that creates it. */
export async function copyRounds(parts: CopyParts, from: Uuid, to: Uuid): Promise<void> {
  const { turns, groupCommit, store, share } = parts;
  await groupCommit.durable();
  await turns.run('copy-rounds', (turn) => turn.put(keys.deletion(to), ''));
  const view = store.snapshot();
  try {
    for (const kind of ROUND_KINDS) {
      for await (const chunk of share.paced(view.entries(roundsOf(kind, from)))) {
        const copies = chunk.map(([key, record]) => [key.replace(from, to), record] as const);
        await turns.run('copy-rounds', (turn) => copies.forEach(([key, record]) => turn.put(key, record)));
      }
    }
  } finally {
    await view.close();
  }
}

/** The batch exists: its copies are its own. */
export const keepCopies = (turn: Turn, batchId: Uuid): void => turn.put(keys.deletion(batchId), null);

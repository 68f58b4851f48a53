/** Lists the studies that have no entries in the index of studies yet: those of an older version, of an import or of a repair. */
import type { EventLoopShare } from '../../base/event-loop-share.ts';
import { isDamage } from '../../domain/errors.ts';
import { decodeBatch } from '../kernel/actors/actor-kinds.ts';
import { entriesOf, INDEXED_KEY } from '../kernel/records/study-index.ts';
import { allOf, keys } from '../kernel/storage/keys.ts';
import type { Store, StoreView } from '../kernel/storage/store.ts';
import type { Turns } from '../kernel/turn/turn.ts';

/** Studies that are listed in one turn. */
const CHUNK = 100;

interface IndexParts {
  store: Store;
  share: EventLoopShare;
  turns: Turns;
}

/** Each chunk is on disk before the next is read, so a coordinator that is stopped meanwhile continues where it was. Without such studies it writes nothing. */
export async function indexStudies({ store, share, turns }: IndexParts): Promise<void> {
  const last = store.get(INDEXED_KEY);
  const all = allOf('batch');
  // `!` is the first character that can follow an id.
  const range = last === undefined ? all : { ...all, gte: `${keys.batch(last)}!` };
  const view = store.snapshot();
  try {
    for await (const chunk of view.entries(range, { chunkSize: CHUNK })) {
      const entries: string[] = [];
      let indexed = '';
      for await (const [, record] of share.paced(chunk)) {
        const { batchId, parent } = decodeBatch(record).context;
        indexed = batchId;
        if (parent === undefined) entries.push(...storedEntries(view, batchId));
      }
      await turns.run('index-studies', (turn) => {
        for (const key of entries) turn.put(key, '');
        turn.put(INDEXED_KEY, indexed);
      });
    }
  } finally {
    await view.close();
  }
}

/** A study whose submission is damaged is not found, and served by no other request either. */
function storedEntries(view: StoreView, batchId: string): string[] {
  try {
    const record = view.get(keys.submission(batchId));
    return record === undefined ? [] : entriesOf(batchId, record);
  } catch (error) {
    if (isDamage(error)) return [];
    throw error;
  }
}
